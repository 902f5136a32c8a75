"""A leader refuses as Kafka does, in Kafka's order, and leaves the log untouched when it refuses."""

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.effects import Append
from brokers.errors import KafkaError, Refusal
from brokers.ids import OFFSET_MAX
from brokers.log.config import LogConfig
from brokers.partition import leader, mirror
from brokers.partition.replica import Replica
from brokers.records.batch import parse_header, renew_crc, verify_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.records.recompression import Recompressed, recompressed
from tests.unit.brokers.partition.replicas import NOW, PARTITION, batch, open_replica


def patched(data: bytearray, at: int, form: str, value: int, *, renew: bool = True) -> bytearray:
    struct.pack_into(form, data, at, value)
    if renew:
        renew_crc(data, 0, len(data))
    return data


def refused(replica: Replica, data: bytearray | None, version: int = 9) -> KafkaError:
    assert replica.log is not None
    before = replica.log.log_end_offset
    with pytest.raises(Refusal) as caught:
        leader.append(replica, data, version, NOW)
    assert replica.log.log_end_offset == before
    return caught.value.error


ATTRIBUTES, LAST_DELTA, COUNT, MAGIC, LENGTH = 21, 23, 57, 16, 8


def batch_that_claims(count: int) -> bytearray:
    """More records than its bytes could hold."""
    return patched(patched(batch(), COUNT, ">i", count), LAST_DELTA, ">i", count - 1)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (None, KafkaError.INVALID_RECORD),
        (bytearray(), KafkaError.INVALID_RECORD),
        (batch()[:60], KafkaError.CORRUPT_MESSAGE),
        (batch() + batch(), KafkaError.INVALID_RECORD),
        (batch()[:-1], KafkaError.CORRUPT_MESSAGE),
        (patched(batch(), MAGIC, ">b", 1), KafkaError.INVALID_RECORD),
        (patched(batch(), MAGIC, ">b", 0), KafkaError.INVALID_RECORD),
        (patched(batch(), LENGTH, ">i", 3), KafkaError.CORRUPT_MESSAGE),
        (patched(batch(), LENGTH, ">i", -1), KafkaError.CORRUPT_MESSAGE),
        (patched(batch(), 70, ">b", 99, renew=False), KafkaError.CORRUPT_MESSAGE),
        (batch(base_offset=1), KafkaError.INVALID_RECORD),
        (patched(batch(), COUNT, ">i", 0), KafkaError.INVALID_RECORD),
        (patched(batch(2), LAST_DELTA, ">i", 2), KafkaError.INVALID_RECORD),
        (patched(batch(), ATTRIBUTES, ">h", 0x20), KafkaError.INVALID_RECORD),
        (patched(batch(), ATTRIBUTES, ">h", 0x10), KafkaError.INVALID_TXN_STATE),
        (patched(batch(), ATTRIBUTES, ">h", 0x05), KafkaError.INVALID_RECORD),
        (batch_that_claims(10**6), KafkaError.INVALID_RECORD),
        (patched(batch(), ATTRIBUTES, ">h", 0x08), KafkaError.INVALID_TIMESTAMP),
        (batch(producer_id=7, producer_epoch=0, base_sequence=-1), KafkaError.INVALID_RECORD),
        (batch(timestamp=NOW + 3_600_001), KafkaError.INVALID_TIMESTAMP),
    ],
)
def test_what_a_leader_refuses(data: bytearray | None, error: KafkaError) -> None:
    assert refused(open_replica(), data) is error


def test_sizes_are_bounded_by_message_and_segment() -> None:
    small = open_replica(config=LogConfig(max_message_bytes=60))
    assert refused(small, batch()) is KafkaError.MESSAGE_TOO_LARGE
    narrow = open_replica(config=LogConfig(segment_bytes=60))
    assert refused(narrow, batch()) is KafkaError.RECORD_LIST_TOO_LARGE


def test_zstd_needs_produce_version_7() -> None:
    data = patched(batch(), ATTRIBUTES, ">h", 0x04)
    assert refused(open_replica(), data, version=6) is KafkaError.UNSUPPORTED_COMPRESSION_TYPE
    assert leader.append(open_replica(), data, 7, NOW).base_offset == 0


