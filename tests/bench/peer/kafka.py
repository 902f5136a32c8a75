"""Apache Kafka as a measured system: two combined broker-controllers, and MirrorMaker 2 between them.

Settings are Kafka's defaults except where `NODE` says so: a single node must do for the internal topics.
"""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench import processes
from tests.bench.peer.jars import java
from tests.bench.peer.mirror import MirrorMaker, properties
from tests.bench.systems import DESTINATION, SOURCE, Region

HEAP = "1g"  # bin/kafka-server-start.sh
NODE = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "group.initial.rebalance.delay.ms": "0",
    # The topics of a measure are gone when it ends, from the page cache too. By default they'd be held for a minute,
    # into the next measures, where deleting them costs and their pages are missing.
    "log.segment.delete.delay.ms": "100",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class Kafka:
    """Two Kafka nodes under `directory` and, while a link is up, one MirrorMaker 2 process."""

    name = "kafka"

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        """`settings` of the nodes, beside `NODE`."""
        self._directory = directory
        self._settings = dict(settings or {})
        self._addresses: dict[str, str] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._mirror = MirrorMaker(directory)

    def up(self, names: Sequence[str] = (SOURCE, DESTINATION)) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        for name in names:
            self._format(name)
            self.start(name)

    def region(self, name: str) -> Region:
        return Region(self._addresses[name], (self._running[name].pid,))

    def restart(self, name: str) -> float:
        self.stop(name)
        began = time.perf_counter()
        self.start(name)
        return time.perf_counter() - began

    def link(self, topic: str) -> None:
        self._mirror.start(topic, self._addresses[SOURCE], self._addresses[DESTINATION])

    def between(self) -> tuple[int, ...]:
        return self._mirror.pids

    def unlink(self, topic: str) -> None:
        self._mirror.stop()

    def down(self) -> None:
        self._mirror.stop()
        for name in list(self._running):
            self.stop(name)

    def _format(self, name: str) -> None:
        self._addresses[name] = f"127.0.0.1:{processes.free_port()}"
        path = self._directory / f"{name}.properties"
        config = properties(path, NODE | self._settings | self._places(name))
        identity = f"bench{name:A<17}"  # 16 bytes as base64: 22 letters
        tool = java("kafka.tools.StorageTool", "format", "-g", "-t", identity, "-c", str(config))
        subprocess.run(tool, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _places(self, name: str) -> dict[str, str]:
        controller = f"127.0.0.1:{processes.free_port()}"
        listeners = f"PLAINTEXT://{self._addresses[name]},CONTROLLER://{controller}"
        return {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "controller.quorum.voters": f"1@{controller}",
            "log.dirs": str(self._directory / name),
        }

    def start(self, name: str) -> None:
        config = self._directory / f"{name}.properties"
        command = java("kafka.Kafka", str(config), heap=HEAP)
        command.insert(1, f"-Xms{HEAP}")
        process = self._running[name] = processes.start(command, self._log(name))
        processes.first_answer(
            self._addresses[name], lambda: process.poll() is None, self._log(name)
        )

    def stop(self, name: str) -> None:
        process = self._running.pop(name)
        processes.stop(process.pid)
        process.wait()

    def log(self, name: str) -> str:
        """What the node has logged so far, over all its starts."""
        path = self._log(name)
        return path.read_text() if path.exists() else ""

    def _log(self, name: str) -> Path:
        return self._directory / f"{name}.log"
