"""A whole broker with two log directories, /a with the metadata log and /b, and a third that could not be opened."""

from typing import Any
from uuid import UUID

from brokers.api import describe_log_dirs, produce
from brokers.ids import TopicPartition
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from brokers.wire.messages.log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.sim.files import SimFiles
from tests.unit.brokers.api.whole import Whole

A, B = UUID(int=21), UUID(int=22)


class Several(Whole):
    """`disks` are the two that are there."""

    def __init__(self, disks: dict[UUID, SimFiles] | None = None) -> None:
        self.disks = disks or {A: SimFiles(), B: SimFiles()}
        super().__init__()

    def make_directories(self) -> tuple[LogManager, OwnDirectories]:
        several = LogManager(A, self.disks, missing=1)
        for each, disk in self.disks.items():
            several.add(Storage(disk, directory=each, pending=several.pending))
        own = [OwnDirectory("/a", A), OwnDirectory("/b", B), OwnDirectory("/c", None, "gone")]
        return several, OwnDirectories(own, A)

    def successor(self) -> "Several":
        """The process was killed, and another one opens its disks."""
        return Several(self.disks)

    def home(self, topic: str, index: int) -> UUID:
        """As the region has it."""
        placed = self.broker.view.image.partition(TopicPartition(topic, index))
        assert placed is not None
        return placed.directory(1)

    def write(self, topic: str, index: int, size: int) -> int:
        """The error code of writing a record of so many bytes."""
        batch = bytes(build_batch([NewRecord(None, bytes(size))], timestamp=self.now))
        data = TopicProduceData(
            name=topic, partition_data=[PartitionProduceData(index=index, records=batch)]
        )
        message = ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=[data])
        answer = self.ask(produce, 9, message)
        code: int = answer.responses[0].partition_responses[0].error_code
        return code


def described(
    node: Whole, topics: list[DescribableLogDirTopic] | None = None, version: int = 4
) -> Any:
    return node.ask(describe_log_dirs, version, DescribeLogDirsRequest(topics=topics)).results


def held(directory: Any) -> set[tuple[str, int]]:
    return {
        (topic.name, item.partition_index)
        for topic in directory.topics
        for item in topic.partitions
    }
