"""Bytes on the disk."""

import pytest

from brokers.api import describe_log_dirs
from brokers.wire.messages.log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from tests.playbooks.metadata.host import NOW
from tests.unit.brokers.api.asking import Node


def node_with_logs() -> Node:
    node = Node()
    node.open("a", 0, size=100)
    node.open("a", 1, size=7)
    node.open("b", 0)
    return node


@pytest.mark.parametrize("version", range(1, 6))
def test_every_log_at_every_version(version: int) -> None:
    answer = node_with_logs().ask(describe_log_dirs, version, DescribeLogDirsRequest(topics=None))
    (directory,) = answer.results
    assert (directory.error_code, directory.log_dir) == (0, "data")
    sizes = {
        (topic.name, item.partition_index): item.partition_size
        for topic in directory.topics
        for item in topic.partitions
    }
    assert sizes == {("a", 0): 100, ("a", 1): 7, ("b", 0): 0}
    assert (directory.total_bytes, directory.usable_bytes) == (-1, -1)


def test_only_what_is_asked_for_exists_and_is_online() -> None:
    node = node_with_logs()
    node.context.partitions[next(iter(node.context.partitions))].failed("disk full", NOW)
    topics = [
        DescribableLogDirTopic(topic="a", partitions=[0, 1, 1, 9]),
        DescribableLogDirTopic(topic="nope", partitions=[0]),
    ]
    (directory,) = node.ask(describe_log_dirs, 2, DescribeLogDirsRequest(topics=topics)).results
    (topic,) = directory.topics
    assert [item.partition_index for item in topic.partitions] == [1]
    (directory,) = node.ask(describe_log_dirs, 2, DescribeLogDirsRequest(topics=[])).results
    assert directory.topics == []
