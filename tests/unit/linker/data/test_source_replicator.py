"""The sending side, event by event: within credit, in turns, cut where segments begin."""

import random
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.image.image import Image, TopicImage
from brokers.records.builder import NewRecord, build_batch
from brokers.region import HighWatermarkRead, PartitionState, ReadToHighWatermark
from linker.containment import NOTHING_CONTAINED, Containment
from linker.data.chunk_sizes import ChunkSizes
from linker.data.credit import SendBudget, StreamSender
from linker.data.read_ahead import CHUNKS_AHEAD
from linker.data.source_replicator import SourceReplicator
from linker.errors import MirrorError
from linker.events import Send
from linker.frames import CHUNK_BYTES_MIN, Agreed, Beacon, Chunk, Declined, Subscribe
from linker.region_client import RegionClient

TOPIC_ID = UUID(int=7)
CHUNK = 1_000


def batch(offset: int, size: int = 100) -> bytes:
    record = NewRecord(None, b"v" * size)
    return bytes(build_batch([record], timestamp=1, base_offset=offset, leader_epoch=0))


class Region:
    """A source's view: one batch an offset."""

    def __init__(self, partitions: int) -> None:
        self.image = Image("west")
        self.image.topics_by_name["t"] = TopicImage("t", TOPIC_ID)
        self.ends = dict.fromkeys(range(partitions), 0)
        self.starts = dict.fromkeys(range(partitions), 0)
        self.leader_epoch = 0
        self.online = True

    def records_were_deleted(self, partition: TopicPartition, base: int, start: int) -> bool:
        return False

    def bytes_between(self, partition: TopicPartition, base: int, end: int) -> int:
        return -1

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        end = self.ends.get(partition.partition)
        if end is None:
            return None
        return PartitionState(
            log_start_offset=self.starts[partition.partition],
            log_end_offset=end,
            high_watermark=end,
            last_stable_offset=end,
            leader_epoch=self.leader_epoch,
            epochs=((0, 0),),
            segment_bases=(0,),
            online=self.online,
        )


class Stage:
    """A source with its region answering reads; `chunks` are those sent so far."""

    def __init__(
        self,
        partitions: int = 1,
        *,
        chunk_bytes: int = CHUNK,
        budget: SendBudget | None = None,
        contained: Containment = NOTHING_CONTAINED,
    ) -> None:
        self.region = Region(partitions)
        self.client = RegionClient(self.region, random.Random(1))  # type: ignore[arg-type]
        self.budget = budget or SendBudget(1 << 30)
        self.source = SourceReplicator(
            self.client,
            StreamSender(3),
            ChunkSizes(chunk_bytes),
            self.budget,
            contained=contained,
        )
        self.reads: list[ReadToHighWatermark] = []
        self.frames: list[Any] = []

    @property
    def chunks(self) -> list[Chunk]:
        return [frame for frame in self.frames if isinstance(frame, Chunk)]

    def take(self, effects: list[Any]) -> None:
        for effect in effects:
            if isinstance(effect, ReadToHighWatermark):
                self.reads.append(effect)
            else:
                assert isinstance(effect, Send)
                self.frames.append(effect.frame)

    def subscribe(
        self, number: int = 1, partition: int = 0, offset: int = 0, **options: Any
    ) -> None:
        topic_id = options.pop("topic_id", TOPIC_ID.bytes)
        lineage = options.pop("lineage", ((0, 0),) if offset else ())
        where = TopicPartition("t", partition)
        self.take(
            self.source.subscribe(Subscribe(number, where, topic_id, offset, lineage, **options), 5)
        )

    def credit(self, granted: int) -> None:
        self.take(self.source.credit(granted, 5))

    def read(self, error: KafkaError = KafkaError.NONE) -> None:
        """The region answers the oldest read with as many batches as fit."""
        asked = self.reads.pop(0)
        end = self.region.ends[asked.partition.partition]
        data = b""
        offset = asked.offset
        while offset < end and len(data) < asked.size_max and not error:
            data += batch(offset)
            offset += 1
        answer = HighWatermarkRead(asked.ticket, asked.partition, asked.offset, data, offset, error)
        self.take(self.client.answered(answer, 5))

    def settle(self) -> None:
        """Reads are answered and chunks leave, until nothing moves."""
        while self.reads:
            before = len(self.chunks)
            self.read()
            for _ in range(len(self.chunks) - before):
                self.take(self.source.chunk_sent(5))


def test_nothing_is_read_without_credit() -> None:
    stage = Stage()
    stage.region.ends[0] = 5
    stage.subscribe()
    assert stage.reads == []
    assert isinstance(stage.frames[0], Agreed)
    stage.credit(10_000)
    assert len(stage.reads) == 1


