"""The partitions of `__consumer_offsets` as they are read back after a restart, whatever anyone has written there."""

import random
from typing import Any

import pytest

from brokers.api import (
    find_coordinator,
    join_group,
    offset_commit,
    offset_fetch,
    sync_group,
)
from brokers.effects import Changed, ReadRange
from brokers.errors import KafkaError
from brokers.events import RangeRead, Started
from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC, TopicPartition
from brokers.node.broker import Broker
from brokers.partition import leader
from brokers.records.batch import renew_crc
from brokers.records.builder import NewRecord, build_batch
from brokers.storage.storage import Storage
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
)
from brokers.wire.messages.groups import (
    FindCoordinatorRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    SyncGroupRequest,
)
from tests.kernel.process import Process
from tests.sim.files import SimFiles
from tests.unit.brokers.api.whole import NOW, Whole

HOME = partition_for("g", 50)
RECORDS_FROM = 61  # the first byte behind a batch's header


class Restarting(Whole):
    """A node that begins again with what is on its disk, and says what changed."""

    def __init__(self) -> None:
        self.files = SimFiles()
        self.changes: list[Changed] = []
        super().__init__()
        self.create("t")
        self.ask(find_coordinator, 3, FindCoordinatorRequest(key="g"))

    def make_directories(self) -> tuple[Storage, None]:
        return Storage(self.files), None

    def restart(self) -> None:
        parts = self.broker.parts
        self.storage, self.is_ready = Storage(self.files), False
        self.broker = Broker(parts.config, parts.raft.image.cluster_id, random.Random(2))
        self.process = Process(self.broker, self.storage, self._take, lambda: self.now)
        self.feed(Started())
        assert self.is_ready

    def _take(self, effect: Any) -> bool:
        if isinstance(effect, Changed):
            self.changes.append(effect)
        return super()._take(effect)

    def write(self, batch: bytearray) -> None:
        """As a release before compaction may have taken it from Kafka's own tools, or a disk has changed it."""
        replica = self.broker.parts.partitions.require(TopicPartition(OFFSETS_TOPIC, HOME))
        self.process.take(leader.append_own(replica, batch, self.now).effects)

    def commit(self, offset: int) -> None:
        item = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topic = OffsetCommitRequestTopic(name="t", partitions=[item])
        answer = self.ask(offset_commit, 7, OffsetCommitRequest(group_id="g", topics=[topic]))
        assert answer.topics[0].partitions[0].error_code == KafkaError.NONE

    def committed(self) -> int:
        asked = OffsetFetchRequest(
            group_id="g", topics=[OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
        )
        answer = self.ask(offset_fetch, 7, asked)
        assert answer.error_code == KafkaError.NONE
        offset: int = answer.topics[0].partitions[0].committed_offset
        return offset


def damaged(compression: int = 0) -> bytearray:
    """A batch with a right checksum whose records are none."""
    batch = build_batch([NewRecord(key=b"k", value=b"v")], timestamp=NOW)
    batch[22] |= compression
    batch[RECORDS_FROM] = 0x7F
    renew_crc(batch, 0, len(batch))
    return batch


@pytest.mark.parametrize("compression", [0, 1, 2, 3, 4])
def test_a_batch_that_cannot_be_opened_is_skipped_and_told_and_the_node_starts(
    compression: int,
) -> None:
    node = Restarting()
    node.commit(5)
    node.write(damaged(compression))
    node.commit(7)
    node.restart()
    assert node.committed() == 7
    told = [each for each in node.changes if each.to == "partly unreadable"]
    assert [each.what for each in told] == [f"group records of {OFFSETS_TOPIC}-{HOME}"]


def joined(node: Restarting, metadata: bytes) -> str:
    protocols = [JoinGroupRequestProtocol(name="range", metadata=metadata)]
    message = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=protocols,
    )
    ticket = node.start(join_group, 2, message)
    node.wait(3_000)
    answer = node.answers[ticket]
    assert answer.error_code == KafkaError.NONE
    member_id: str = answer.member_id
    return member_id


@pytest.mark.parametrize(
    ("size", "error"),
    [(1_000_000, KafkaError.NONE), (1_048_588, KafkaError.UNKNOWN_SERVER_ERROR)],
)
def test_a_group_that_is_more_than_a_record_may_be_is_refused_as_no_follower_could_copy_it(
    size: int, error: KafkaError
) -> None:
    node = Restarting()
    leader = joined(node, bytes(size))
    message = SyncGroupRequest(group_id="g", generation_id=1, member_id=leader)
    assert node.ask(sync_group, 2, message).error_code == error


def test_many_offsets_at_once_may_be_more_than_one_record_may_be() -> None:
    node = Restarting()
    node.create("many", 3_000)
    items = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=1, committed_metadata="x" * 1_000
        )
        for index in range(3_000)
    ]
    topic = OffsetCommitRequestTopic(name="many", partitions=items)
    answer = node.ask(offset_commit, 7, OffsetCommitRequest(group_id="g", topics=[topic]))
    assert {each.error_code for each in answer.topics[0].partitions} == {KafkaError.NONE}


@pytest.mark.parametrize(
    ("error", "told"),
    [(KafkaError.CORRUPT_MESSAGE, ["not loaded"]), (KafkaError.KAFKA_STORAGE_ERROR, [])],
    ids=["of which nobody else tells", "that is told as the log's failure"],
)
def test_a_log_that_cannot_be_read_on_is_told(error: KafkaError, told: list[str]) -> None:
    parts = Restarting().broker.parts
    home = TopicPartition(OFFSETS_TOPIC, HOME)
    runtime = parts.groups
    assert runtime.lost(home, NOW) == []
    replica = parts.partitions.all[home]
    replica.require_log().log_end_offset = 5
    (read,) = runtime.opened(replica, NOW)
    assert isinstance(read, ReadRange) and runtime.is_loading
    failed = RangeRead(read.ticket, home, b"", 0, error)
    effects = parts.continuations.storage_answered(failed, NOW)
    assert [each.to for each in effects if isinstance(each, Changed)] == told
    assert not runtime.is_loading
