"""Where a reset moves an offset to, as `kafka-consumer-groups --reset-offsets` has it."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from brokers.ids import Instant, Offset, TopicPartition

_DURATION: Final = re.compile(
    r"([-+]?)P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE
)


class KnownOffsets(NamedTuple):
    """What is known of the partitions; `at_time` where the strategy asks for a time (-1: no record is that late)."""

    earliest: Mapping[TopicPartition, Offset]
    latest: Mapping[TopicPartition, Offset]
    committed: Mapping[TopicPartition, Offset]
    at_time: Mapping[TopicPartition, Offset]

    def clipped(self, name: TopicPartition, offset: Offset) -> Offset:
        """The nearest offset that the partition has."""
        return max(self.earliest[name], min(self.latest[name], offset))


class ResetError(ValueError):
    """A partition's offset cannot be moved as the strategy says."""


Target = Callable[[TopicPartition, KnownOffsets], Offset]


class Strategy(NamedTuple):
    """`time` is None where no offset by time is needed."""

    target: Target
    time: Instant | None = None


def to_earliest() -> Strategy:
    return Strategy(lambda name, found: found.earliest[name])


def to_latest() -> Strategy:
    return Strategy(lambda name, found: found.latest[name])


def to_current() -> Strategy:
    """The committed offset, as far as the log has it; the end where there is none."""
    return Strategy(
        lambda name, found: found.clipped(name, found.committed.get(name, found.latest[name]))
    )


def to_offset(offset: Offset) -> Strategy:
    return Strategy(lambda name, found: found.clipped(name, offset))


def shift_by(count: int) -> Strategy:
    def target(name: TopicPartition, found: KnownOffsets) -> Offset:
        if name not in found.committed:
            raise ResetError(f"{name} has no committed offset to shift")
        return found.clipped(name, found.committed[name] + count)

    return Strategy(target)


def to_time(at: Instant) -> Strategy:
    """The first record of that time or later; the end where there is none."""

    def target(name: TopicPartition, found: KnownOffsets) -> Offset:
        offset = found.at_time[name]
        return found.latest[name] if offset < 0 else offset

    return Strategy(target, at)


def to_planned(offsets: Mapping[TopicPartition, Offset]) -> Strategy:
    return Strategy(lambda name, found: found.clipped(name, offsets[name]))


def parse_time(text: str) -> Instant:
    """ISO 8601; without a zone: UTC, as in Kafka. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    at = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return int(at.timestamp() * 1000)


def parse_duration(text: str) -> timedelta:
    """ISO 8601 as `P1DT2H30M`. Raises ValueError."""
    matched = _DURATION.fullmatch(text.strip())
    if matched is None:
        raise ValueError(f"{text!r} is no duration as PnDTnHnMnS")
    sign, days, hours, minutes, seconds = matched.groups()
    length = timedelta(
        days=int(days or 0),
        hours=int(hours or 0),
        minutes=int(minutes or 0),
        seconds=float(seconds or 0),
    )
    return -length if sign == "-" else length
