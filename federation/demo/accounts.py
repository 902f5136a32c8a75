"""What a failover cost, worked out from what the application saw and nothing else.

The producer remembers what was acknowledged, the group what it read, and afterwards every record of the surviving
region is read back. No status of the system goes into the sums, except the cut, which is checked against them.
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
    """How a group got over the failover: what it saw twice, and what it never saw."""

    read_again: int
    skipped: int


def loss(
    acknowledged: Sequence[Acknowledged],
    stored: Mapping[int, Mapping[int, int]],
    *,
    killed_at_ms: float,
) -> Loss:
    """What was acknowledged and is not there: `stored` is partition -> offset -> flight, as read back."""
    lost = tuple(
        record
        for record in acknowledged
        if stored.get(record.partition, {}).get(record.offset) != record.flight
    )
    oldest = min((record.at_ms for record in lost), default=killed_at_ms)
    return Loss(lost, max(0.0, killed_at_ms - oldest))


def lost_below_the_cut(lost: Sequence[Acknowledged], cut: Offsets) -> int:
    """Losses that a cut doesn't explain: any at all would break promise P2."""
    return sum(record.offset < cut.get(record.partition, 0) for record in lost)


def reading(*, left_at: Offsets, went_on_at: Offsets, committed: Offsets, cut: Offsets) -> Reading:
    """Compare where the group left the old region with where it went on in the new one.

    `left_at` is one past the last offset it read, `committed` what it last asked the old region to commit, `went_on_at`
    the first offset it read in the new one. What it had read beyond the cut is lost, not read again. Skipped is what
    it had neither committed nor was given again, below the cut (promise P6: none).
    """
    again = sum(
        max(0, min(left_at.get(partition, 0), cut.get(partition, 0)) - first)
        for partition, first in went_on_at.items()
    )
    skipped = sum(
        max(0, first - min(committed.get(partition, 0), cut.get(partition, 0)))
        for partition, first in went_on_at.items()
    )
    return Reading(again, skipped)


def stored_twice(stored: Mapping[int, Mapping[int, int]]) -> int:
    """Records that hold a flight which another record holds already.

    A producer that dies between a write and its acknowledgement cannot know; what it sends again elsewhere is stored
    again, in any system.
    """
    numbers = [flight for offsets in stored.values() for flight in offsets.values()]
    return len(numbers) - len(set(numbers))
