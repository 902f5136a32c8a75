"""What the measures of many partitions are made of: requests to many at once, counted bytes, growth."""

import datetime
from io import BytesIO
from typing import Any

import kio.schema.create_topics.v4.response as create
import kio.schema.delete_topics.v3.response as delete
import kio.schema.list_offsets.v1.response as offsets
import kio.schema.metadata.v4.response as metadata
import kio.schema.produce.v7.response as produce
from kio.schema.errors import ErrorCode
from kio.schema.list_offsets.v1.request import ListOffsetsRequest
from kio.schema.produce.v7.request import ProduceRequest
from kio.schema.request_header.v1.header import RequestHeader
from kio.serial import entity_reader, entity_writer

from tests.bench import answers, frames, mirrors, traffic

PLACES = {"orders": [0, 2], "flights": [1]}
NO_TIME: Any = datetime.timedelta(0)


def written(message: Any) -> memoryview:
    """The message as kio writes it."""
    out = BytesIO()
    entity_writer(type(message))(out, message)
    return memoryview(out.getvalue())


def test_one_request_carries_a_batch_for_each_partition() -> None:
    frame = memoryview(bytes(frames.produce_each(PLACES, b"12345")))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, header_bytes = entity_reader(RequestHeader)(frame, 4)
    assert (header.request_api_key, header.request_api_version) == (0, 7)
    message, message_bytes = entity_reader(ProduceRequest)(frame, 4 + header_bytes)
    assert 4 + header_bytes + message_bytes == len(frame)
    found = {
        topic.name: {part.index: part.records for part in topic.partition_data}
        for topic in message.topic_data
    }
    assert found == {"orders": {0: b"12345", 2: b"12345"}, "flights": {1: b"12345"}}
    assert message.acks == -1


def test_each_partition_of_an_answer_has_its_error_code() -> None:
    codes = {("orders", 0): 0, ("orders", 2): answers.POLICY_VIOLATION, ("flights", 1): 0}
    made: Any = [
        produce.TopicProduceResponse(
            name=topic,  # type: ignore[arg-type]
            partition_responses=tuple(
                produce.PartitionProduceResponse(
                    index=partition,  # type: ignore[arg-type]
                    error_code=ErrorCode(codes[topic, partition]),
                    base_offset=7,  # type: ignore[arg-type]
                )
                for partition in partitions
            ),
        )
        for topic, partitions in PLACES.items()
    ]
    answer = written(produce.ProduceResponse(responses=tuple(made), throttle_time=NO_TIME))
    assert dict(answers.produced_each(answer)) == codes


def described(topic: str, leaders: dict[int, int]) -> Any:
    partitions: Any = tuple(
        metadata.MetadataResponsePartition(
            error_code=ErrorCode.none,
            partition_index=partition,  # type: ignore[arg-type]
            leader_id=leader,  # type: ignore[arg-type]
            replica_nodes=(1, 2),  # type: ignore[arg-type]
            isr_nodes=(leader,),  # type: ignore[arg-type]
        )
        for partition, leader in leaders.items()
    )
    return metadata.MetadataResponseTopic(
        error_code=ErrorCode.none,
        name=topic,  # type: ignore[arg-type]
        partitions=partitions,
    )


def test_leaders_are_found_by_topic_and_partition() -> None:
    brokers: Any = tuple(
        metadata.MetadataResponseBroker(node_id=node, host="here", port=9000 + node, rack=rack)  # type: ignore[arg-type]
        for node, rack in ((1, "a"), (2, None))
    )
    topics = (described("orders", {0: 1, 2: 2, 5: -1}), described("flights", {1: 2}))
    answer = written(
        metadata.MetadataResponse(
            throttle_time=NO_TIME,
            brokers=brokers,
            cluster_id="west",
            controller_id=2,  # type: ignore[arg-type]
            topics=topics,
        )
    )
    assert answers.brokers(answer) == 2
    found = answers.leaders_by_topic(answer)
    assert found["orders"].addresses == {0: "here:9001", 2: "here:9002"}  # 5 has no leader
    assert found["orders"].in_sync == {0: [1], 2: [2], 5: [-1]}
    assert found["flights"].nodes == {1: 2}
    assert answers.leaders(answer) == found["orders"]


