"""The header of the batch that holds an offset: for what names single batches. Never raises for what files lack."""

import struct
from typing import NamedTuple

from crc32c import crc32c

from federation.audit.segments.headers import CHECKED_FROM, HEADER, HEADER_BYTES, LENGTH_BYTES
from federation.audit.segments.replica_log import ReplicaLog, first_covering


class FoundBatch(NamedTuple):
    base_offset: int
    last_offset: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    last_sequence: int


def covering(log: ReplicaLog, offset: int) -> FoundBatch | None:
    """The batch that holds `offset`; None where the log has none (compacted, expired, lost) or none that is sound."""
    if not log.segments or not log.first_offset <= offset < log.end_offset:
        return None
    try:
        place = first_covering(log, offset)
        with open(log.segments[place.segment].path, "rb", buffering=0) as file:
            file.seek(place.byte)
            data = file.read(HEADER_BYTES)
            header = HEADER.unpack(data)
            data += file.read(max(0, LENGTH_BYTES + header[1] - HEADER_BYTES))
    except (OSError, struct.error):
        return None
    if len(data) != LENGTH_BYTES + header[1] or crc32c(data[CHECKED_FROM:]) != header[4]:
        return None
    last = header[0] + header[6]
    if not header[0] <= offset <= last:
        return None
    sequence = (header[11] + header[6]) % (1 << 31) if header[11] >= 0 else -1
    return FoundBatch(header[0], last, header[2], header[9], header[10], sequence)
