"""The quorum of the metadata log."""

import pytest

from brokers.api import describe_quorum
from brokers.errors import KafkaError
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartition,
    DescribeQuorumRequestTopic,
)
from tests.unit.brokers.api.asking import Node


def request(topic: str, *partitions: int) -> DescribeQuorumRequest:
    asked = [DescribeQuorumRequestPartition(partition_index=index) for index in partitions]
    return DescribeQuorumRequest(
        topics=[DescribeQuorumRequestTopic(topic_name=topic, partitions=asked)]
    )


@pytest.mark.parametrize("version", range(3))
def test_one_voter_leads_and_has_everything(version: int) -> None:
    node = Node()
    answer = node.ask(describe_quorum, version, request("__cluster_metadata", 0))
    (partition,) = answer.topics[0].partitions
    assert (partition.error_code, partition.leader_id, partition.leader_epoch) == (0, 1, 1)
    assert partition.high_watermark == node.context.image.next_offset == 4
    (voter,) = partition.current_voters
    assert (voter.replica_id, voter.log_end_offset) == (1, 4)
    assert partition.observers == [] and answer.error_code == 0
    assert [node.node_id for node in answer.nodes] == ([1] if version >= 2 else [])


def test_other_partitions_have_no_quorum() -> None:
    for topic, index in (("__cluster_metadata", 1), ("t", 0)):
        answer = Node().ask(describe_quorum, 2, request(topic, index))
        (partition,) = answer.topics[0].partitions
        assert partition.error_code == KafkaError.UNKNOWN_TOPIC_OR_PARTITION