def test_topics_of_one_request_have_an_error_code_each() -> None:
    made: Any = tuple(
        create.CreatableTopicResult(name=name, error_code=code, error_message=why)  # type: ignore[arg-type]
        for name, code, why in (
            ("a", ErrorCode.none, None),
            ("b", ErrorCode.topic_already_exists, "there"),
        )
    )
    answer = written(create.CreateTopicsResponse(throttle_time=NO_TIME, topics=made))
    assert list(answers.created(answer)) == [("a", 0), ("b", answers.TOPIC_ALREADY_EXISTS)]
    gone: Any = tuple(
        delete.DeletableTopicResult(name=name, error_code=code)  # type: ignore[arg-type]
        for name, code in (("a", ErrorCode.none), ("b", ErrorCode.unknown_topic_or_partition))
    )
    answer = written(delete.DeleteTopicsResponse(throttle_time=NO_TIME, responses=gone))
    assert list(answers.deleted(answer)) == [("a", 0), ("b", answers.UNKNOWN_TOPIC_OR_PARTITION)]


def test_offsets_are_found_by_topic_and_partition() -> None:
    asked = memoryview(bytes(frames.list_offsets_each(PLACES)))
    _, header_bytes = entity_reader(RequestHeader)(asked, 4)
    message, size = entity_reader(ListOffsetsRequest)(asked, 4 + header_bytes)
    assert 4 + header_bytes + size == len(asked)
    places = {one.name: [each.partition_index for each in one.partitions] for one in message.topics}
    assert places == PLACES
    found: Any = tuple(
        offsets.ListOffsetsTopicResponse(
            name=topic,  # type: ignore[arg-type]
            partitions=tuple(
                offsets.ListOffsetsPartitionResponse(
                    partition_index=number,  # type: ignore[arg-type]
                    error_code=ErrorCode.not_leader_or_follower if number == 2 else ErrorCode.none,
                    timestamp=-1,  # type: ignore[arg-type]
                    offset=10 + number,  # type: ignore[arg-type]
                )
                for number in numbers
            ),
        )
        for topic, numbers in PLACES.items()
    )
    answer = written(offsets.ListOffsetsResponse(topics=found))
    assert answers.latest_each(answer, 6) == {("orders", 0): 10, ("flights", 1): 11}


SAID = """\
0 0 127.0.0.1:100 127.0.0.1:900 users:(("python",pid=1,fd=9)) cubic bytes_sent:70 bytes_acked:70 bytes_received:5 x
0 0 127.0.0.1:900 127.0.0.1:100 users:(("python",pid=2,fd=8)) cubic bytes_sent:5 bytes_acked:5 bytes_received:70 x
0 0 127.0.0.1:101 127.0.0.1:901 users:(("python",pid=1,fd=7)) cubic bytes_sent:900 bytes_received:900
0 0 127.0.0.1:901 127.0.0.1:101 users:(("python",pid=3,fd=6)) cubic bytes_sent:900 bytes_received:900
0 0 127.0.0.1:102 127.0.0.1:902 users:(("python",pid=1,fd=5)) cubic
0 0 127.0.0.1:902 127.0.0.1:102 users:(("python",pid=2,fd=4)) cubic
0 0 127.0.0.1:103 127.0.0.1:903 cubic bytes_sent:1
"""


def test_bytes_between_two_groups_of_processes_are_counted_once() -> None:
    found = traffic.crossing(SAID, {1}, {2, 4})
    assert found == {
        ("127.0.0.1:100", "127.0.0.1:900"): 75,
        ("127.0.0.1:102", "127.0.0.1:902"): 0,
    }


def test_a_figure_grows_from_few_to_many_partitions() -> None:
    assert mirrors.growth({"s": 2.0, "x": 0.0}, {"s": 3.0, "x": 1.0}) == {"s_growth": 1.5}
    assert mirrors.growth({}, {"s": 3.0}) == {}
