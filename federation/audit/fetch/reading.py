"""Whole batches of an offset range, fetch after fetch.

A broker answers with as many batches as fit, from the one that holds the offset asked for; the last may be cut off. A
follower knows the high watermark a moment after its leader, so what is not there yet is asked for again for a while.
"""

import errno
import time
from collections.abc import Iterator

from federation.audit.fetch.connection import ask
from federation.audit.fetch.messages import (
    FETCH,
    OFFSET_NOT_AVAILABLE,
    OFFSET_OUT_OF_RANGE,
    Fetched,
    fetch_answer,
    fetch_request,
)
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES

FETCH_BYTES = 16 << 20
WAIT_MS = 500
LATE_SECONDS = 15.0
AGAIN_SECONDS = 0.1


def batches(
    address: str, key: Key, start: int, stop: int, fetch_bytes: int = FETCH_BYTES
) -> Iterator[memoryview]:
    """Runs of whole batches, the first of which holds `start` or is the first above it, up to `stop`.

    Raises FileNotFoundError where the log now starts above `start`, and OSError where the range can't be had.
    """
    offset = start
    while offset < stop:
        found = fetch(address, key, offset, stop, fetch_bytes)
        if not len(found.records):
            return  # compaction left nothing up to the end
        size, following = whole(found.records, offset, stop)
        if size:
            yield found.records[:size]
        if following >= stop:
            return
        if following <= offset:
            where = f"{key[0]}-{key[1]} on {address}"
            raise OSError(errno.EIO, f"offset {offset} is followed by no whole batch", where)
        offset = following


def fetch(address: str, key: Key, offset: int, stop: int, fetch_bytes: int) -> Fetched:
    """What the broker has at `offset`; without records only if it has none below `stop`. Raises OSError."""
    request = fetch_request({key: offset}, partition_bytes=fetch_bytes, wait_ms=WAIT_MS)
    give_up = time.monotonic() + LATE_SECONDS
    while True:
        answer = fetch_answer(ask(address, *FETCH, request))
        found = answer.get(key)
        if found is None:
            raise OSError(errno.EPROTO, "the answer is about another partition", address)
        if not found.error and (len(found.records) or found.high_watermark >= stop):
            return found
        is_late = found.error in (0, OFFSET_NOT_AVAILABLE, OFFSET_OUT_OF_RANGE)
        if not is_late or time.monotonic() >= give_up or found.log_start > offset:
            raise _refused(found, offset, f"{key[0]}-{key[1]} on {address}")
        if found.error:  # without one, the broker has waited
            time.sleep(AGAIN_SECONDS)


def _refused(found: Fetched, offset: int, where: str) -> OSError:
    if found.error == OFFSET_OUT_OF_RANGE:
        return FileNotFoundError(errno.ENOENT, f"offset {offset} is out of range", where)
    because = found.error_name if found.error else f"its high watermark is {found.high_watermark}"
    return OSError(errno.EIO, f"offset {offset} can't be fetched: {because}", where)


def whole(records: memoryview, offset: int, stop: int) -> tuple[int, int]:
    """Bytes of the whole batches that hold offsets below `stop`, and the offset after the last of them.

    A header that can't be true ends the run.
    """
    position = 0
    while position + HEADER_BYTES <= len(records):
        header = HEADER.unpack_from(records, position)
        base_offset, size, delta = header[0], LENGTH_BYTES + header[1], header[6]
        if base_offset >= stop:
            return position, stop
        following = base_offset + delta + 1
        is_possible = size >= HEADER_BYTES and delta >= 0 and following > offset
        if not is_possible or position + size > len(records):
            break
        position, offset = position + size, following
    return position, offset
