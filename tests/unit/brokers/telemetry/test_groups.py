"""Metrics of the group coordinator."""

from brokers.api import find_coordinator, offset_commit
from brokers.effects import ReadRange
from brokers.events import RangeRead
from brokers.groups.offsets_partition import partition_for
from brokers.ids import OFFSETS_TOPIC, TopicPartition
from brokers.telemetry.groups import LOAD_TIME
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from brokers.wire.messages.groups import FindCoordinatorRequest
from tests.unit.brokers.telemetry.counted import Counted

HOME = TopicPartition(OFFSETS_TOPIC, partition_for("g", 50))
LOAD_MS = 120


def loaded_times(node: Counted) -> tuple[float | None, float | None]:
    return node.value(f"{LOAD_TIME}_max"), node.value(f"{LOAD_TIME}_avg")


def committed() -> Counted:
    """A node with a committed offset."""
    node = Counted()
    node.create("t")
    node.ask(find_coordinator, 3, FindCoordinatorRequest(key="g"))
    item = OffsetCommitRequestPartition(partition_index=0, committed_offset=7)
    topic = OffsetCommitRequestTopic(name="t", partitions=[item])
    node.ask(offset_commit, 7, OffsetCommitRequest(group_id="g", topics=[topic]))
    return node


def test_how_long_the_partitions_took_to_load_that_were_loaded_lately() -> None:
    node = committed()
    node.wait(31_000)
    assert loaded_times(node) == (0, 0)
    parts = node.broker.parts
    parts.groups.lost(HOME, node.now)
    replica = parts.partitions.all[HOME]
    (read,) = parts.groups.opened(replica, node.now)
    assert isinstance(read, ReadRange)
    node.wait(LOAD_MS)
    end = replica.require_log().log_end_offset
    parts.continuations.storage_answered(RangeRead(read.ticket, HOME, b"", end), node.now)
    assert loaded_times(node) == (LOAD_MS, LOAD_MS)
    node.wait(29_999)
    assert loaded_times(node) == (LOAD_MS, LOAD_MS)
    node.wait(1)
    assert loaded_times(node) == (0, 0)
