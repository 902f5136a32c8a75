"""Fetch at every version, through the whole broker: bounds, budgets, long polls, histories."""

import uuid
from typing import Any

import pytest

from brokers.api import delete_records, delete_topics, fetch, produce
from brokers.errors import KafkaError
from brokers.events import Disconnected
from brokers.ids import TopicPartition
from brokers.records.batch import iter_headers
from brokers.wire.codec import encode_response
from brokers.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from brokers.wire.messages.topics import DeleteTopicsRequest
from tests.unit.brokers.api.whole import Whole
from tests.unit.brokers.partition.replicas import batch

VERSIONS = range(4, 19)


def filled(*counts: int, partitions: int = 1) -> Whole:
    """A topic `t` whose partition 0 holds batches of these many records."""
    whole = Whole()
    whole.create("t", partitions)
    for count in counts:
        put(whole, count)
    return whole


def put(whole: Whole, count: int = 1, partition: int = 0) -> None:
    data = [PartitionProduceData(index=partition, records=batch(count))]
    message = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=data)])
    (topic,) = whole.ask(produce, 9, message).responses
    assert topic.partition_responses[0].error_code == 0


def request(whole: Whole, version: int, offset: int = 0, **fields: Any) -> FetchRequest:
    naming = {"topic": "t"} if version < 13 else {"topic_id": whole.topic_id("t")}
    place = {"partition_max_bytes": 1 << 20, **fields.pop("place", {})}
    partitions = fields.pop("partitions", (0,))
    asked = [FetchPartition(partition=index, fetch_offset=offset, **place) for index in partitions]
    settings = {"max_wait_ms": 500, "min_bytes": 1, "max_bytes": 50 << 20, **fields}
    return FetchRequest(topics=[FetchTopic(partitions=asked, **naming)], **settings)


def one(answer: Any) -> Any:
    assert answer.error_code == 0
    return answer.responses[0].partitions[0]


def offsets(item: Any) -> list[int]:
    return [header.base_offset for _, header in iter_headers(item.records)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("offset", "expected"), [(0, [0, 3]), (2, [0, 3]), (3, [3]), (4, [3])])
def test_whole_batches_from_the_one_that_holds_the_offset(
    version: int, offset: int, expected: list[int]
) -> None:
    whole = filled(3, 2)
    item = one(whole.ask(fetch, version, request(whole, version, offset)))
    assert offsets(item) == expected
    assert (item.high_watermark, item.last_stable_offset) == (5, 5)
    assert item.aborted_transactions is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_consumer_gets_nothing_that_kafka_does_not_know(version: int) -> None:
    """Up to where a log was compacted is told to followers (tag 10000, after which a `complete_from` follows)."""
    whole = filled(3, 2)
    log = whole.broker.parts.partitions.all[TopicPartition("t", 0)].log
    assert log is not None
    log.completeness.complete_from = 5
    answer = whole.ask(fetch, version, request(whole, version))
    assert len(one(answer).records) > 0
    tag = bytes.fromhex("904e08") + (5).to_bytes(8, "big")
    sent = b"".join(map(bytes, encode_response(1, version, answer)))
    assert tag not in sent
    one(answer).complete_from = 5
    told = b"".join(map(bytes, encode_response(1, version, answer)))
    assert (tag in told) == (version >= 12)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("offset", [-1, 6, 1 << 40])
def test_an_offset_out_of_range_is_answered_at_once_with_the_bounds(
    version: int, offset: int
) -> None:
    whole = filled(3, 2)
    item = one(whole.ask(fetch, version, request(whole, version, offset)))
    assert item.error_code == KafkaError.OFFSET_OUT_OF_RANGE
    assert (item.high_watermark, len(item.records)) == (5, 0)


def test_below_the_log_start_is_out_of_range() -> None:
    whole = filled(3, 2)
    place = [DeleteRecordsPartition(partition_index=0, offset=3)]
    message = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name="t", partitions=place)])
    (topic,) = whole.ask(delete_records, 2, message).topics
    assert (topic.partitions[0].error_code, topic.partitions[0].low_watermark) == (0, 3)
    item = one(whole.ask(fetch, 11, request(whole, 11, 2)))
    assert (item.error_code, item.log_start_offset) == (KafkaError.OFFSET_OUT_OF_RANGE, 3)
    assert offsets(one(whole.ask(fetch, 11, request(whole, 11, 3)))) == [3]


@pytest.mark.parametrize(
    ("policy", "error"),
    [("compact", KafkaError.POLICY_VIOLATION), ("compact,delete", 0), ("delete", 0)],
)
def test_records_are_deleted_only_where_the_policy_of_the_topic_says_so(
    policy: str, error: int
) -> None:
    whole = Whole()
    whole.create("t", cleanup_policy=policy)
    put(whole, 3)
    place = [DeleteRecordsPartition(partition_index=0, offset=3)]
    message = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name="t", partitions=place)])
    (topic,) = whole.ask(delete_records, 2, message).topics
    assert topic.partitions[0].error_code == error
    assert whole.ask(fetch, 11, request(whole, 11, 0)) is not None
    item = one(whole.ask(fetch, 11, request(whole, 11, 0)))
    assert (item.error_code == 0) == (error != 0)


def test_a_fetch_at_the_end_waits_and_answers_when_something_comes() -> None:
    whole = filled(1)
    ticket = whole.start(fetch, 11, request(whole, 11, 1))
    assert ticket not in whole.answers
    put(whole)
    assert offsets(one(whole.answers[ticket])) == [1]


