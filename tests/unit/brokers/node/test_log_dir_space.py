"""A disk below its watermark refuses producers and links, by partition, and takes them again by itself."""

from typing import Any

from brokers.api import offset_commit, produce
from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.events import LogFailed
from brokers.ids import TopicPartition
from brokers.node.log_dir_space import INTERVAL_MS, SHORT_INTERVAL_MS
from brokers.records.builder import NewRecord, build_batch
from brokers.region import PlaceBatches, PlaceRefused
from brokers.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from brokers.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.sim.files import ROOM
from tests.unit.brokers.api.several import A, B, Several, described

ENOUGH, FULL = ROOM // 2, 20_000  # of free bytes, beside the default watermarks


class Watched(Several):
    """Partition 0 of `t` lies in /a, partition 1 in /b. `changes` are what an operator is told of directories."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []
        self.refused: list[PlaceRefused] = []
        super().__init__()
        self.create("t", 2)

    def _take(self, effect: Any) -> bool:
        if isinstance(effect, Changed) and effect.what.startswith("log directory"):
            self.changes.append((effect.what, effect.to))
        if isinstance(effect, PlaceRefused):
            self.refused.append(effect)
            return True
        return super()._take(effect)

    def free(self, size: int) -> None:
        """On the disk of /b, from the next measurement on."""
        self.disks[B].full_after(size)
        self.wait(INTERVAL_MS)

    def send(self, batch: bytes, acks: int = -1) -> Any:
        data = TopicProduceData(
            name="t", partition_data=[PartitionProduceData(index=1, records=bytearray(batch))]
        )
        message = ProduceRequest(acks=acks, timeout_ms=1_000, topic_data=[data])
        return self.ask(produce, 9, message).responses[0].partition_responses[0]


def test_producers_are_refused_by_partition_and_taken_again() -> None:
    node = Watched()
    assert node.write("t", 1, 100) == 0
    node.free(FULL)
    assert node.write("t", 1, 100) == KafkaError.NOT_ENOUGH_REPLICAS
    assert node.write("t", 0, 100) == 0
    node.free(ENOUGH)
    assert node.write("t", 1, 100) == 0
    what = "log directory /b"
    stops = "refuses producers, and its followers stop copying"
    assert node.changes == [(what, stops), (what, "has room again")]


def test_a_directory_that_gets_no_new_replicas_is_described_so() -> None:
    """KIP-1066."""
    node = Watched()
    node.free(FULL)
    assert [each.is_cordoned for each in described(node, version=5)] == [False, True, False]
    node.free(ENOUGH)
    assert not any(each.is_cordoned for each in described(node, version=5))


def test_an_operator_is_warned_before_anybody_is_refused() -> None:
    node = Watched()
    node.disks[B].full_after(10 << 30)
    node.wait(INTERVAL_MS)
    assert node.changes == []
    node.free((10 << 30) - 1)
    assert node.write("t", 1, 100) == 0
    assert node.changes == [("log directory /b", "is short of space")]


def test_a_short_disk_is_measured_more_often() -> None:
    node = Watched()
    node.free((1 << 30) + 1)
    node.disks[B].full_after(FULL)
    node.wait(SHORT_INTERVAL_MS)
    assert node.write("t", 1, 100) == KafkaError.NOT_ENOUGH_REPLICAS


def test_what_producers_write_counts_between_two_measurements() -> None:
    node = Watched()
    node.free((1 << 30) + 250_000)
    codes = [node.write("t", 1, 100_000) for _ in range(4)]
    assert codes == [0, 0, 0, KafkaError.NOT_ENOUGH_REPLICAS]
    assert node.changes == [("log directory /b", "is short of space")]
    node.wait(SHORT_INTERVAL_MS)
    assert node.changes[1:] == [("log directory /b", "refuses producers")]


def test_a_small_disk_is_not_filled_between_two_measurements() -> None:
    """However fast producers are: it was not short of space when it was measured last."""
    node = Watched()
    node.free((10 << 30) + 100_000)
    assert node.changes == []
    (near,) = node.broker.parts.log_dirs.near.values()
    near.took((9 << 30) + 100_000)
    assert node.write("t", 1, 100) == 0
    assert node.write("t", 1, 100) == KafkaError.NOT_ENOUGH_REPLICAS


def test_the_refusal_says_how_much_is_free() -> None:
    node = Watched()
    node.free(FULL)
    refused = node.send(bytes(build_batch([NewRecord(None, b"v")], timestamp=node.now)))
    assert refused.error_message == f"the disk is nearly full: {FULL} of {ROOM} bytes are free"


def test_a_producer_that_sends_again_what_was_stored_is_answered() -> None:
    node = Watched()
    node.write("t", 1, 100)
    batch = bytes(
        build_batch(
            [NewRecord(None, b"v")],
            timestamp=node.now,
            producer_id=7,
            producer_epoch=0,
            base_sequence=0,
        )
    )
    assert node.send(batch).base_offset == 1
    node.free(FULL)
    again = node.send(batch)
    assert (again.error_code, again.base_offset) == (0, 1)


def test_group_offsets_are_committed_in_what_is_kept_free() -> None:
    node = Watched()
    for disk in node.disks.values():
        disk.full_after(FULL)
    node.wait(INTERVAL_MS)
    assert node.write("t", 0, 100) == KafkaError.NOT_ENOUGH_REPLICAS
    node.create("__consumer_offsets")
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
    message = OffsetCommitRequest(group_id="g", topics=[topic])
    answer = node.ask(offset_commit, 8, message)
    assert answer.topics[0].partitions[0].error_code == 0


def test_a_link_is_refused_and_sees_why() -> None:
    node = Watched()
    one = TopicPartition("t", 1)
    node.free(FULL)
    node.feed(PlaceBatches(5, "link", one, 0, b"batches"))
    because = f"the disk is nearly full: {FULL} of {ROOM} bytes are free"
    (refused,) = node.refused
    assert (refused.ticket, refused.error) == (5, KafkaError.KAFKA_STORAGE_ERROR)
    assert refused.because == because
    found = [node.broker.view.partition_state(TopicPartition("t", each)) for each in (0, 1)]
    assert [state.shortage for state in found if state is not None] == ["", because]


def test_a_directory_that_fails_is_no_longer_short_of_space() -> None:
    node = Watched()
    node.free(FULL)
    assert [each.path for each in node.broker.parts.log_dirs.near.values()] == ["/b"]
    node.feed(LogFailed(TopicPartition("t", 1), "the device reports errors", B))
    node.wait(INTERVAL_MS)
    assert node.broker.parts.log_dirs.near == {}
    assert node.changes[-1] == ("log directory /b", "offline")


def test_new_replicas_go_to_the_disk_that_has_room() -> None:
    node = Watched()
    node.free(FULL)
    node.create("u", 3)
    node.wait(100)
    assert [node.home("u", index) for index in range(3)] == [A, A, A]
    node.free(ENOUGH)
    node.create("v", 3)
    node.wait(100)
    assert [node.home("v", index) for index in range(3)] == [B, B, B], "it has fewer"


def test_where_every_disk_is_short_replicas_are_spread_as_ever() -> None:
    node = Watched()
    node.disks[A].full_after(FULL)
    node.free(FULL)
    node.create("u", 2)
    node.wait(100)
    assert {node.home("u", index) for index in range(2)} == {A, B}