def test_what_is_sent_stays_within_credit_but_for_one_chunk() -> None:
    stage = Stage(4)
    for partition in range(4):
        stage.region.ends[partition] = 100
        stage.subscribe(partition + 1, partition)
    stage.credit(5_000)
    stage.settle()
    sent = sum(len(chunk.data) for chunk in stage.chunks)
    assert 4_000 < sent <= 5_000 + 2 * CHUNK


def test_partitions_take_turns() -> None:
    stage = Stage(3)
    for partition in range(3):
        stage.region.ends[partition] = 100
        stage.subscribe(partition + 1, partition)
    stage.credit(1 << 30)
    stage.settle()
    first = [chunk.subscription for chunk in stage.chunks[:9]]
    assert sorted(first) == [1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_only_a_few_chunks_are_ahead_of_the_network() -> None:
    stage = Stage(8)
    for partition in range(8):
        stage.region.ends[partition] = 100
        stage.subscribe(partition + 1, partition)
    stage.credit(1 << 30)
    assert len(stage.reads) == CHUNKS_AHEAD
    for _ in range(20):
        if stage.reads:
            stage.read()
    assert len(stage.chunks) == CHUNKS_AHEAD, "none has left yet"


def test_all_streams_together_hold_no_more_than_their_budget_but_for_a_small_chunk_each() -> None:
    """60 streams that never read held 2.2 GB of a topic of 30 MB."""
    chunk, budget = 4 * CHUNK_BYTES_MIN, SendBudget(10 * CHUNK_BYTES_MIN)
    stages = [Stage(8, chunk_bytes=chunk, budget=budget) for _ in range(60)]
    for stage in stages:
        for partition in range(8):
            stage.region.ends[partition] = 10**6
            stage.subscribe(partition + 1, partition)
        stage.credit(2**63)
    asked = [[read.size_max for read in stage.reads] for stage in stages]
    assert asked == [[chunk, chunk], *[[CHUNK_BYTES_MIN]] * 59]
    held = 2 * chunk + 59 * CHUNK_BYTES_MIN
    assert budget.held_bytes == held
    for stage in stages:
        while stage.reads:
            stage.read()
    assert held <= budget.held_bytes < held + 61 * len(batch(0)), "what was read is held instead"
    assert all(len(stage.chunks) >= 1 for stage in stages)


def test_a_chunk_that_was_sent_makes_room_and_so_does_a_stream_that_ends() -> None:
    budget = SendBudget(CHUNK_BYTES_MIN)
    stage, other = (Stage(chunk_bytes=CHUNK_BYTES_MIN, budget=budget) for _ in range(2))
    for each in (stage, other):
        each.region.ends[0] = 10**6
        each.subscribe()
        each.credit(2**63)
    assert (len(stage.reads), len(other.reads)) == (1, 1)
    stage.read()
    assert not stage.reads, "the budget is spent"
    stage.take(stage.source.chunk_sent(5))
    assert len(stage.reads) == 1, "one is always possible"
    other.read()
    other.source.close()
    assert budget.held_bytes == CHUNK_BYTES_MIN
    stage.source.close()
    stage.read()
    assert budget.held_bytes == 0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 30)), max_size=30))
def test_chunks_of_a_subscription_are_contiguous_and_end_at_the_high_watermark(
    produced: list[tuple[int, int]],
) -> None:
    stage = Stage(3)
    for partition in range(3):
        stage.subscribe(partition + 1, partition)
    stage.credit(1 << 30)
    for partition, count in produced:
        stage.region.ends[partition] += count
        stage.take(stage.source.advanced(TopicPartition("t", partition), 5))
        stage.settle()
    for partition in range(3):
        expected = 0
        for chunk in stage.chunks:
            if chunk.subscription == partition + 1:
                assert chunk.offset == expected
                expected = chunk.next_offset
        assert expected == stage.region.ends[partition]


def test_a_log_start_that_overtook_the_subscription_is_agreed_anew() -> None:
    stage = Stage()
    stage.region.ends[0] = 30
    stage.subscribe()
    stage.credit(1_500)
    stage.settle()
    stage.region.starts[0] = 25
    stage.credit(1 << 30)
    stage.settle()
    agreed = [frame.start_offset for frame in stage.frames if isinstance(frame, Agreed)]
    assert agreed == [0, 25]
    assert stage.chunks[-1].next_offset == 30


def test_a_log_start_that_moves_during_the_read_is_read_again() -> None:
    stage = Stage()
    stage.region.ends[0] = 30
    stage.subscribe()
    stage.credit(1 << 30)
    stage.region.starts[0] = 25
    stage.read(KafkaError.OFFSET_OUT_OF_RANGE)
    stage.settle()
    assert [chunk.offset for chunk in stage.chunks] == [25]


