import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.records.batch import (
    HEADER_SIZE,
    BatchError,
    BatchHeader,
    iter_headers,
    pack_header,
    parse_header,
    slice_batches,
    stamp,
    stamp_append_time,
    verify_crc,
)
from brokers.records.record import open_batch
from tests.unit.brokers.records.batches import one_batch, with_field

int16 = st.integers(-(2**15), 2**15 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
any_header = st.builds(
    BatchHeader,
    base_offset=int64,
    length=st.integers(HEADER_SIZE, 2**31 - 1),
    leader_epoch=int32,
    magic=st.just(2),
    crc=st.integers(0, 2**32 - 1),
    attributes=int16,
    last_offset_delta=int32,
    base_timestamp=int64,
    max_timestamp=int64,
    producer_id=int64,
    producer_epoch=int16,
    base_sequence=int32,
    record_count=int32,
)


@given(any_header, st.integers(0, 20))
def test_a_header_is_read_as_it_was_written(header: BatchHeader, shift: int) -> None:
    buffer = bytearray(HEADER_SIZE)
    pack_header(buffer, header)
    assert parse_header(bytes(shift) + buffer, shift) == header


@given(st.binary(max_size=200), st.integers(0, 100))
def test_any_bytes_are_a_header_or_refused(data: bytes, position: int) -> None:
    try:
        header = parse_header(data, position)
    except BatchError:
        return
    assert header.magic == 2
    assert header.length >= HEADER_SIZE
    assert len(data) - position >= HEADER_SIZE


@pytest.mark.parametrize(
    ("magic", "error"),
    [
        (0, KafkaError.INVALID_RECORD),
        (1, KafkaError.INVALID_RECORD),
        (3, KafkaError.CORRUPT_MESSAGE),
        (127, KafkaError.CORRUPT_MESSAGE),
        (255, KafkaError.CORRUPT_MESSAGE),
    ],
)
def test_another_magic_is_refused_with_kafkas_error(magic: int, error: KafkaError) -> None:
    batch = one_batch()
    batch[16] = magic
    with pytest.raises(BatchError, match="record format") as refused:
        parse_header(batch)
    assert refused.value.error == error


def test_an_old_message_shorter_than_a_batch_header_is_called_old_and_not_damaged() -> None:
    message = bytearray(40)
    message[16] = 1
    with pytest.raises(BatchError) as refused:
        parse_header(message)
    assert refused.value.error == KafkaError.INVALID_RECORD


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 48])
def test_a_length_that_has_no_room_for_the_header_is_damage(length: int) -> None:
    batch = one_batch()
    batch[8:12] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(BatchError) as refused:
        parse_header(batch)
    assert refused.value.error == KafkaError.CORRUPT_MESSAGE
    with pytest.raises(BatchError):
        slice_batches(batch, 0, 10, 1000, at_least_one=True)


def test_every_truncation_of_a_header_is_refused() -> None:
    batch = one_batch()
    for size in range(HEADER_SIZE):
        with pytest.raises(BatchError):
            parse_header(batch[:size])


def test_properties_of_a_header_follow_its_fields() -> None:
    header = parse_header(one_batch(3, base_offset=7, producer_id=1, base_sequence=2**31 - 2))
    assert header.next_offset == 10
    assert header.last_sequence == 0  # 2^31 - 2, 2^31 - 1, 0
    assert header.compression == 0
    assert not (header.is_control or header.is_transactional or header.is_append_time)
    assert parse_header(one_batch()).last_sequence == -1
    marker = parse_header(one_batch(is_control=True, transactional=True))
    assert marker.is_control
    assert marker.is_transactional


def test_any_flipped_bit_behind_the_checksum_is_seen() -> None:
    batch = one_batch(2)
    header = parse_header(batch)
    assert verify_crc(batch, header)
    for position in range(17, len(batch)):
        for bit in range(8):
            batch[position] ^= 1 << bit
            assert not verify_crc(batch, header._replace(crc=int.from_bytes(batch[17:21], "big")))
            batch[position] ^= 1 << bit


def test_a_batch_that_is_cut_short_fails_its_checksum() -> None:
    batch = one_batch()
    header = parse_header(batch)
    assert not any(verify_crc(batch[:size], header) for size in range(len(batch)))


@given(st.integers(0, 2**63 - 1), st.integers(-1, 2**31 - 1), st.integers(0, 5))
def test_a_stamp_changes_two_fields_and_leaves_the_checksum_right(
    offset: int, leader_epoch: int, shift: int
) -> None:
    buffer = bytearray(shift) + one_batch(2)
    before = parse_header(buffer, shift)
    stamp(memoryview(buffer), shift, offset, leader_epoch)
    after = parse_header(buffer, shift)
    assert after == before._replace(base_offset=offset, leader_epoch=leader_epoch)
    assert verify_crc(buffer[shift:], after)


def test_append_time_is_every_records_time_and_the_checksum_is_renewed() -> None:
    buffer = bytearray(3) + one_batch(2, timestamp=5)
    header = stamp_append_time(buffer, 3, 77)
    assert header.is_append_time
    assert header.max_timestamp == 77
    assert verify_crc(buffer[3:], header)
    assert [record.timestamp for record in open_batch(buffer[3:])] == [77, 77]


def test_headers_are_iterated_up_to_a_torn_tail() -> None:
    first, second = one_batch(2), one_batch(1, base_offset=2)
    whole = bytes(first + second)
    for size in range(len(whole) + 1):
        found = [position for position, _ in iter_headers(whole[:size])]
        expected = [0] if len(first) <= size else []
        assert found == (expected if size < len(whole) else [0, len(first)])


def test_damage_between_batches_is_raised_and_not_skipped() -> None:
    damaged = with_field(one_batch(base_offset=1), 16, b"\x07")
    headers = iter_headers(bytes(one_batch() + damaged))
    assert next(headers)[0] == 0
    with pytest.raises(BatchError):
        next(headers)


# Batches of a log: (records, gap before the batch).
layouts = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=8)


@given(
    layouts,
    st.integers(0, 40),
    st.integers(0, 45),
    st.integers(0, 700),
    st.integers(0, 60),
    st.booleans(),
)
def test_a_slice_is_what_a_simple_filter_finds(
    layout: list[tuple[int, int]],
    offset: int,
    bound: int,
    size_max: int,
    torn: int,
    at_least_one: bool,
) -> None:
    buffer, expected, base = bytearray(), [], 0
    for count, gap in layout:
        batch = one_batch(count, base_offset=base + gap)
        expected.append((len(buffer), len(buffer) + len(batch), base + gap + count))
        buffer += batch
        base += gap + count
    data = bytes(buffer[: len(buffer) - torn] if torn < len(buffer) else buffer)
    wanted = []
    for start, end, following in expected:
        if following <= offset:
            continue
        if end > len(data) or following > bound:
            break
        size = end - (wanted[0][0] if wanted else start)
        if size > size_max and not (at_least_one and not wanted):
            break
        wanted.append((start, end, following))
    found = slice_batches(data, offset, bound, size_max, at_least_one=at_least_one)
    assert found == ((wanted[0][0], wanted[-1][1], wanted[-1][2]) if wanted else (0, 0, offset))
