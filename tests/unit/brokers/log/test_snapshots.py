import struct

import crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.producers import Duplicate, Producer, ProducerStates, RememberedBatch
from brokers.log.snapshots import SnapshotError, decode_snapshot, encode_snapshot
from tests.unit.brokers.log.test_producers import PID, after, header

INT32 = 2**31


@st.composite
def batches(draw: st.DrawFn) -> RememberedBatch:
    offset, count = draw(st.integers(0, 2**60)), draw(st.integers(1, 1_000))
    sequence = draw(st.integers(0, INT32 - 1))
    last = (sequence + count - 1) % INT32
    return RememberedBatch(sequence, last, offset, offset + count, -1)


@st.composite
def producers(draw: st.DrawFn) -> Producer:
    producer = Producer(
        draw(st.integers(0, 2**15 - 1)),
        draw(st.integers(-1, 2**62)),
        draw(st.integers(-1, 2**31 - 1)),
        draw(st.integers(-1, 2**62)),
    )
    producer.batches.extend(draw(st.lists(batches(), max_size=5)))
    return producer


states = st.dictionaries(st.integers(0, 2**62), producers(), max_size=5).map(ProducerStates)


@given(states)
def test_everything_about_a_producer_comes_back(given_states: ProducerStates) -> None:
    assert list(decode_snapshot(encode_snapshot(given_states))) == list(given_states)


def test_the_bytes_are_kafkas() -> None:
    data = encode_snapshot(after(header(7, 3, offset=40, epoch=2)))
    version, crc, count = struct.unpack_from(">hIi", data)
    assert (version, count) == (1, 1)
    assert crc == crc32c.crc32c(data[6:])
    # producer id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, transaction offset
    assert struct.unpack(">qhiqiqiq", data[10:]) == (PID, 2, 9, 42, 2, 1_000, -1, -1)


def test_what_follows_kafkas_entries_is_our_memory_of_older_batches() -> None:
    snapshot = encode_snapshot(after(*[header(number, offset=number) for number in range(7)]))
    restored = decode_snapshot(snapshot)
    for number in range(2, 7):
        assert restored.check(header(number)) == Duplicate(number, number + 1, -1)


def test_a_snapshot_of_kafka_itself_is_read() -> None:
    entry = struct.pack(">qhiqiqiq", PID, 0, 4, 99, 4, 5, -1, -1)
    body = struct.pack(">i", 1) + entry
    restored = decode_snapshot(struct.pack(">hI", 1, crc32c.crc32c(body)) + body)
    assert restored.check(header(0, 5)) == Duplicate(95, 100, -1)


def test_every_truncation_and_every_flipped_byte_is_seen() -> None:
    data = encode_snapshot(after(header(0, 2), header(2, 2), header(0, pid=PID + 1)))
    for position in range(len(data)):
        with pytest.raises(SnapshotError):
            decode_snapshot(data[:position])
        flipped = bytearray(data)
        flipped[position] ^= 0x40
        with pytest.raises(SnapshotError):
            decode_snapshot(flipped)


@given(st.binary(max_size=200))
def test_any_body_below_a_right_checksum_is_read_or_refused(body: bytes) -> None:
    data = struct.pack(">hI", 1, crc32c.crc32c(body)) + body
    try:
        restored = decode_snapshot(data)
    except SnapshotError:
        return
    assert len(restored) <= len(body)
