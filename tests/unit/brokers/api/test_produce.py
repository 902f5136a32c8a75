"""Produce at every version, through the whole broker."""

import uuid

import pytest

from brokers.api import list_offsets, produce
from brokers.errors import KafkaError
from brokers.events import TimeReached
from brokers.ids import TopicPartition
from brokers.records.batch import parse_header
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.brokers.api.whole import HUNG_UP, NOW, Whole
from tests.unit.brokers.partition.replicas import batch

VERSIONS = range(3, 14)


def send(whole: Whole, version: int, data: bytearray | None, **fields: object):  # type: ignore[no-untyped-def]
    return whole.ask(produce, version, request(whole, version, [(0, data)], **fields))


def request(
    whole: Whole, version: int, partitions: list[tuple[int, bytearray | None]], **fields: object
) -> ProduceRequest:
    naming = {"name": "t"} if version < 13 else {"topic_id": whole.topic_id("t")}
    parts = [PartitionProduceData(index=index, records=data) for index, data in partitions]
    settings = {"acks": -1, "timeout_ms": 1000, **fields}
    return ProduceRequest(topic_data=[TopicProduceData(partition_data=parts, **naming)], **settings)


def end(whole: Whole, partition: int = 0) -> int:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=-1)
    topics = [ListOffsetsTopic(name="t", partitions=[asked])]
    answer = whole.ask(list_offsets, 5, ListOffsetsRequest(replica_id=-1, topics=topics))
    offset: int = answer.topics[0].partitions[0].offset
    return offset


@pytest.fixture
def whole() -> Whole:
    one = Whole()
    one.create("t", 2)
    return one


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [-1, 1])
def test_a_batch_is_acknowledged_with_its_offset(whole: Whole, version: int, acks: int) -> None:
    for expected in (0, 3):
        (topic,) = send(whole, version, batch(3), acks=acks).responses
        (item,) = topic.partition_responses
        assert (item.index, item.error_code, item.base_offset) == (0, 0, expected)
        assert item.log_append_time_ms == -1
        assert item.log_start_offset == (0 if version >= 5 else -1)
    assert end(whole) == 6


@pytest.mark.parametrize("version", VERSIONS)
def test_partitions_of_one_request_succeed_and_fail_apart(whole: Whole, version: int) -> None:
    damaged = batch()
    damaged[-1] ^= 1
    answer = whole.ask(
        produce, version, request(whole, version, [(0, damaged), (1, batch()), (7, batch())])
    )
    errors = [item.error_code for item in answer.responses[0].partition_responses]
    unknown = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    assert errors == [KafkaError.CORRUPT_MESSAGE, KafkaError.NONE, unknown]
    assert (end(whole, 0), end(whole, 1)) == (0, 1)


def test_acks_0_is_not_answered_and_an_error_closes_the_connection(whole: Whole) -> None:
    assert send(whole, 9, batch(), acks=0) is None
    assert end(whole) == 1
    damaged = batch()
    damaged[-1] ^= 1
    assert send(whole, 9, damaged, acks=0) == HUNG_UP


@pytest.mark.parametrize("acks", [2, -2])
def test_other_acks_are_refused_for_each_partition(whole: Whole, acks: int) -> None:
    (topic,) = send(whole, 9, batch(), acks=acks).responses
    assert topic.partition_responses[0].error_code == KafkaError.INVALID_REQUIRED_ACKS


def test_a_transactional_producer_is_refused_clearly(whole: Whole) -> None:
    (topic,) = send(whole, 9, batch(), transactional_id="tx").responses
    item = topic.partition_responses[0]
    assert item.error_code == KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert "not supported" in item.error_message


def test_an_unknown_topic_id_is_told_apart_from_an_unknown_topic(whole: Whole) -> None:
    parts = [PartitionProduceData(index=0, records=batch())]
    by_id = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(topic_id=uuid.UUID(int=404), partition_data=parts)]
    )
    by_name = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name="no", partition_data=parts)]
    )
    codes = [
        whole.ask(produce, version, message).responses[0].partition_responses[0].error_code
        for version, message in ((13, by_id), (12, by_name))
    ]
    assert codes == [KafkaError.UNKNOWN_TOPIC_ID, KafkaError.UNKNOWN_TOPIC_OR_PARTITION]


