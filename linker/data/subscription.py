"""A partition that a source sends to a destination, and its range of bytes as chunks."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from brokers.ids import Buffer, Instant, Offset, TopicPartition
from brokers.records.batch import iter_headers
from brokers.region import PartitionState
from linker.frames import OffsetBounds


@dataclass(slots=True)
class Subscription:
    """`position` is the next offset to send, -1 while it is looked for; `sent_bounds` are those that were sent last."""

    number: int
    partition: TopicPartition
    position: Offset
    agreed: bool = False
    reading: bool = False
    weight: int = 1
    waits_until: Instant | None = None  # while it has fewer bytes than the destination wants
    sent_bounds: OffsetBounds | None = None


def bounds_of(state: PartitionState) -> OffsetBounds:
    return OffsetBounds(state.log_start_offset, state.high_watermark, state.last_stable_offset)


def pieces(
    data: Buffer, offset: Offset, next_offset: Offset, bases: tuple[Offset, ...]
) -> Iterator[tuple[Offset, Offset, Buffer]]:
    """Split a range at the base offsets of segments: (offset, next offset, bytes) of each piece."""
    following = bisect_right(bases, offset)
    if following == len(bases) or bases[following] >= next_offset:
        yield offset, next_offset, data
        return
    view, start = memoryview(data), 0
    for position, header in iter_headers(data):
        if following < len(bases) and header.base_offset >= bases[following]:
            yield offset, bases[following], view[start:position]
            offset, start = bases[following], position
            following = bisect_right(bases, header.base_offset)
    yield offset, next_offset, view[start:]
