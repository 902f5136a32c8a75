"""What may be cut from a region's log after another one took its topic over, and nothing else.

From the cut on the winner's log has leader epochs of the takeover and later ones only, which the loser's never reach
(`generation`); so what lies there of an earlier epoch the winner does not have.
"""

from collections.abc import Iterator, Mapping

from brokers.ids import LeaderEpoch, Offset, TopicPartition
from linker.records.mirror_record import Cut
from tests.sim.evidence import parse
from tests.sim.regions.cluster import TOPIC

Written = Mapping[tuple[TopicPartition, Offset], set[bytes]]  # by base offset, whatever was there


class Takeovers:
    """Of one region's topic, as failovers declared them. `written`: in that region."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._cuts: list[Cut] = []

    def declare(self, cut: Cut) -> None:
        self._cuts.append(cut)

    def latest(self, partition: TopicPartition) -> Offset | None:
        """Where the last one cut it, at 0 what it did not know of; None if nobody ever did."""
        return ends_of(self._cuts[-1]).get(partition, 0) if self._cuts else None

    def cuts_value(self, partition: TopicPartition, offset: Offset, value: bytes) -> bool:
        """Whether a record may be cut."""
        return any(
            self.cuts_epoch(partition, offset, epoch)
            for epoch in self._epochs_of(partition, offset, value)
        )

    def cuts_epoch(self, partition: TopicPartition, offset: Offset, epoch: LeaderEpoch) -> bool:
        """Whether what a leader of this epoch wrote at an offset may be cut."""
        return any(
            offset >= ends_of(cut).get(partition, 0) and epoch < _first_epoch(cut)
            for cut in self._cuts
        )

    def _epochs_of(
        self, partition: TopicPartition, offset: Offset, value: bytes
    ) -> Iterator[LeaderEpoch]:
        for (at, base), versions in self._written.items():
            if at == partition and base <= offset:
                for batch in (each for data in versions for each in parse(data)):
                    if offset < batch.next_offset and (offset, value) in batch.values():
                        yield batch.leader_epoch


def ends_of(cut: Cut) -> dict[TopicPartition, Offset]:
    """Where it is."""
    return {TopicPartition(TOPIC, index): each.offset for index, each in enumerate(cut.partitions)}


def _first_epoch(cut: Cut) -> LeaderEpoch:
    """Of the winner's log: all partitions begin one of the same generation."""
    return min(each.leader_epoch for each in cut.partitions)
