"""Where the evidence about a region is heard: what its clients were told, and what its disks hold and ever held."""

from collections.abc import Callable, Collection

from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from federation.promises import PROMISES
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, folder_of, parse
from tests.sim.history import History, Truth
from tests.sim.regions import checks, compacted_logs
from tests.sim.regions.compaction import Compaction
from tests.sim.regions.statements import RegionStatements

# What a region keeps besides the promises, so that it can keep those.
INVARIANTS = {
    "one leader": "At most one replica leads a partition in one leader epoch, and so writes its batches.",
    "high watermark": "No client is told a lower high watermark than before, by a leader of the same epoch or a later.",
    "observers": "Whoever only observes is in no in-sync set, unless the topic's placement has it promoted.",
    "in time": "Whoever may join an in-sync set is asked for when that comes to be, not when a leader looks around.",
    "closest": "A reader is sent to replicas in its own rack, and to no others.",
    "metadata": "All nodes have the same metadata log, and what an operator was told is in it.",
}


class Broken(Exception):
    """A promise was not kept, or an invariant that it rests on."""

    def __init__(self, invariant: str, finding: str) -> None:
        text = PROMISES[invariant] if invariant in PROMISES else INVARIANTS[invariant]
        super().__init__(f"{invariant} is broken: {text}\n  {finding}")
        self.invariant = invariant
        self.finding = finding


def _nothing(number: BrokerId, partition: TopicPartition) -> Collection[Offset]:
    return ()


class Evidence:
    """All that checkers look at."""

    def __init__(self, statements: RegionStatements) -> None:
        self.statements = statements
        self.disks: dict[BrokerId, Disk] = {}
        self.replicas: dict[TopicPartition, tuple[BrokerId, ...]] = {}  # as told at the end
        self.values: dict[tuple[BrokerId, TopicPartition], dict[Offset, bytes]] = {}
        self.history: History | None = None  # where logs are compacted
        self.markers_last = True  # no deletion marker's time is over before the run is
        self.holes: dict[
            TopicPartition, list[tuple[Offset, Offset]]
        ] = {}  # a mirror's, by its ledger
        # What a mirror's replica was copied without, and nothing in it has replaced.
        self.left_out: Callable[[BrokerId, TopicPartition], Collection[Offset]] = _nothing
        self.truths: dict[TopicPartition, Truth] = {}  # at the end
        self._written: dict[tuple[TopicPartition, LeaderEpoch, Offset], tuple[BrokerId, bytes]] = {}

    def judge_compaction(self, compaction: Compaction | None) -> None:
        """Logs are judged by what was written to them, not by what they hold."""
        if compaction is not None:
            self.history, self.markers_last = History(), compaction.markers_last

    def witness(self, number: BrokerId, path: str, data: bytes) -> None:
        """Bytes reached a log, this instant."""
        partition = folder_of(path)
        if partition is not None:
            for batch in parse(data):
                self.hear(number, partition, batch)

    def hear(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        """One batch of these bytes."""
        if self.history is not None and compacted_logs.is_compacted(partition):
            self._hear_history(number, partition, batch)
        else:
            self._hear_write(number, partition, batch)

    def _hear_history(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> None:
        """Whoever copies it copies these records or fewer."""
        assert self.history is not None
        if finding := self.history.witness(partition, batch):
            raise Broken("one leader", f"node {number}: {finding}")

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
        for invariant, told in self.statements.contradictions:
            raise Broken(invariant, told)

    def check_end(self) -> None:
        """All is well again: everything that was told is there, everywhere."""
        self.hear_clients()
        for invariant, check in checks.AT_END if self.history is None else checks.AT_END_COMPACTED:
            for finding in check(self):
                raise Broken(invariant, finding)
