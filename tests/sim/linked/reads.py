"""P3 when a reader's answer comes: what it holds is committed in that region, and stays.

Committed is what as many replicas have written as an acknowledgement of all in-sync ones needs, and what lies below the
highest high watermark that any node has known. A replica of a compacted topic that is beyond it counts as well: it may
have been copied from a log in which it was cleaned away. It stays: nobody writes another record in its place in a
later leader epoch, unless a failover was declared that cuts it.
"""

from collections.abc import Iterator

from brokers.ids import BrokerId, LeaderEpoch, Offset, TopicPartition
from tests.sim.evidence import Batch
from tests.sim.linked.federation import Region
from tests.sim.linked.known_offsets import KnownOffsets


class Reads:
    """Of one region."""

    def __init__(self, region: Region, known: KnownOffsets) -> None:
        self._region, self._known = region, known
        # By leader epoch and base offset, who has ever written the batch.
        self._writers: dict[tuple[TopicPartition, LeaderEpoch, Offset], set[BrokerId]] = {}
        self._ends: dict[tuple[TopicPartition, BrokerId], Offset] = {}  # how far they have written
        # The leader epoch of the batch that was read at an offset.
        self._shown: dict[TopicPartition, dict[Offset, LeaderEpoch]] = {}

    def written(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> Iterator[str]:
        """A batch has just come to a log."""
        key = (partition, batch.leader_epoch, batch.base_offset)
        self._writers.setdefault(key, set()).add(number)
        end = partition, number
        self._ends[end] = max(batch.next_offset, self._ends.get(end, 0))
        shown = self._shown.get(partition)
        for offset in range(batch.base_offset, batch.next_offset) if shown else ():
            assert shown is not None
            epoch = shown.get(offset, batch.leader_epoch)
            if epoch < batch.leader_epoch and not self._may_be_cut(partition, offset, epoch):
                yield (
                    f"{partition}@{offset} was read in leader epoch {epoch}, and n{number} writes there"
                    f" in leader epoch {batch.leader_epoch}"
                )

    def read(self, partition: TopicPartition, batch: Batch) -> Iterator[str]:
        """A reader has got a batch."""
        shown = self._shown.setdefault(partition, {})
        offsets, epoch = range(batch.base_offset, batch.next_offset), batch.leader_epoch
        if all(shown.get(offset) == epoch for offset in offsets):
            return
        place = f"{partition}@{batch.base_offset}"
        writers = self._writers_of(partition, batch) - self._region.statements.never_in_sync
        wanted = self._region.scenario.min_insync
        if len(writers) < wanted:
            yield f"{place} was read, {sorted(writers)} of {wanted} in-sync replicas have written it"
        known = self._known.of(partition).high_watermark
        if batch.next_offset > known:
            yield f"{place} was read up to {batch.next_offset}, above the high watermark {known}"
        if self._region.evidence.history is None and batch.data not in self._region.written.get(
            (partition, batch.base_offset), ()
        ):
            yield f"{place} was read with bytes that nobody has written"
        shown.update(dict.fromkeys(offsets, epoch))

    def _writers_of(self, partition: TopicPartition, batch: Batch) -> set[BrokerId]:
        found = self._writers.get((partition, batch.leader_epoch, batch.base_offset), set())
        if self._region.evidence.history is None:
            return found
        ends = self._ends.items()
        return found | {
            one for (of, one), end in ends if of == partition and end > batch.next_offset
        }

    def _may_be_cut(self, partition: TopicPartition, offset: Offset, epoch: LeaderEpoch) -> bool:
        return self._region.takeovers.cuts_epoch(partition, offset, epoch)