def test_what_is_not_here_is_declined_for_now() -> None:
    stage = Stage()
    stage.subscribe(topic_id=b"x" * 16)
    stage.subscribe(2, partition=9)
    stage.region.online = False
    stage.subscribe(3)
    assert [(one.subscription, one.error) for one in stage.frames] == [
        (1, MirrorError.NOT_SET),
        (2, MirrorError.NOT_SET),
        (3, MirrorError.NOT_SET),
    ]


def test_a_mirror_that_is_ahead_is_declined_for_good() -> None:
    stage = Stage()
    stage.region.ends[0] = 5
    stage.subscribe(offset=8)
    (declined,) = stage.frames
    assert isinstance(declined, Declined)
    assert (declined.error, declined.agreed_offset) == (MirrorError.UNEXPECTED_TRUNCATION, 5)
    assert declined.began_at == 0


def test_a_disk_that_fails_ends_the_subscription() -> None:
    stage = Stage()
    stage.region.ends[0] = 5
    stage.subscribe()
    stage.credit(1 << 30)
    stage.read(KafkaError.KAFKA_STORAGE_ERROR)
    assert isinstance(stage.frames[-1], Declined)
    stage.take(stage.source.advanced(TopicPartition("t", 0), 5))
    assert stage.reads == []


def test_a_later_subscription_replaces_the_earlier_one_even_while_it_reads() -> None:
    stage = Stage()
    stage.region.ends[0] = 5
    stage.subscribe(1)
    stage.credit(1 << 30)
    stage.subscribe(2)
    stage.settle()
    assert {chunk.subscription for chunk in stage.chunks} == {2}


def test_a_change_without_data_is_told_at_once_and_silence_by_an_empty_beacon() -> None:
    stage = Stage()
    stage.region.ends[0] = 5
    stage.subscribe()
    stage.credit(1 << 30)
    stage.settle()
    stage.region.starts[0] = 2
    stage.take(stage.source.advanced(TopicPartition("t", 0), 6))
    beacon = stage.frames[-1]
    assert isinstance(beacon, Beacon)
    assert beacon.bounds[0][1].log_start_offset == 2
    stage.take(stage.source.beacon(7))
    assert stage.frames[-1] == Beacon(7)


def test_a_change_that_went_offline_untold_ends_its_subscription_before_the_beacon() -> None:
    stage = Stage()
    stage.subscribe()
    stage.region.ends[0] = 5
    stage.take(stage.source.advanced(TopicPartition("t", 0), 6))
    stage.region.online = False
    stage.take(stage.source.beacon(7, nonce=9))
    declined, beacon = stage.frames[-2:]
    assert isinstance(declined, Declined)
    assert isinstance(beacon, Beacon)
    assert (declined.subscription, beacon.nonce, beacon.bounds) == (1, 9, ())
    stage.take(stage.source.beacon(8))
    assert isinstance(stage.frames[-1], Beacon)


def test_a_change_that_credit_holds_back_is_in_the_next_beacon() -> None:
    stage = Stage()
    stage.subscribe()
    stage.region.ends[0] = 5
    stage.take(stage.source.advanced(TopicPartition("t", 0), 6))
    stage.take(stage.source.beacon(7, nonce=9))
    beacon = stage.frames[-1]
    assert isinstance(beacon, Beacon)
    assert (beacon.nonce, beacon.bounds[0][1].high_watermark) == (9, 5)


def test_a_partition_that_moved_and_went_offline_in_one_step_ends_its_subscription() -> None:
    stage = Stage()
    stage.credit(10_000)
    stage.subscribe()
    stage.region.online = False
    stage.take(stage.source.advanced(TopicPartition("t", 0), 6))
    assert isinstance(stage.frames[-1], Declined)


def test_so_does_the_next_beacon_where_there_is_no_credit() -> None:
    stage = Stage()
    stage.subscribe()
    stage.region.online = False
    stage.take(stage.source.advanced(TopicPartition("t", 0), 6))
    stage.take(stage.source.beacon(7))
    assert [type(frame) for frame in stage.frames] == [Agreed, Declined, Beacon]


def test_a_subscription_ends_with_the_leader_epoch_in_which_it_began() -> None:
    """A region that is restored from its own mirror is cut below what it has sent, and goes on with other records."""
    stage = Stage()
    stage.region.ends[0] = 9
    stage.subscribe()
    stage.credit(100_000)
    stage.settle()
    assert stage.chunks[-1].next_offset == 9
    stage.region.ends[0], stage.region.leader_epoch = 4, 65_536
    stage.take(stage.source.led([TopicPartition("t", 0)]))
    assert stage.frames[-1] == Declined(
        1, MirrorError.NOT_SET, "t-0 has leader epoch 65536 here now"
    )
    stage.region.ends[0] = 12
    stage.take(stage.source.advanced(TopicPartition("t", 0), 5))
    stage.settle()
    assert stage.chunks[-1].next_offset == 9
