"""zstd for the batches of a chunk, on the wire only: the log has them as they were produced."""

from typing import Final

import cramjam

from brokers.ids import Buffer
from brokers.records.batch import parse_header
from linker.wire.limits import FrameError

LEVEL: Final = 1  # as fast as a link; higher levels gain little on records
WORTH: Final = 0.9  # what does not get smaller than this is sent as it is
BYTES_MIN: Final = 512


def compressed(data: Buffer) -> Buffer | None:
    """None where it is not worth it: the batches are compressed already, or few."""
    if len(data) < BYTES_MIN or parse_header(data).compression:
        return None
    smaller = cramjam.zstd.compress(data, level=LEVEL)
    return memoryview(smaller) if len(smaller) < WORTH * len(data) else None


def expanded(data: Buffer, size: int, size_max: int) -> Buffer:
    """The `size` bytes that were compressed. Raises FrameError for others, or more than `size_max`."""
    if size > size_max:
        raise FrameError(f"a chunk of {size} bytes, above {size_max}")
    whole = bytearray(size)
    try:
        written = cramjam.zstd.decompress_into(data, whole)
    except cramjam.DecompressionError as error:
        raise FrameError(f"a chunk that is not zstd, or not of {size} bytes: {error}") from error
    if written != size:
        raise FrameError(f"a chunk of {written} bytes, not of {size}")
    return memoryview(whole)
