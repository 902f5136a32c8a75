"""Ranges of whole batches in a segment, of about the requested size.

A range ends at a batch border, which is found by reading headers. A long range of small batches has thousands: the
offset index has a position close to its end, from which headers are read.
"""

from collections.abc import Callable, Sequence

from brokers.effects import Range
from brokers.events import RangeFound
from brokers.ids import Buffer, Offset
from brokers.ports import Files
from brokers.records.batch import (
    HEADER_SIZE,
    BatchError,
    BatchHeader,
    parse_header,
    slice_batches,
)
from brokers.storage.segments.log_segment import LogSegment

_WORTH_A_LOOKUP_BYTES = 1 << 15  # below, reading headers is faster than two binary searches


def read_batches(
    files: Files,
    segment: LogSegment,
    position: int,
    wanted: tuple[Offset, Offset],
    size_max: int,
    at_least_one: bool,
) -> tuple[Buffer, Offset]:
    """(batches of the offsets `wanted`, next offset); the first one begins at `position`."""
    offset, bound = wanted
    size = min(segment.size - position, max(size_max, HEADER_SIZE))
    if size <= 0:
        return b"", offset
    data = memoryview(files.read(segment.path, position, size))
    first = parse_header(data)
    if first.next_offset > bound or (first.length > size_max and not at_least_one):
        return b"", offset
    if first.length > segment.size - position:
        raise segment.damage(position)
    if first.length > len(data):
        data = memoryview(files.read(segment.path, position, first.length))
    if first.length >= size_max:
        return data[: first.length], first.next_offset
    skipped = _skip(segment, position, data, bound) if size > _WORTH_A_LOOKUP_BYTES else 0
    rest = data[skipped:]
    _, end, next_offset = slice_batches(rest, offset, bound, len(rest), at_least_one=False)
    return data[: skipped + end], next_offset


def find_batches(
    segment: LogSegment,
    position: int,
    wanted: tuple[Offset, Offset],
    size_max: int,
    at_least_one: bool,
) -> tuple[int, Offset]:
    """(size, next offset) of what `read_batches` would return, from a few headers at its end."""
    offset, bound = wanted
    limit = position + size_max
    end, next_offset = position, offset
    border = _border(segment, position, min(limit, segment.size), bound)
    if border is not None:
        end, header = border
        if end + header.length > limit:
            return end - position, header.base_offset
        end, next_offset = end + header.length, header.next_offset
    for start, header in segment.scan_headers(end):
        is_enough = end > position or not at_least_one
        if header.next_offset > bound or (start + header.length > limit and is_enough):
            break
        end, next_offset = start + header.length, header.next_offset
    else:
        if end == position < segment.size:
            raise segment.damage(position)
    return end - position, next_offset


def _skip(segment: LogSegment, position: int, data: memoryview, bound: Offset) -> int:
    """The bytes of `data` that are whole batches below `bound`, by the index, followed by at least one more."""
    entries = segment.index.before(bound, position + len(data))
    # The last entry's batch may not be complete in the data; the one before it is.
    for number in (entries - 1, entries - 2):
        if number >= 0:
            start = segment.index.entry(number).position - position
            header = _header_at(data, start)
            if header and start + header.length <= len(data) and header.next_offset <= bound:
                return start
    return 0


def _border(
    segment: LogSegment, position: int, limit: int, bound: Offset
) -> tuple[int, BatchHeader] | None:
    """The position and header of the index's last batch up to `limit` that ends below `bound`."""
    entries = segment.index.before(bound, limit)
    if entries == 0:
        return None
    last_offset, border = segment.index.entry(entries - 1)
    if border <= position:
        return None
    header = _header_at(memoryview(segment.read(border, HEADER_SIZE)), 0)
    if header is None or header.next_offset != last_offset + 1:
        return None  # the index is wrong
    return border, header


def _header_at(data: memoryview, start: int) -> BatchHeader | None:
    """The header at a position; None if the index is wrong."""
    if not 0 <= start <= len(data) - HEADER_SIZE:
        return None
    try:
        return parse_header(data, start)
    except BatchError:
        return None


def share(
    ranges: Sequence[Range], size_max: int, take: Callable[[Range, int, bool], RangeFound]
) -> tuple[RangeFound, ...]:
    """Take the ranges in order up to the size limit; the first batch is taken however large (KIP-74)."""
    all_found: list[RangeFound] = []
    left, is_first = size_max, True
    for wanted in ranges:
        if left <= 0 and not is_first:
            all_found.append(RangeFound(b"", wanted.offset))
            continue
        found = take(wanted, max(0, min(left, wanted.size_max)), is_first)
        all_found.append(found)
        left -= len(found.data)
        is_first = is_first and not len(found.data)
    return tuple(all_found)