def test_internal_topics_are_written_by_the_brokers_only(whole: Whole) -> None:
    parts = [PartitionProduceData(index=0, records=batch())]
    message = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name="__consumer_offsets", partition_data=parts)]
    )
    (topic,) = whole.ask(produce, 9, message).responses
    assert topic.partition_responses[0].error_code == KafkaError.INVALID_TOPIC_EXCEPTION


def test_a_retry_is_acknowledged_with_its_first_offset_and_stored_once(whole: Whole) -> None:
    for _ in range(2):
        again = batch(2, producer_id=9, producer_epoch=0, base_sequence=0)
        (topic,) = send(whole, 9, again).responses
        assert topic.partition_responses[0].base_offset == 0
    assert end(whole) == 2


def test_append_time_is_told_to_the_producer() -> None:
    whole = Whole()
    whole.create("t", message_timestamp_type="LogAppendTime")
    (topic,) = send(whole, 9, batch(timestamp=NOW - 99_999)).responses
    assert topic.partition_responses[0].log_append_time_ms == NOW


def test_with_flush_messages_1_the_acknowledgement_comes_after_the_sync() -> None:
    whole = Whole()
    whole.create("t", flush_messages="1")
    (topic,) = send(whole, 9, batch()).responses
    assert topic.partition_responses[0].error_code == 0
    assert whole.storage.unsynced == {}


# --- topics that say how their batches are stored ---


def synced_to(whole: Whole) -> int:
    log = whole.storage.opened(TopicPartition("t", 0))
    assert log is not None
    return log.synced_offset


def test_flush_ms_syncs_what_has_waited_so_long_and_acknowledges_before() -> None:
    whole = Whole()
    whole.create("t", flush_ms="200")
    (topic,) = send(whole, 9, batch(3)).responses
    assert topic.partition_responses[0].error_code == 0 and synced_to(whole) == 0
    for _ in range(
        60
    ):  # at the next checkpoint it learns of the topic, from then on it looks twice in 200 ms
        whole.now += 100
        whole.feed(TimeReached())
    assert synced_to(whole) == 3
    send(whole, 9, batch(2))
    whole.now += 100
    whole.feed(TimeReached())
    assert synced_to(whole) == 3
    whole.now += 100
    whole.feed(TimeReached())
    assert synced_to(whole) == 5


def test_flush_messages_syncs_every_so_many_records() -> None:
    whole = Whole()
    whole.create("t", flush_messages="4")
    ends = []
    for _ in range(4):
        send(whole, 9, batch(2))
        ends.append(synced_to(whole))
    assert ends == [0, 4, 4, 8]


def test_a_topics_codec_is_in_its_log_and_may_be_changed() -> None:
    whole = Whole()
    whole.create("t", compression_type="zstd")
    send(whole, 9, batch(200))
    log = whole.storage.opened(TopicPartition("t", 0))
    assert log is not None
    data, _ = log.read(0, 200, 1 << 20, at_least_one=True)
    assert parse_header(data).compression == 4 and len(data) < len(batch(200))
    assert end(whole) == 200


@pytest.mark.parametrize(("interval", "entries"), [("0", 9), ("1000000", 0)])
def test_a_topics_index_interval_is_that_of_its_segments(interval: str, entries: int) -> None:
    whole = Whole()
    whole.create("t", index_interval_bytes=interval)
    for _ in range(10):
        send(whole, 9, batch(2))
    log = whole.storage.opened(TopicPartition("t", 0))
    assert log is not None and len(log.active.index) == entries
    replica = whole.broker.parts.partitions.all[TopicPartition("t", 0)]
    assert replica.log is not None and replica.log.segments[-1].index_entries == entries


def test_a_full_index_seals_a_segment_of_a_topic() -> None:
    whole = Whole()
    whole.create("t", index_interval_bytes="0", segment_index_bytes="60")
    for _ in range(10):
        send(whole, 9, batch(1))
    log = whole.storage.opened(TopicPartition("t", 0))
    assert log is not None and [each.base_offset for each in log.segments] == [0, 5]
