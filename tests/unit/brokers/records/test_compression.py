import gzip
import tracemalloc

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.records.batch import BatchError
from brokers.records.compression import GZIP, LZ4, NONE, SNAPPY, ZSTD, decompress

MIB = 1 << 20


def xerial(data: bytes, block: int = 32 << 10) -> bytes:
    """snappy-java's framing."""
    out = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") + (1).to_bytes(4, "big")
    for start in range(0, len(data), block):
        packed = bytes(cramjam.snappy.compress_raw(data[start : start + block]))
        out += len(packed).to_bytes(4, "big") + packed
    return out


PACKERS = {
    "none": (NONE, bytes),
    "gzip": (GZIP, gzip.compress),
    "snappy raw": (SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "snappy xerial": (SNAPPY, xerial),
    "lz4": (LZ4, lambda data: bytes(cramjam.lz4.compress(data))),
    "zstd": (ZSTD, lambda data: bytes(cramjam.zstd.compress(data))),
}
compressed = pytest.mark.parametrize("name", [name for name in PACKERS if name != "none"])


@pytest.mark.parametrize("name", PACKERS)
@given(data=st.binary(max_size=3_000), copies=st.sampled_from([1, 2, 300]))
def test_what_was_packed_comes_out(name: str, data: bytes, copies: int) -> None:
    codec, pack = PACKERS[name]
    whole = data * copies
    assert bytes(decompress(codec, memoryview(pack(whole)))) == whole


def test_gzip_of_several_members_is_read_to_the_end() -> None:
    assert bytes(decompress(GZIP, gzip.compress(b"one, ") + gzip.compress(b"two"))) == b"one, two"


@compressed
def test_the_limit_is_exact(name: str) -> None:
    codec, pack = PACKERS[name]
    packed = pack(bytes(100_000))
    assert len(decompress(codec, packed, size_max=100_000)) == 100_000
    with pytest.raises(BatchError, match="more than 99999 bytes"):
        decompress(codec, packed, size_max=99_999)


@compressed
def test_a_bomb_is_refused_without_unpacking_it(name: str) -> None:
    codec, pack = PACKERS[name]
    bomb = pack(bytes(64 * MIB))
    tracemalloc.start()
    with pytest.raises(BatchError, match=f"more than {MIB} bytes"):
        decompress(codec, bomb, size_max=MIB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MIB, peak


@compressed
def test_data_cut_at_any_byte_is_refused(name: str) -> None:
    codec, pack = PACKERS[name]
    packed = pack(b"some words, some words and more words" * 3)
    for size in range(1, len(packed)):
        try:
            short = bytes(decompress(codec, packed[:size], size_max=MIB))
        except BatchError:
            continue
        # Only Java's framing can end between two blocks; the records behind are missed by whoever counts them.
        assert name == "snappy xerial"
        assert short == b""


@pytest.mark.parametrize("codec", range(1, 8))
@given(st.binary(max_size=300))
def test_random_bytes_are_refused_or_unpacked(codec: int, data: bytes) -> None:
    try:
        unpacked = decompress(codec, data, size_max=MIB)
    except BatchError:
        return
    assert len(unpacked) <= MIB


@pytest.mark.parametrize("codec", [5, 6, 7, 99])
def test_an_unknown_codec_is_refused(codec: int) -> None:
    with pytest.raises(BatchError, match="unknown compression"):
        decompress(codec, b"")


@pytest.mark.parametrize(
    "framed",
    [
        xerial(b"") + b"\0\0\1",
        xerial(b"") + (-1).to_bytes(4, "big", signed=True),
        xerial(b"") + (100).to_bytes(4, "big") + b"short",
    ],
)
def test_damaged_snappy_framing_is_refused(framed: bytes) -> None:
    with pytest.raises(BatchError, match="snappy block"):
        decompress(SNAPPY, framed)
