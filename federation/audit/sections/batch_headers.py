"""The header of the batch that holds an offset: for what names single batches. Never raises for what files lack."""

import struct
from typing import NamedTuple

from crc32c import crc32c

from federation.audit.segments.headers import CHECKED_FROM, HEADER, LENGTH_BYTES
from federation.audit.segments.replica import ReadableReplica


class FoundBatch(NamedTuple):
    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    last_sequence: int


def covering(log: ReadableReplica, offset: int) -> FoundBatch | None:
    """The batch that holds `offset`; None where the log has none (compacted, expired, lost) or none that is sound."""
    found = first_from(log, offset)
    return found if found is not None and found.base_offset <= offset else None


def first_from(log: ReadableReplica, offset: int) -> FoundBatch | None:
    """The batch that holds `offset`, or else the next one; None where the log has none or none that is sound."""
    if log.is_empty or not log.first_offset <= offset < log.end_offset:
        return None
    try:
        data = log.batch_at(log.first_covering(offset))
        header = HEADER.unpack_from(data)
    except (OSError, struct.error):
        return None
    if len(data) != LENGTH_BYTES + header[1] or crc32c(data[CHECKED_FROM:]) != header[4]:
        return None
    last = header[0] + header[6]
    if last < offset:
        return None
    sequence = (header[11] + header[6]) % (1 << 31) if header[11] >= 0 else -1
    return FoundBatch(header[0], last, header[2], header[9], header[10], sequence)