def test_timestamps_before_the_bound_are_refused_and_append_time_lifts_it() -> None:
    bounded = open_replica(config=LogConfig(timestamp_before_max_ms=1_000))
    assert refused(bounded, batch(timestamp=NOW - 1_001)) is KafkaError.INVALID_TIMESTAMP
    assert leader.append(bounded, batch(timestamp=NOW - 1_000), 9, NOW).base_offset == 0


def test_append_time_stamps_the_batch_and_keeps_its_checksum_right() -> None:
    data = batch(3, timestamp=NOW - 5)
    done = leader.append(open_replica(config=LogConfig(append_time=True)), data, 9, NOW)
    header = parse_header(data)
    assert done.append_time == NOW
    assert header.is_append_time and header.max_timestamp == NOW and verify_crc(data, header)


def test_a_partition_whose_log_is_still_being_opened_sends_producers_round_once_more() -> None:
    replica = Replica(
        PARTITION, topic_id=bytes(16), leader_epoch=1, writer=None, config=LogConfig()
    )
    with pytest.raises(Refusal) as caught:
        leader.append(replica, batch(), 9, NOW)
    assert caught.value.error is KafkaError.NOT_LEADER_OR_FOLLOWER


def test_an_offline_partition_says_so() -> None:
    replica = open_replica()
    replica.failed("disk full", NOW)
    with pytest.raises(Refusal) as caught:
        leader.append(replica, batch(), 9, NOW)
    assert caught.value.error is KafkaError.KAFKA_STORAGE_ERROR
    assert "disk full" in caught.value.because


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_offsets_are_given_without_gaps_and_stamped_into_the_bytes(counts: list[int]) -> None:
    replica = open_replica(leader_epoch=9)
    expected = 0
    for count in counts:
        data = batch(count)
        done = leader.append(replica, data, 9, NOW)
        header = parse_header(data)
        assert (done.base_offset, done.next_offset) == (expected, expected + count)
        assert (header.base_offset, header.leader_epoch) == (expected, 9)
        assert verify_crc(data, header)
        assert [type(effect) for effect in done.effects][-1] is Append
        expected += count


def test_each_of_the_last_five_batches_is_recognised_when_it_comes_again() -> None:
    replica = open_replica()
    for sequence in range(6):
        again = batch(producer_id=5, producer_epoch=0, base_sequence=sequence)
        leader.append(replica, again, 9, NOW)
    assert replica.log is not None
    for sequence in range(1, 6):
        again = batch(producer_id=5, producer_epoch=0, base_sequence=sequence)
        done = leader.append(replica, again, 9, NOW)
        assert (done.base_offset, list(done.effects)) == (sequence, [])
    assert replica.log.log_end_offset == 6
    gap = batch(producer_id=5, producer_epoch=0, base_sequence=8)
    assert refused(replica, gap) is KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_log_without_offsets_left_refuses_and_the_node_goes_on() -> None:
    """A failed-over mirror that a source had made to skip that far ended the node at its second produce."""
    replica = open_replica(writer="link")
    mirror.skip_to(replica, "link", OFFSET_MAX - 2)
    replica.begin_leader_epoch(4, None)
    assert leader.append(replica, batch(2), 9, NOW).next_offset == OFFSET_MAX
    with pytest.raises(Refusal, match="no offsets left") as caught:
        leader.append(replica, batch(1), 9, NOW)
    assert caught.value.error is KafkaError.OFFSET_OUT_OF_RANGE


# --- compression.type ---


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_a_topics_codec_is_that_of_every_batch_in_its_log(codec: int) -> None:
    replica = open_replica(config=LogConfig(codec=codec, compression_level=1))
    for sent in range(5):
        data = recompressed(batch(3), parse_header(batch(3)), sent, 1)
        done = leader.append(replica, memoryview(data), 9, NOW)
        (append,) = [each for each in done.effects if isinstance(each, Append)]
        (header,), (stored,) = append.headers, append.buffers
        assert header.compression == codec and verify_crc(stored, parse_header(stored))
        assert header == parse_header(stored) and header.base_offset == 3 * sent
        assert (stored is not data) or sent == codec
        if sent == codec:
            assert isinstance(stored, memoryview) and stored.obj is data, "kept as it came"


