"""P8 at each write, and each time a log start moves: what a mirror skips is in the hole ledger by then.

A hole is recorded before the mirror goes on behind it, so an offset below a write was written in the region before, or
is in the ledger that the region's newest metadata has. Within one replica's log nothing is missing. The log start of a
mirror never gets ahead of its source's, of what somebody asked to delete, and of where the mirror was to begin.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from brokers.ids import BrokerId, Offset, TopicPartition
from linker.records.hole_ledger import HOLE_KIND, Hole, decode_hole
from tests.sim.evidence import Batch, batches, log_starts
from tests.sim.linked.federation import Region
from tests.sim.linked.known_offsets import KnownOffsets


class Gaps:
    """Of one region whose logs are not compacted."""

    def __init__(self, region: Region, known: Mapping[str, KnownOffsets]) -> None:
        """`known` is that of all regions, by their names."""
        self._region, self._known = region, known
        self._reached: dict[TopicPartition, Offset] = {}  # below it nothing is missing
        # Of logs: how often their disks had lost something, and one past the last offset.
        self._tips: dict[tuple[BrokerId, TopicPartition], tuple[int, Offset]] = {}
        self._starts: dict[tuple[BrokerId, TopicPartition], Offset] = {}
        self._begins: dict[
            TopicPartition, Offset
        ] = {}  # the highest log start that was found right

    def written(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> Iterator[str]:
        """A batch has just come to a log."""
        if batch.base_offset > self._reached.get(partition, 0):
            self._read_ledger(partition)
        reached = self._reached.get(partition, 0)
        if batch.base_offset > reached:
            skipped = f"[{reached}, {batch.base_offset})"
            yield f"n{number} skips {skipped} of {partition}, which is not in the ledger"
        self._reached[partition] = max(reached, batch.next_offset)
        losses = self._region.node(number).disk.losses
        if self._tips.get((number, partition)) != (losses, batch.base_offset):
            yield from self._judge_log(number, partition)
        self._tips[number, partition] = (losses, batch.next_offset)

    def forget(self, number: BrokerId, partition: TopicPartition) -> None:
        """Something was taken from a log."""
        self._tips.pop((number, partition), None)

    def started(self, number: BrokerId) -> Iterator[str]:
        """The log starts of a node may have moved."""
        for partition, start in log_starts(self._region.node(number).disk).items():
            before = self._starts.get((number, partition), 0)
            self._starts[number, partition] = start
            if start > before and not partition.topic.startswith("__"):
                yield from self._judge_start(number, partition, start)

    def _judge_log(self, number: BrokerId, partition: TopicPartition) -> Iterator[str]:
        disk = self._region.node(number).disk
        start = log_starts(disk).get(partition, 0)
        held = [each for each in batches(disk, partition) if each.next_offset > start]
        for before, after in pairwise(held):
            if before.next_offset != after.base_offset:
                hole = f"[{before.next_offset}, {after.base_offset})"
                yield f"the log of {partition} at n{number} has nothing at {hole}"

    def _judge_start(
        self, number: BrokerId, partition: TopicPartition, start: Offset
    ) -> Iterator[str]:
        if not self._region.follows(number, partition.topic):
            return
        self._read_ledger(partition)
        if start > self._reached.get(partition, 0):
            skipped = f"[{self._reached.get(partition, 0)}, {start})"
            yield f"n{number} skips {skipped} of {partition}, which is not in the ledger"
        if not self.may_begin(partition, start):
            yield (
                f"n{number} has {partition} begin at {start}, its source at"
                f" {self._of_source(partition)}"
            )

    def may_begin(self, partition: TopicPartition, start: Offset) -> bool:
        """Whether a log may begin there. What once was right stays so: a mirror may end, and its source be gone."""
        self._region.look_for_restore()
        right = max(self._may_begin_at(partition), self._begins.get(partition, 0))
        if self._leaves_out(partition, right, start):
            return False
        self._begins[partition] = max(start, self._begins.get(partition, 0))
        return True

    def _leaves_out(self, partition: TopicPartition, start: Offset, end: Offset) -> bool:
        """Whether anything is missing in a mirror that begins at `end` and not at `start`."""
        return start < end

    def _may_begin_at(self, partition: TopicPartition) -> Offset:
        chosen = [each.next_offset for each in self._holes(partition) if each.is_chosen]
        asked = self._region.statements.trims.get(partition, 0)
        return max(self._of_source(partition), asked, *chosen, 0)

    def _of_source(self, partition: TopicPartition) -> Offset:
        mirror = self._region.mirror_of(partition.topic)
        if mirror is None:
            return 0
        return self._known[mirror.source.region].of(mirror.names.there(partition)).log_start

    def _read_ledger(self, partition: TopicPartition) -> None:
        reached = self._reached.get(partition, 0)
        for hole in sorted(self._holes(partition), key=lambda hole: hole.base_offset):
            if hole.base_offset <= reached:
                reached = max(reached, hole.next_offset)
        self._reached[partition] = reached

    def _holes(self, partition: TopicPartition) -> Iterator[Hole]:
        for (kind, _), document in self._region.newest.documents.items():
            hole = decode_hole(document.body) if kind == HOLE_KIND else None
            if hole is not None and hole.partition == partition:
                yield hole
