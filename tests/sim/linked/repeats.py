"""P10 at each write: no replica's log gets a batch of a producer twice.

What a log held before it was cut, or before its disk lost something, counts no more: a retry is stored again then. So
the judge goes by the log as it is on the disk, which it reads anew after each such loss.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from brokers.ids import BrokerId, Offset, ProducerId, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches


class Sent(NamedTuple):
    """What a producer says of a batch, however often it sends it."""

    producer_id: ProducerId
    producer_epoch: int
    base_sequence: int


class _Log(NamedTuple):
    losses: int  # of its disk, when it was read
    stored: dict[Sent, Offset]


class Repeats:
    """Of one region. `disk_of` has the disk of each node."""

    def __init__(self, disk_of: Callable[[BrokerId], Disk]) -> None:
        self._disk_of = disk_of
        self._logs: dict[tuple[BrokerId, TopicPartition], _Log] = {}

    def written(self, number: BrokerId, partition: TopicPartition, batch: Batch) -> Iterator[str]:
        """A batch has just come to a log."""
        if batch.base_sequence < 0 or batch.is_control:
            return
        sent = Sent(batch.producer_id, batch.producer_epoch, batch.base_sequence)
        base = self._log(number, partition).stored.setdefault(sent, batch.base_offset)
        if base != batch.base_offset:
            yield (
                f"n{number} writes sequence {sent.base_sequence} of producer {sent.producer_id} at"
                f" {partition}@{batch.base_offset}, its log has it at {base}"
            )

    def forget(self, number: BrokerId, partition: TopicPartition) -> None:
        """Something was taken from a log."""
        self._logs.pop((number, partition), None)

    def _log(self, number: BrokerId, partition: TopicPartition) -> _Log:
        disk, key = self._disk_of(number), (number, partition)
        known = self._logs.get(key)
        if known is None or known.losses != disk.losses:
            known = self._logs[key] = _Log(disk.losses, _stored(disk, partition))
        return known


def _stored(disk: Disk, partition: TopicPartition) -> dict[Sent, Offset]:
    """The first offset of each."""
    stored: dict[Sent, Offset] = {}
    for batch in batches(disk, partition):
        if batch.base_sequence >= 0 and not batch.is_control:
            sent = Sent(batch.producer_id, batch.producer_epoch, batch.base_sequence)
            stored.setdefault(sent, batch.base_offset)
    return stored
