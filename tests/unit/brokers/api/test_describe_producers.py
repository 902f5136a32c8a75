"""What a partition remembers of its producers."""

from brokers.api import describe_producers
from brokers.errors import KafkaError
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.records.batch import parse_header
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.producers import DescribeProducersRequest, DescribeProducersRequestTopic
from tests.playbooks.metadata.host import NOW
from tests.unit.brokers.api.asking import Node


def test_producers_of_a_partition_and_errors_of_others() -> None:
    node = Node()
    node.do(CreateTopics((NewTopic(name="t", partition_count=2),)))
    log = node.open("t").require_log()
    batch = build_batch(
        [NewRecord(b"k", b"v")] * 3, timestamp=NOW, producer_id=9, producer_epoch=2, base_sequence=4
    )
    log.producers.update(parse_header(batch), NOW)
    topics = [
        DescribeProducersRequestTopic(name="t", partition_indexes=[0, 1, 2]),
        DescribeProducersRequestTopic(name="nope", partition_indexes=[0]),
    ]
    known, unknown = node.ask(describe_producers, 0, DescribeProducersRequest(topics=topics)).topics
    assert [item.error_code for item in known.partitions] == [
        0,
        KafkaError.NOT_LEADER_OR_FOLLOWER,
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    (producer,) = known.partitions[0].active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (9, 2, 6)
    assert (producer.last_timestamp, producer.current_txn_start_offset) == (NOW, -1)
    assert unknown.partitions[0].error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION
