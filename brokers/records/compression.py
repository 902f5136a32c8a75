"""Decompresses the records of a batch. Output is bounded, since a batch may be a decompression bomb."""

import zlib
from collections.abc import Callable
from struct import Struct
from typing import Any

import cramjam

from brokers.errors import KafkaError
from brokers.ids import Buffer
from brokers.records.batch import BatchError

OPENED_BYTES_MAX = 64 << 20  # 64 times the largest batch that a topic takes by default

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)

_GZIP_WINDOW = 31  # zlib: 15 bits of window, with gzip's header and trailer
_GUESS_MIN, _GUESS_FACTOR = 1 << 16, 4
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_SIZE = 16  # magic, version int32, oldest compatible version int32
_LENGTH = Struct(">i")


class _Bomb(Exception):
    """The output exceeds its limit."""


def decompress(codec: int, data: Buffer, size_max: int = OPENED_BYTES_MAX) -> Buffer:
    """The records' bytes, at most `size_max` of them; `BatchError` on damage, a bomb or an unknown codec."""
    try:
        if codec == NONE:
            return data
        if codec == GZIP:
            return _gzip(data, size_max)
        if codec == SNAPPY:
            return _snappy(data, size_max)
        if codec == LZ4:
            return _growing(cramjam.lz4.decompress_into, data, size_max)
        if codec == ZSTD:
            return _growing(cramjam.zstd.decompress_into, data, size_max)
    except (zlib.error, cramjam.DecompressionError) as error:
        raise _damaged(str(error)) from None
    except _Bomb:
        raise _damaged(f"they are more than {size_max} bytes") from None
    raise _damaged(f"unknown compression {codec}")


def _gzip(data: Buffer, size_max: int) -> Buffer:
    out = bytearray()
    rest: Buffer = data
    while rest:  # a stream may be made of several members
        member = zlib.decompressobj(_GZIP_WINDOW)
        out += member.decompress(rest, size_max - len(out) + 1)
        if len(out) > size_max:
            raise _Bomb
        if not member.eof:
            raise _damaged("gzip stream ends early")
        rest = member.unused_data
    return out


def _snappy(data: Buffer, size_max: int) -> Buffer:
    """Java's framing ("xerial": a header, then blocks with their lengths), or one bare block (librdkafka)."""
    view = memoryview(data)
    if view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _snappy_block(view, size_max)
    out = bytearray()
    position = _XERIAL_HEADER_SIZE
    while position < len(view):
        if position + _LENGTH.size > len(view):
            raise _damaged("snappy block without a length")
        (length,) = _LENGTH.unpack_from(view, position)
        position += _LENGTH.size
        if length < 0 or position + length > len(view):
            raise _damaged("snappy block is cut short")
        out += _snappy_block(view[position : position + length], size_max - len(out))
        position += length
    return out


def _snappy_block(block: memoryview, size_max: int) -> Buffer:
    # The size that the block declares; nothing is allocated.
    size = cramjam.snappy.decompress_raw_len(block)
    if size > size_max:
        raise _Bomb
    out = bytearray(size)
    written = cramjam.snappy.decompress_raw_into(block, out)
    return memoryview(out)[:written]


def _growing(decompress_into: Callable[[Any, Any], int], data: Buffer, size_max: int) -> Buffer:
    """For formats that need not declare their size: tries larger buffers until the output fits or exceeds the limit."""
    size = max(_GUESS_MIN, len(data) * _GUESS_FACTOR)
    while True:
        out = bytearray(min(size, size_max))
        try:
            return memoryview(out)[: decompress_into(data, out)]
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise
        if size >= size_max:
            raise _Bomb
        size *= _GUESS_FACTOR


def _damaged(because: str) -> BatchError:
    return BatchError(KafkaError.CORRUPT_MESSAGE, f"records can't be decompressed: {because}")
