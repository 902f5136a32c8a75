"""Where the evidence about a region is heard: what its clients were told, and what its disks hold and ever held."""

from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from federation.promises import PROMISES
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, folder_of, parse
from tests.sim.regions import checks
from tests.sim.regions.testimony import RegionStatements

# What a region keeps besides the promises, so that it can keep those.
LAWS = {
    "one leader": "At most one replica leads a partition in one leader epoch, and so writes its batches.",
    "high watermark": "No client is told a lower high watermark than before, by a leader of the same epoch or a later.",
    "observers": "Whoever only observes is in no in-sync set, unless the topic's placement has it promoted.",
    "in time": "Whoever may join an in-sync set is asked for when that comes to be, not when a leader looks around.",
    "closest": "A reader is sent to replicas in its own rack, and to no others.",
    "metadata": "All nodes have the same metadata log, and what an operator was told is in it.",
}


class Broken(Exception):
    """A promise was not kept, or a law that it rests on."""

    def __init__(self, law: str, finding: str) -> None:
        text = PROMISES[law] if law in PROMISES else LAWS[law]
        super().__init__(f"{law} is broken: {text}\n  {finding}")
        self.law = law
        self.finding = finding


class Evidence:
    """All that checkers look at."""

    def __init__(self, testimony: RegionStatements) -> None:
        self.testimony = testimony
        self.disks: dict[BrokerId, Disk] = {}
        self.replicas: dict[TopicPartition, tuple[BrokerId, ...]] = {}  # as told at the end
        self.values: dict[tuple[BrokerId, TopicPartition], dict[Offset, bytes]] = {}
        self._written: dict[tuple[TopicPartition, LeaderEpoch, Offset], tuple[BrokerId, bytes]] = {}

    def witness(self, number: BrokerId, path: str, data: bytes) -> None:
        """Bytes reached a log, this instant."""
        partition = folder_of(path)
        if partition is not None:
            for batch in parse(data):
                self._hear_write(number, partition, batch)

    def _hear_write(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        """Who leads gives every offset one batch, and whoever copies it copies its bytes."""
        key = (partition, batch.leader_epoch, batch.base_offset)
        first, data = self._written.setdefault(key, (number, batch.data))
        if data != batch.data:
            raise Broken(
                "one leader",
                f"{partition}@{batch.base_offset} in leader epoch {batch.leader_epoch}: node {number} writes"
                f" {batch.data[-40:]!r}, node {first} wrote {data[-40:]!r}",
            )

    def hear_clients(self) -> None:
        """What they were told so far."""
        for law, told in self.testimony.contradictions:
            raise Broken(law, told)

    def hear_end(self) -> None:
        """All is well again: everything that was told is there, everywhere."""
        self.hear_clients()
        for law, check in checks.AT_END:
            for finding in check(self):
                raise Broken(law, finding)
