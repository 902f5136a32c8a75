"""Varints and tag buffers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brokers.wire.primitives import (
    UINT32_MAX,
    WireError,
    open_tag,
    read_unsigned_varint,
    skip_tags,
    write_unsigned_varint,
)


@given(st.integers(0, UINT32_MAX), st.binary(max_size=3), st.binary(max_size=3))
@example(127, b"", b"")
@example(128, b"", b"")
@example(UINT32_MAX, b"", b"")
def test_a_varint_is_read_as_written_wherever_it_stands(
    value: int, before: bytes, after: bytes
) -> None:
    encoded = write_unsigned_varint(value)
    assert len(encoded) == max(1, -(-value.bit_length() // 7))
    read = read_unsigned_varint(before + encoded + after, len(before))
    assert read == (value, len(before) + len(encoded))


@pytest.mark.parametrize("value", [-1, UINT32_MAX + 1])
def test_only_unsigned_32_bit_numbers_have_a_varint(value: int) -> None:
    with pytest.raises(WireError, match="32-bit"):
        write_unsigned_varint(value)


def test_a_varint_longer_than_needed_is_read() -> None:
    assert read_unsigned_varint(b"\x81\x80\x00", 0) == (1, 3)


@pytest.mark.parametrize("encoded", [b"", b"\x80", b"\xff\xff\xff\xff"])
def test_a_varint_cut_short_is_refused(encoded: bytes) -> None:
    with pytest.raises(WireError, match="cut short"):
        read_unsigned_varint(encoded, 0)


@pytest.mark.parametrize("encoded", [b"\xff\xff\xff\xff\x10", b"\xff\xff\xff\xff\xff\x00"])
def test_a_varint_beyond_32_bits_is_refused(encoded: bytes) -> None:
    with pytest.raises(WireError, match="32 bits"):
        read_unsigned_varint(encoded, 0)


@given(st.dictionaries(st.integers(0, 300), st.binary(max_size=140), max_size=127))
def test_unknown_tags_are_skipped(tags: dict[int, bytes]) -> None:
    buffer = b"".join(
        write_unsigned_varint(tag) + write_unsigned_varint(len(tags[tag])) + tags[tag]
        for tag in sorted(tags)
    )
    assert skip_tags(buffer + b"rest", 0, len(tags), len(buffer) + 4) == len(buffer)


def test_a_tag_says_where_it_begins_and_ends() -> None:
    assert open_tag(b"\x05\x02ab", 0, 4, 4) == (5, 2, 4)


@pytest.mark.parametrize(("tag", "previous"), [(b"\x05\x00", 5), (b"\x00\x00", 0)])
def test_tags_must_rise(tag: bytes, previous: int) -> None:
    with pytest.raises(WireError, match="after tag"):
        open_tag(tag, 0, previous, 2)


def test_a_tag_ends_within_the_frame() -> None:
    with pytest.raises(WireError, match="announces 3 bytes where 2 are left"):
        open_tag(b"\x05\x03ab", 0, -1, 4)


def test_more_tags_than_one_byte_counts_are_refused() -> None:
    with pytest.raises(WireError, match="tags or more"):
        skip_tags(b"\x01" + b"\x00" * 500, 1, 128, 501)
