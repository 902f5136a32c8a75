"""Apache Kafka as a measured system: two combined broker-controllers, and MirrorMaker 2 tuned to be fast.

Settings are Kafka's defaults except where `NODE` and `MIRROR` say so: a single node must do for the internal
topics, and MirrorMaker 2 must be given its best chance (large batches on both sides, discovery every second).
"""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench import processes
from tests.bench.peer.jars import java
from tests.bench.systems import DESTINATION, SOURCE, Region

SERVER_HEAP, MIRROR_HEAP = "1g", "2g"  # bin/kafka-server-start.sh, bin/connect-mirror-maker.sh
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
MIRROR = {
    "clusters": f"{SOURCE}, {DESTINATION}",
    f"{SOURCE}->{DESTINATION}.enabled": "true",
    f"{DESTINATION}->{SOURCE}.enabled": "false",
    "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    "tasks.max": "2",  # one a core
    "replication.factor": "1",
    "checkpoints.topic.replication.factor": "1",
    "heartbeats.topic.replication.factor": "1",
    "offset-syncs.topic.replication.factor": "1",
    "offset.storage.replication.factor": "1",
    "status.storage.replication.factor": "1",
    "config.storage.replication.factor": "1",
    "refresh.topics.interval.seconds": "1",
    "sync.topic.acls.enabled": "false",
}
TUNED = {
    f"{DESTINATION}.producer.batch.size": "1000000",
    f"{DESTINATION}.producer.max.request.size": "2000000",
    f"{DESTINATION}.producer.buffer.memory": "134217728",
    f"{SOURCE}.consumer.fetch.max.bytes": "104857600",
    f"{SOURCE}.consumer.max.poll.records": "10000",
}


class Kafka:
    """Two Kafka nodes under `directory` and, while a link is up, one MirrorMaker 2 process."""

    name = "kafka"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._addresses: dict[str, str] = {}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def up(self, names: Sequence[str] = (SOURCE, DESTINATION)) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        for name in names:
            self._format(name)
            self._start(name)

    def region(self, name: str) -> Region:
        return Region(self._addresses[name], (self._running[name].pid,))

    def restart(self, name: str) -> float:
        self._stop(name)
        began = time.perf_counter()
        self._start(name)
        return time.perf_counter() - began

    def link(self, topic: str) -> None:
        clusters = {
            f"{name}.bootstrap.servers": address for name, address in self._addresses.items()
        }
        topics = {f"{SOURCE}->{DESTINATION}.topics": topic}
        config = self._properties("mirror", MIRROR | TUNED | clusters | topics)
        main = "org.apache.kafka.connect.mirror.MirrorMaker"
        command = java(main, str(config), heap=MIRROR_HEAP)
        self._running["mirror"] = processes.start(command, self._log("mirror"))

    def between(self) -> tuple[int, ...]:
        return (self._running["mirror"].pid,) if "mirror" in self._running else ()

    def unlink(self, topic: str) -> None:
        self._stop("mirror")

    def down(self) -> None:
        for name in list(self._running):
            self._stop(name)

    def _format(self, name: str) -> None:
        self._addresses[name] = f"127.0.0.1:{processes.free_port()}"
        controller = f"127.0.0.1:{processes.free_port()}"
        listeners = f"PLAINTEXT://{self._addresses[name]},CONTROLLER://{controller}"
        places = {
            "listeners": listeners,
            "advertised.listeners": listeners,
            "controller.quorum.voters": f"1@{controller}",
            "log.dirs": str(self._directory / name),
        }
        config = self._properties(name, NODE | places)
        identity = f"bench{name:A<17}"  # 16 bytes as base64: 22 letters
        tool = java("kafka.tools.StorageTool", "format", "-t", identity, "-c", str(config))
        subprocess.run(tool, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _start(self, name: str) -> None:
        config = self._directory / f"{name}.properties"
        command = java("kafka.Kafka", str(config), heap=SERVER_HEAP)
        command.insert(1, f"-Xms{SERVER_HEAP}")
        process = self._running[name] = processes.start(command, self._log(name))
        processes.first_answer(
            self._addresses[name], lambda: process.poll() is None, self._log(name)
        )

    def _stop(self, name: str) -> None:
        process = self._running.pop(name)
        processes.stop(process.pid)
        process.wait()

    def _properties(self, name: str, settings: Mapping[str, str]) -> Path:
        path = self._directory / f"{name}.properties"
        path.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
        return path

    def _log(self, name: str) -> Path:
        return self._directory / f"{name}.log"
