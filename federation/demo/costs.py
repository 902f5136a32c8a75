"""What a failover cost, computed from what the application saw.

The producer keeps what was acknowledged, the group what it read, and afterwards every record of the surviving region
is read back. Of the regions' own reports only the cut is used, and it is checked against the application's counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Offsets: TypeAlias = Mapping[int, int]  # partition -> offset


class Acknowledged(NamedTuple):
    """A record that was acknowledged to the producer."""

    partition: int
    offset: int
    flight: int
    at_ms: float  # when the acknowledgement arrived, in ms of a monotonic clock


@dataclass(frozen=True, slots=True)
class Loss:
    """Acknowledged records that the surviving region does not hold, and how far back in time they reach."""

    records: tuple[Acknowledged, ...]
    reaches_back_ms: float


@dataclass(frozen=True, slots=True)
class Reading:
    """Records that a group read twice because of the failover, and records that it skipped."""

    read_again: int
    skipped: int


def loss(
    acknowledged: Sequence[Acknowledged],
    stored: Mapping[int, Mapping[int, int]],
    *,
    killed_at_ms: float,
) -> Loss:
    """Acknowledged records that are not in `stored`: partition -> offset -> flight, as read back."""
    lost = tuple(
        record
        for record in acknowledged
        if stored.get(record.partition, {}).get(record.offset) != record.flight
    )
    oldest = min((record.at_ms for record in lost), default=killed_at_ms)
    return Loss(lost, max(0.0, killed_at_ms - oldest))


def lost_below_the_cut(lost: Sequence[Acknowledged], cut: Offsets) -> int:
    """The number of lost records below the cut: any would break promise P2."""
    return sum(record.offset < cut.get(record.partition, 0) for record in lost)


def reading(*, old_end: Offsets, new_start: Offsets, committed: Offsets, cut: Offsets) -> Reading:
    """Compares the offsets at which the group ended in the old region with those at which it began in the new one.

    `old_end` is one past the last offset that the group read in the old region, `committed` the last offset that it
    tried to commit there, `new_start` the first offset that it read in the new region. Records beyond the cut are lost,
    not read again. Skipped are records below the cut, not committed and not read in the new region (promise P6: none).
    """
    again = sum(
        max(0, min(old_end.get(partition, 0), cut.get(partition, 0)) - first)
        for partition, first in new_start.items()
    )
    skipped = sum(
        max(0, first - min(committed.get(partition, 0), cut.get(partition, 0)))
        for partition, first in new_start.items()
    )
    return Reading(again, skipped)


def stored_twice(stored: Mapping[int, Mapping[int, int]]) -> int:
    """The number of records that repeat another record's flight.

    A producer whose region dies between a write and its acknowledgement sends the record to the other region again.
    """
    numbers = [flight for offsets in stored.values() for flight in offsets.values()]
    return len(numbers) - len(set(numbers))
