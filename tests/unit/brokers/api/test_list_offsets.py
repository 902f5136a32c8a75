"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords and ApiVersions at every version, through the whole broker."""

from typing import Any

import pytest

from brokers.api import (
    api_versions,
    delete_records,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from brokers.errors import KafkaError
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.api_versions import ApiVersionsRequest
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.brokers.api.whole import NOW, Whole

TIMES = [(100, 300, 200), (50, 400)]  # of two batches; offsets 0-2 and 3-4


@pytest.fixture
def whole() -> Whole:
    one = Whole()
    one.create("t")
    for times in TIMES:
        records = [NewRecord(key=None, value=b"v", timestamp=NOW + time) for time in times]
        data = [PartitionProduceData(index=0, records=build_batch(records, timestamp=NOW))]
        topics = [TopicProduceData(name="t", partition_data=data)]
        one.ask(produce, 9, ProduceRequest(acks=-1, topic_data=topics))
    return one


def look_up(whole: Whole, version: int, timestamp: int, **fields: Any) -> Any:
    asked = ListOffsetsPartition(timestamp=timestamp, **fields)
    topics = [ListOffsetsTopic(name="t", partitions=[asked])]
    message = ListOffsetsRequest(replica_id=-1, topics=topics)
    return whole.ask(list_offsets, version, message).topics[0].partitions[0]


@pytest.mark.parametrize("version", range(1, 12))
@pytest.mark.parametrize(
    ("timestamp", "offset", "found"),
    [
        (-1, 5, -1),
        (-2, 0, -1),
        (NOW, 0, 100),
        (NOW + 101, 1, 300),
        (NOW + 300, 1, 300),
        (NOW + 301, 4, 400),
        (NOW + 401, -1, None),
    ],
)
def test_the_first_record_at_or_after_an_instant(
    whole: Whole, version: int, timestamp: int, offset: int, found: int | None
) -> None:
    item = look_up(whole, version, timestamp)
    assert (item.error_code, item.offset) == (0, offset)
    assert item.timestamp == (-1 if found in (None, -1) else NOW + found)
    known = version >= 4 and offset >= 0
    assert item.leader_epoch == (0 if known else -1)


@pytest.mark.parametrize(
    ("timestamp", "first_version", "offset"), [(-3, 7, 4), (-4, 8, 0), (-5, 9, -1), (-6, 11, -1)]
)
def test_special_timestamps_from_the_version_that_has_them(
    whole: Whole, timestamp: int, first_version: int, offset: int
) -> None:
    before = look_up(whole, first_version - 1, timestamp)
    assert before.error_code == KafkaError.UNSUPPORTED_VERSION
    item = look_up(whole, first_version, timestamp)
    assert (item.error_code, item.offset) == (0, offset)


def test_unknown_special_timestamps_and_partitions_are_refused(whole: Whole) -> None:
    assert look_up(whole, 11, -7).error_code == KafkaError.UNSUPPORTED_VERSION
    unknown = look_up(whole, 11, -1, partition_index=3)
    assert unknown.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    fenced = look_up(whole, 11, -1, current_leader_epoch=9)
    assert fenced.error_code == KafkaError.UNKNOWN_LEADER_EPOCH


@pytest.mark.parametrize("version", range(1, 12))
def test_a_partition_that_is_asked_for_twice_is_refused_each_time(
    whole: Whole, version: int
) -> None:
    whole.create("u", 2)
    topics = [
        ListOffsetsTopic(name=name, partitions=[ListOffsetsPartition(**asked) for asked in each])
        for name, each in (
            ("t", [{"timestamp": NOW}]),
            ("u", [{"partition_index": 1, "timestamp": -2}, {"timestamp": -2}]),
            ("t", [{"timestamp": -1}]),
        )
    ]
    answer = whole.ask(list_offsets, version, ListOffsetsRequest(replica_id=-1, topics=topics))
    told = [(item.error_code, item.offset) for topic in answer.topics for item in topic.partitions]
    refused = (KafkaError.INVALID_REQUEST, -1)
    assert told == [refused, (0, 0), (0, 0), refused]


@pytest.mark.parametrize("version", range(2, 5))
@pytest.mark.parametrize(("epoch", "answer"), [(0, (0, 5)), (1, (-1, -1)), (-1, (-1, -1))])
def test_where_a_leader_epoch_ended(
    whole: Whole, version: int, epoch: int, answer: tuple[int, int]
) -> None:
    asked = OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
    topics = [OffsetForLeaderTopic(topic="t", partitions=[asked])]
    message = OffsetForLeaderEpochRequest(replica_id=-1, topics=topics)
    item = whole.ask(offset_for_leader_epoch, version, message).topics[0].partitions[0]
    assert (item.error_code, (item.leader_epoch, item.end_offset)) == (0, answer)


@pytest.mark.parametrize("version", range(3))
def test_records_are_deleted_up_to_an_offset_or_the_high_watermark(
    whole: Whole, version: int
) -> None:
    def delete(offset: int) -> Any:
        asked = DeleteRecordsPartition(partition_index=0, offset=offset)
        message = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name="t", partitions=[asked])])
        return whole.ask(delete_records, version, message).topics[0].partitions[0]

    assert delete(6).error_code == KafkaError.OFFSET_OUT_OF_RANGE
    assert delete(-2).error_code == KafkaError.OFFSET_OUT_OF_RANGE
    for offset, low in ((2, 2), (1, 2), (-1, 5)):
        item = delete(offset)
        assert (item.error_code, item.low_watermark) == (0, low)
        assert look_up(whole, 5, -2).offset == low


@pytest.mark.parametrize("version", range(5))
def test_api_versions_lists_what_is_served(version: int) -> None:
    named = {"client_software_name": "a-client", "client_software_version": "1.0"}
    message = ApiVersionsRequest(**(named if version >= 3 else {}))
    answer = Whole().ask(api_versions, version, message)
    ranges = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert answer.error_code == 0
    assert (ranges[0], ranges[1], ranges[18]) == ((0, 13), (4, 18), (0, 4))
    assert not {24, 25, 26, 28, 68, 71} & ranges.keys()


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "ä"])
def test_an_ill_named_client_is_told_so(name: str) -> None:
    message = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert Whole().ask(api_versions, 3, message).error_code == KafkaError.INVALID_REQUEST