def test_a_fetch_at_the_end_answers_empty_when_its_time_is_up() -> None:
    whole = filled(1)
    ticket = whole.start(fetch, 11, request(whole, 11, 1, max_wait_ms=300))
    whole.wait(299)
    assert ticket not in whole.answers
    whole.wait(1)
    item = one(whole.answers[ticket])
    assert (item.error_code, len(item.records), item.high_watermark) == (0, 0, 1)
    put(whole)  # nobody is left to be answered twice


def test_a_client_that_goes_takes_its_long_poll_along() -> None:
    whole = filled(1)
    ticket = whole.start(fetch, 11, request(whole, 11, 1, max_wait_ms=(1 << 31) - 1))
    before = whole.broker.deadline
    whole.feed(Disconnected((ticket,)))
    assert before is not None and ticket not in whole.answers
    put(whole)
    whole.wait(1 << 32)
    assert ticket not in whole.answers


def test_a_long_poll_on_a_topic_that_is_deleted_is_answered() -> None:
    whole = filled(1)
    ticket = whole.start(fetch, 11, request(whole, 11, 1))
    whole.ask(delete_topics, 5, DeleteTopicsRequest(topic_names=["t"], timeout_ms=1000))
    item = one(whole.answers[ticket])
    assert item.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def test_min_bytes_gathers_several_batches() -> None:
    whole = filled(partitions=2)
    size = len(batch())
    ticket = whole.start(fetch, 11, request(whole, 11, min_bytes=2 * size + 1, partitions=(0, 1)))
    put(whole, partition=0)
    put(whole, partition=1)
    assert ticket not in whole.answers
    put(whole, partition=0)
    first, second = whole.answers[ticket].responses[0].partitions
    assert (offsets(first), offsets(second)) == ([0, 1], [0])


def test_a_partition_at_its_own_limit_is_not_kept_waiting_for_min_bytes() -> None:
    whole = filled(1, 1, 1)
    asked = request(whole, 11, min_bytes=1 << 20, place={"partition_max_bytes": 1})
    assert offsets(one(whole.ask(fetch, 11, asked))) == [0]


def test_the_first_batch_comes_however_large_and_others_within_the_budget() -> None:
    whole = filled(50, partitions=2)
    put(whole, 50, partition=1)
    asked = request(whole, 11, max_bytes=1, partitions=(0, 1))
    first, second = whole.ask(fetch, 11, asked).responses[0].partitions
    assert (offsets(first), offsets(second)) == ([0], [])


def test_no_wait_and_no_min_bytes_are_answered_at_once() -> None:
    whole = filled()
    for fields in ({"max_wait_ms": 0}, {"min_bytes": 0}):
        assert len(one(whole.ask(fetch, 11, request(whole, 11, **fields))).records) == 0


def test_read_committed_gets_an_empty_list_of_aborted_transactions() -> None:
    whole = filled(1)
    item = one(whole.ask(fetch, 11, request(whole, 11, isolation_level=1)))
    assert (offsets(item), item.aborted_transactions) == ([0], [])


@pytest.mark.parametrize("version", [12, 18])
def test_a_position_on_another_history_is_told_where_ours_parts(version: int) -> None:
    whole = filled(3)
    asked = request(whole, version, 3, place={"last_fetched_epoch": 5})
    assert one(whole.ask(fetch, version, asked)).error_code == KafkaError.OFFSET_OUT_OF_RANGE
    agreed = request(whole, version, 3, place={"last_fetched_epoch": 0}, max_wait_ms=0)
    item = one(whole.ask(fetch, version, agreed))
    assert (item.error_code, item.diverging_epoch) == (0, None)


@pytest.mark.parametrize(
    ("leader_epoch", "error"),
    [(-1, 0), (0, 0), (1, KafkaError.UNKNOWN_LEADER_EPOCH)],
)
def test_the_clients_leader_epoch_is_checked(leader_epoch: int, error: int) -> None:
    whole = filled(1)
    asked = request(whole, 11, place={"current_leader_epoch": leader_epoch})
    assert one(whole.ask(fetch, 11, asked)).error_code == error


def test_sessions_are_declined() -> None:
    whole = filled(1)
    opened = whole.ask(fetch, 11, request(whole, 11, session_epoch=0))
    assert (opened.session_id, offsets(one(opened))) == (0, [0])
    lost = whole.ask(fetch, 11, request(whole, 11, session_id=7, session_epoch=3))
    assert lost.error_code == KafkaError.FETCH_SESSION_ID_NOT_FOUND


def test_unknown_topics_and_ids_are_answered_per_partition() -> None:
    whole = filled(1)
    asked = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)]
    by_id = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[FetchTopic(topic_id=uuid.UUID(int=404), partitions=asked)],
    )
    zero = FetchRequest(max_wait_ms=500, min_bytes=1, topics=[FetchTopic(partitions=asked)])
    by_name = FetchRequest(
        max_wait_ms=500, min_bytes=1, topics=[FetchTopic(topic="no", partitions=asked)]
    )
    unknown_id = KafkaError.UNKNOWN_TOPIC_ID
    assert one(whole.ask(fetch, 13, by_id)).error_code == unknown_id
    assert one(whole.ask(fetch, 13, zero)).error_code == unknown_id
    assert one(whole.ask(fetch, 12, by_name)).error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION
