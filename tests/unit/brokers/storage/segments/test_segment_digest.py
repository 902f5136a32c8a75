"""The format of a segment's digest: what was written is read back, and nothing else is ever believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.storage.segments.segment_digest import (
    FOOTER_SIZE,
    HEADER,
    RANGE,
    ROW,
    DigestEncoder,
    DigestError,
    DigestRange,
    DigestRow,
    SegmentDigest,
    decode,
    decode_ends,
)

TOPIC_ID = bytes(range(16))
BASE = 7_000_000_000

rows = st.tuples(
    st.integers(0, 5),  # offsets left out before the batch
    st.integers(61, 70_000),  # length
    st.integers(0, 2**32 - 1),  # checksum
    st.integers(-1, 2**31 - 1),  # leader epoch
    st.integers(-1, 2**63 - 1),  # largest timestamp
    st.integers(1, 3_000),  # records
)


def encode(
    batches: list[tuple[int, ...]], range_batches: int = 3, topic_id: bytes = TOPIC_ID
) -> tuple[bytes, SegmentDigest, list[DigestRow]]:
    encoder = DigestEncoder(topic_id, BASE)
    data, position, offset, records = encoder.header, 0, BASE, 0
    expected = []
    for number, (gap, length, crc, leader_epoch, timestamp, count) in enumerate(batches, 1):
        row = DigestRow(offset + gap, position, length, crc, leader_epoch, timestamp, count)
        expected.append(row)
        data += encoder.rows([ROW.pack(row.base_offset - BASE, *row[1:])])
        offset, position, records = row.base_offset + count, position + length, records + count
        if number % range_batches == 0:
            encoder.end_range(offset, position)
    rest, whole = encoder.end(offset, position, records)
    return data + rest, whole, expected


@given(st.lists(rows, max_size=20), st.integers(1, 6))
def test_what_was_encoded_is_decoded(batches: list[tuple[int, ...]], range_batches: int) -> None:
    data, whole, expected = encode(batches, range_batches)
    found, found_rows, ranges = decode(data)
    assert found == whole and found_rows == expected
    assert decode_ends(data[: HEADER.size], data[-FOOTER_SIZE:], len(data)) == whole
    assert whole.size == sum(row.length for row in expected) == sum(each.size for each in ranges)
    assert whole.batches == len(expected) == sum(each.batches for each in ranges)
    for number, each in enumerate(ranges):
        first, *_, last = 2 * expected[number * range_batches : (number + 1) * range_batches]
        assert (each.base_offset, each.position) == (first.base_offset, first.position)
        assert each.next_offset == last.base_offset + last.record_count
        assert each.position + each.size == last.position + last.length


def test_the_format_is_what_it_was() -> None:
    data, whole, _ = encode([(0, 100, 1, 2, 3, 4), (1, 61, 5, 6, 7, 8)])
    header = b"CWDG\0\1" + TOPIC_ID + BASE.to_bytes(8, "big")
    first = bytes.fromhex("00000000 00000000 00000064 00000001 00000002 0000000000000003 00000004")
    second = bytes.fromhex("00000005 00000064 0000003d 00000005 00000006 0000000000000007 00000008")
    assert data.startswith(header + first + second)
    body = HEADER.size + 2 * ROW.size
    assert data[body : body + 20] == bytes.fromhex("00000000 0000000d 00000000 000000a1 00000002")
    assert len(data) == body + RANGE.size + FOOTER_SIZE
    assert whole == (TOPIC_ID, BASE, BASE + 13, 161, 2, 12, whole.digest)
    assert whole.digest.hex() == "cf3cdc640ed2ad59afb1342c27ff0c03"


def test_two_regions_have_the_same_digests_under_their_own_topic_ids() -> None:
    batches = [(0, 100 + number, number, 0, 5, 2) for number in range(10)]
    one, other = (encode(batches, topic_id=bytes([number] * 16))[0] for number in (1, 2))
    assert one != other
    assert decode(one)[0].digest == decode(other)[0].digest and decode(one)[2] == decode(other)[2]


@pytest.mark.parametrize("field", range(6))
def test_a_difference_in_one_batch_is_one_in_its_range_and_in_the_whole(field: int) -> None:
    batches = [(0, 100, 9, 0, 5, 2)] * 9
    changed = [*batches]
    changed[4] = tuple(value + (index == field) for index, value in enumerate(batches[4]))
    before, after = decode(encode(batches)[0]), decode(encode(changed)[0])
    assert before[0].digest != after[0].digest
    assert [one.digest == other.digest for one, other in zip(before[2], after[2], strict=True)][
        :2
    ] == [True, False]


def test_a_digest_that_is_cut_short_anywhere_is_none() -> None:
    data = encode([(0, 100, 1, 2, 3, 4)] * 5)[0]
    for size in range(len(data)):
        with pytest.raises(DigestError):
            decode(data[:size])
        with pytest.raises(DigestError):
            decode_ends(data[: HEADER.size][:size], data[:size][-FOOTER_SIZE:], size)


def test_a_digest_with_one_bit_changed_is_none() -> None:
    data = encode([(0, 100, 1, 2, 3, 4)] * 5)[0]
    for place in range(8 * len(data)):
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(DigestError):
            decode(changed)


def test_a_sector_of_zeros_in_a_digest_makes_it_none() -> None:
    data = encode([(0, 100, 1, 2, 3, 4)] * 40)[0]
    for start in range(0, len(data), 64):
        with pytest.raises(DigestError):
            decode(data[:start] + bytes(len(data[start : start + 64])) + data[start + 64 :])


@given(st.binary(max_size=300))
def test_no_bytes_are_taken_for_a_digest(data: bytes) -> None:
    with pytest.raises(DigestError):
        decode(data)


@given(st.binary(max_size=40), st.binary(max_size=80), st.integers(0, 1 << 40))
def test_no_ends_are_taken_for_those_of_a_digest(header: bytes, footer: bytes, size: int) -> None:
    with pytest.raises(DigestError):
        decode_ends(header, footer, size)


def test_a_later_version_is_not_read() -> None:
    data = bytearray(encode([])[0])
    data[5] = 2
    with pytest.raises(DigestError, match="version"):
        decode(data)


def test_ranges_are_values_to_compare() -> None:
    (only,) = decode(encode([(0, 100, 1, 2, 3, 4)])[0])[2]
    assert only == DigestRange(BASE, BASE + 4, 0, 100, 1, only.digest)
