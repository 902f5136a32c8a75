"""Compresses a batch's records anew where a topic has a codec of its own (`compression.type`).

Kafka's rule: a batch that has the codec already is kept as it came, whatever its level. Records are not looked into:
they move as one piece, so offsets, timestamps and sequences stay.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from struct import Struct
from typing import Final, NamedTuple

import cramjam
import zstandard

from brokers.ids import Buffer
from brokers.records.batch import (
    COMPRESSION_MASK,
    HEADER_SIZE,
    BatchHeader,
    pack_header,
    renew_crc,
)
from brokers.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, decompress

# The values of `compression.type` but for `producer`.
CODECS: Final[Mapping[str, int]] = {
    "uncompressed": NONE,
    "gzip": GZIP,
    "snappy": SNAPPY,
    "lz4": LZ4,
    "zstd": ZSTD,
}
LZ4_DEFAULT: Final = 9  # Kafka's default level stands for the fast compressor; any other is one of its high compression
_LZ4_FAST: Final = 1
_GZIP_WINDOW = 31  # zlib: 15 bits of window, with gzip's header and trailer
_SNAPPY_BLOCK_BYTES = 32 * 1024  # of snappy-java
_SNAPPY_HEADER = b"\x82SNAPPY\x00" + Struct(">ii").pack(1, 1)
_LENGTH = Struct(">i")
_idle_zstd: defaultdict[int, list[zstandard.ZstdCompressor]] = defaultdict(list)  # by level


class Recompressed(NamedTuple):
    """A batch with its records in this codec, at this level."""

    codec: int
    level: int
    batch: bytearray


class Recompression(NamedTuple):
    """A batch that is to have another codec; the bytes must not change until it has run."""

    batch: Buffer
    header: BatchHeader
    codec: int
    level: int

    def run(self) -> Recompressed:
        """In any thread. Raises `BatchError` as `recompressed` does."""
        return Recompressed(self.codec, self.level, recompressed(*self))


def recompressed(batch: Buffer, header: BatchHeader, codec: int, level: int) -> bytearray:
    """The batch with its records in this codec. Raises `BatchError` where they cannot be decompressed."""
    records = decompress(header.compression, memoryview(batch)[HEADER_SIZE : header.length])
    out = bytearray(HEADER_SIZE)
    out += compress(codec, records, level)
    attributes = header.attributes & ~COMPRESSION_MASK | codec
    pack_header(out, header._replace(length=len(out), attributes=attributes))
    renew_crc(out, 0, len(out))
    return out


def compress(codec: int, records: Buffer, level: int) -> Buffer:
    """In the formats that every client reads, which are those of Kafka's own."""
    return records if codec == NONE else _COMPRESSORS[codec](records, level)


def _gzip(records: Buffer, level: int) -> Buffer:
    return zlib.compress(records, level, _GZIP_WINDOW)


def _snappy(records: Buffer, level: int) -> Buffer:
    """snappy-java's framing: blocks with their lengths."""
    view, out = memoryview(records), bytearray(_SNAPPY_HEADER)
    for start in range(0, len(view), _SNAPPY_BLOCK_BYTES):
        block = cramjam.snappy.compress_raw(view[start : start + _SNAPPY_BLOCK_BYTES])
        out += _LENGTH.pack(len(block))
        out += block
    return out


def _lz4(records: Buffer, level: int) -> Buffer:
    """Independent blocks: Kafka's Java clients read no others."""
    compressor = cramjam.lz4.Compressor(
        level=_LZ4_FAST if level == LZ4_DEFAULT else level,
        content_checksum=False,
        block_linked=False,
    )
    compressor.compress(bytes(records))  # it takes nothing else
    return memoryview(compressor.finish())


def _zstd(records: Buffer, level: int) -> Buffer:
    """A compressor is used again, as a new one touches some MB of memory; by one thread at a time."""
    idle = _idle_zstd[level]
    try:
        compressor = idle.pop()
    except IndexError:
        compressor = zstandard.ZstdCompressor(level=level)
    try:
        return compressor.compress(records)
    finally:
        idle.append(compressor)


_COMPRESSORS: Mapping[int, Callable[[Buffer, int], Buffer]] = {
    GZIP: _gzip,
    SNAPPY: _snappy,
    LZ4: _lz4,
    ZSTD: _zstd,
}
