"""MirrorMaker 2 from west to east, tuned to be fast, in a process of its own."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.bench import processes
from tests.bench.peer.jars import java
from tests.bench.systems import DESTINATION, SOURCE

HEAP = "2g"  # bin/connect-mirror-maker.sh
TOPICS = f"{SOURCE}->{DESTINATION}.topics"
REFRESH = "refresh.topics.interval.seconds"
# Defaults except: topics keep their names, are found every second, and move in large batches on both sides.
SETTINGS = {
    "clusters": f"{SOURCE}, {DESTINATION}",
    f"{SOURCE}->{DESTINATION}.enabled": "true",
    f"{DESTINATION}->{SOURCE}.enabled": "false",
    "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
    "tasks.max": "2",  # one a core
    REFRESH: "1",
    "sync.topic.acls.enabled": "false",
    f"{DESTINATION}.producer.batch.size": "1000000",
    f"{DESTINATION}.producer.max.request.size": "2000000",
    f"{DESTINATION}.producer.buffer.memory": "134217728",
    f"{SOURCE}.consumer.fetch.max.bytes": "104857600",
    f"{SOURCE}.consumer.max.poll.records": "10000",
}
REPLICATED = (
    "", "checkpoints.topic.", "heartbeats.topic.", "offset-syncs.topic.", "offset.storage.", "status.storage.",
    "config.storage.",
)  # fmt: skip


class MirrorMaker:
    """Its settings and log are in `directory`; regions are named by their bootstrap addresses."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pids(self) -> tuple[int, ...]:
        return (self._process.pid,) if self._process else ()

    def start(
        self, topics: str, source: str, destination: str, *, replicas: int = 1, **more: str
    ) -> None:
        """Begins to copy the topics that match a pattern."""
        settings = SETTINGS | {f"{what}replication.factor": str(replicas) for what in REPLICATED}
        settings |= {TOPICS: topics}
        settings |= {f"{SOURCE}.bootstrap.servers": source}
        settings |= {f"{DESTINATION}.bootstrap.servers": destination}
        config = properties(self._directory / "mirror.properties", settings | more)
        main = "org.apache.kafka.connect.mirror.MirrorMaker"
        command = java(main, str(config), heap=HEAP)
        self._process = processes.start(command, self._directory / "mirror.log")

    def stop(self) -> None:
        if self._process:
            processes.stop(self._process.pid)
            self._process.wait()
            self._process = None


def properties(path: Path, settings: Mapping[str, str]) -> Path:
    """A file of settings as Kafka reads it."""
    path.write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    return path