def test_a_batch_that_was_compressed_beforehand_is_taken_where_the_topic_still_wants_that() -> None:
    config = LogConfig(codec=4, compression_level=3)
    expected = stored(open_replica(config=config), batch(200))
    made = leader.recompression(open_replica(config=config), batch(200))
    assert made is not None
    ready = made.run()
    assert stored(open_replica(config=config), batch(200), ready) == expected
    for other in (replace(config, compression_level=1), LogConfig(codec=3, compression_level=9)):
        expected = stored(open_replica(config=other), batch(200))
        assert stored(open_replica(config=other), batch(200), made.run()) == expected
    data = batch(200)
    assert stored(open_replica(), data, made.run()) == bytes(
        data
    )  # the topic has no codec any more


def stored(replica: Replica, data: bytearray, ready: Recompressed | None = None) -> bytes:
    done = leader.append(replica, memoryview(data), 9, NOW, ready)
    (append,) = [each for each in done.effects if isinstance(each, Append)]
    return bytes(append.buffers[0])


@pytest.mark.parametrize(
    ("data", "config"),
    [
        (batch(3), LogConfig()),
        (recompressed(batch(3), parse_header(batch(3)), 4, 3), LogConfig(codec=4)),
        (batch(3)[:-1], LogConfig(codec=4)),
        (batch(3)[:10], LogConfig(codec=4)),
        (batch(3), LogConfig(codec=4, max_message_bytes=60)),
    ],
)
def test_nothing_is_compressed_beforehand_that_is_kept_or_refused(
    data: bytearray, config: LogConfig
) -> None:
    assert leader.recompression(open_replica(config=config), data) is None


def test_nothing_is_compressed_beforehand_for_a_mirror() -> None:
    replica = open_replica(config=LogConfig(codec=4))
    assert leader.recompression(replica, batch(3)) is not None
    replica.writer = "link"
    assert leader.recompression(replica, batch(3)) is None


def test_a_producers_batch_is_kept_as_it_came_by_default() -> None:
    replica = open_replica()
    data = recompressed(batch(3), parse_header(batch(3)), 3, 17)
    done = leader.append(replica, memoryview(data), 9, NOW)
    (append,) = [each for each in done.effects if isinstance(each, Append)]
    assert append.buffers[0].obj is data  # type: ignore[union-attr]


def test_a_batch_that_grows_beyond_the_topics_limit_is_refused() -> None:
    data = recompressed(long := batch(200), parse_header(long), 4, 3)
    config = LogConfig(codec=0, max_message_bytes=len(data) + 10)
    assert len(long) > len(data) + 10
    assert refused(open_replica(config=config), data) is KafkaError.MESSAGE_TOO_LARGE


def test_what_cannot_be_decompressed_is_refused_only_where_it_must_be_opened() -> None:
    data = patched(batch(), ATTRIBUTES, ">h", 0x04)
    assert refused(open_replica(config=LogConfig(codec=1)), data) is KafkaError.CORRUPT_MESSAGE
    data = patched(batch(), ATTRIBUTES, ">h", 0x04)
    assert leader.append(open_replica(), memoryview(data), 9, NOW).base_offset == 0


def test_an_append_time_and_a_codec_go_together() -> None:
    replica = open_replica(config=LogConfig(codec=4, compression_level=3, append_time=True))
    done = leader.append(replica, memoryview(batch(2)), 9, NOW + 5)
    (append,) = [each for each in done.effects if isinstance(each, Append)]
    header = append.headers[0]
    assert (header.compression, header.is_append_time, header.max_timestamp) == (4, True, NOW + 5)
    assert verify_crc(append.buffers[0], header)


def test_a_compacted_topic_takes_no_record_without_a_key() -> None:
    keyless = build_batch([NewRecord(b"k", b""), NewRecord(None, b"v")], timestamp=NOW)
    compacted = open_replica(config=LogConfig(compact=True))
    with pytest.raises(Refusal, match=r"cannot accept message without key.*record 1") as caught:
        leader.append(compacted, keyless, 9, NOW)
    assert caught.value.error is KafkaError.INVALID_RECORD
    # What can't be read would end the compaction of the whole log.
    assert refused(compacted, patched(batch(), 64, ">b", 98)) is KafkaError.INVALID_RECORD
    assert leader.append(compacted, batch(2), 9, NOW).next_offset == 2
    assert leader.append(open_replica(), keyless, 9, NOW).next_offset == 2
