"""A batch in another codec: the same records, whatever they are, in formats that other clients read."""

import gzip
import random
import zlib

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from brokers.records.batch import HEADER_SIZE, BatchError, parse_header, verify_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, decompress
from brokers.records.recompression import CODECS, LZ4_DEFAULT, compress, recompressed

LEVELS = {
    NONE: (0,),
    GZIP: (-1, 1, 9),
    SNAPPY: (0,),
    LZ4: (LZ4_DEFAULT, 1, 17),
    ZSTD: (3, -131_072, 22),
}
CASES = [(codec, level) for codec, levels in LEVELS.items() for level in levels]


def _xerial(data: bytes) -> bytes:
    """snappy-java's framing, read with another library's blocks."""
    assert data[:16] == b"\x82SNAPPY\x00" + bytes((0, 0, 0, 1, 0, 0, 0, 1))
    out, position = b"", 16
    while position < len(data):
        size = int.from_bytes(data[position : position + 4], "big")
        out += snappy.uncompress(data[position + 4 : position + 4 + size])
        position += 4 + size
    return out


OTHERS = {
    NONE: bytes,
    GZIP: gzip.decompress,
    SNAPPY: _xerial,
    LZ4: lz4.frame.decompress,
    ZSTD: lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}


def batch(*values: bytes, **fields: int) -> bytearray:
    return build_batch([NewRecord(b"k", value) for value in values], timestamp=7, **fields)


@pytest.mark.parametrize(("codec", "level"), CASES)
@given(data=st.binary(min_size=1, max_size=2_000), copies=st.sampled_from([1, 3, 60]))
def test_what_is_compressed_comes_out_of_ours_and_of_other_libraries(
    codec: int, level: int, data: bytes, copies: int
) -> None:
    packed = bytes(compress(codec, memoryview(data * copies), level))
    assert bytes(decompress(codec, packed)) == OTHERS[codec](packed) == data * copies


@pytest.mark.parametrize("source", LEVELS)
@pytest.mark.parametrize("target", LEVELS)
def test_only_the_codec_the_length_and_the_checksum_change(source: int, target: int) -> None:
    plain = batch(b"one" * 100, b"two" * 100, producer_id=9, producer_epoch=2, base_sequence=4)
    first = recompressed(plain, parse_header(plain), source, LEVELS[source][0])
    second = recompressed(memoryview(first), parse_header(first), target, LEVELS[target][0])
    was, now = parse_header(plain), parse_header(second)
    assert now.compression == target and now.length == len(second) and verify_crc(second, now)
    kept = {"length": was.length, "crc": was.crc, "attributes": was.attributes}
    assert now._replace(**kept) == was
    assert bytes(decompress(target, memoryview(second)[HEADER_SIZE:])) == plain[HEADER_SIZE:]


def test_blocks_of_lz4_are_independent_as_javas_clients_need() -> None:
    records = random.Random(1).randbytes(200_000)
    flags = bytes(compress(LZ4, records, LZ4_DEFAULT))[4]
    assert flags >> 6 == 1 and flags & 0b10_0000


def test_a_higher_level_makes_less_of_it() -> None:
    draw = random.Random(1)
    records = b"".join(b"%d," % draw.randrange(5_000) for _ in range(40_000))
    for codec, low, high in ((GZIP, 1, 9), (LZ4, LZ4_DEFAULT, 17), (ZSTD, 1, 19)):
        assert len(compress(codec, records, high)) < len(compress(codec, records, low))
    assert bytes(compress(GZIP, records, -1)) == zlib.compress(records, 6, 31)


def test_records_that_cannot_be_decompressed_are_refused() -> None:
    plain = batch(b"x" * 100)
    packed = recompressed(plain, parse_header(plain), GZIP, -1)
    packed[-12:] = bytes(12)
    with pytest.raises(BatchError, match="can't be decompressed"):
        recompressed(packed, parse_header(packed), ZSTD, 3)


def test_every_value_of_kafkas_key_but_producer_has_its_codec() -> None:
    assert CODECS == {"uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
