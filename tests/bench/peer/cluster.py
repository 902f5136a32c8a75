"""Apache Kafka as a region of three combined broker-controllers, at its default settings."""

import subprocess
import time
from pathlib import Path

from tests.bench import processes
from tests.bench.clusters import NODES, Member
from tests.bench.knowing import all_know_all
from tests.bench.peer.jars import java
from tests.bench.peer.mirror import properties
from tests.bench.systems import SOURCE

HEAP = "1g"  # bin/kafka-server-start.sh
SETTINGS = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "group.initial.rebalance.delay.ms": "0",
    "log.segment.delete.delay.ms": "100",  # see tests.bench.peer.kafka
}


class KafkaCluster:
    """Nodes 1 to 3 under `directory`."""

    name = "kafka"

    def __init__(self, directory: Path, region: str = SOURCE) -> None:
        self._directory = directory
        self._identity = f"bench3{region:A<16}"  # 16 bytes as base64: 22 letters
        self._addresses: dict[int, str] = {}
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def up(self) -> float:
        if not self._addresses:
            self._format()
        began = time.perf_counter()
        for node in self._addresses:
            self._launch(node)
        for node in self._addresses:
            self._answered(node)
        all_know_all(list(self._addresses.values()))
        return time.perf_counter() - began

    def members(self) -> tuple[Member, ...]:
        return tuple(
            Member(node, self._addresses[node], process.pid)
            for node, process in self._running.items()
        )

    def forget(self, node: int) -> None:
        self._running.pop(node).wait()

    def start(self, node: int) -> None:
        self._launch(node)
        self._answered(node)

    def stop(self) -> None:
        for process in self._running.values():
            process.terminate()  # all at once: the last two could not hand anything over anyway
        for node in list(self._running):
            processes.stop(self._running[node].pid)
            self.forget(node)

    def down(self) -> None:
        self.stop()

    def _format(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        nodes = range(1, NODES + 1)
        controllers = {node: f"127.0.0.1:{processes.free_port()}" for node in nodes}
        voters = ",".join(f"{node}@{address}" for node, address in controllers.items())
        for node in nodes:
            self._addresses[node] = f"127.0.0.1:{processes.free_port()}"
            listeners = f"PLAINTEXT://{self._addresses[node]},CONTROLLER://{controllers[node]}"
            places = {
                "node.id": str(node),
                "listeners": listeners,
                "advertised.listeners": listeners,
                "controller.quorum.voters": voters,
                "log.dirs": str(self._directory / f"node-{node}"),
            }
            config = properties(self._config(node), SETTINGS | places)
            tool = java(
                "kafka.tools.StorageTool", "format", "-t", self._identity, "-c", str(config)
            )
            subprocess.run(tool, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _launch(self, node: int) -> None:
        command = java("kafka.Kafka", str(self._config(node)), heap=HEAP)
        command.insert(1, f"-Xms{HEAP}")
        self._running[node] = processes.start(command, self._log(node))

    def _answered(self, node: int) -> None:
        process = self._running[node]
        address, log = self._addresses[node], self._log(node)
        processes.first_answer(address, lambda: process.poll() is None, log)

    def _config(self, node: int) -> Path:
        return self._directory / f"node-{node}.properties"

    def _log(self, node: int) -> Path:
        return self._directory / f"node-{node}.log"
