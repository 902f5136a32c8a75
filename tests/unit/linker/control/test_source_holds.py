"""What a broker of the source keeps, by whether it leads and what it has heard of the mirror."""

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from brokers.ids import TopicPartition
from brokers.metadata.image.image import Document, Image, PartitionImage, TopicImage
from brokers.region import PartitionState, RetentionHold
from linker.control.source_holds import Holder, SourceHolds, SubscribedStream
from linker.data.credit import StreamSender
from linker.hold_frames import HeldTopic, HoldRetention
from linker.records.retention_hold import HOLD_KIND, HoldRecord, put
from linker.region_client import RegionClient

ORDERS = TopicPartition("orders", 0)
TOPIC_ID = UUID(int=7)
HOUR_MS = 3_600_000
FIRST, SECOND = 1, 2  # streams
EAST, NORTH = Holder("east", "west-east"), Holder("north", "west-north")


@dataclass
class Region:
    """One broker with a replica of one partition."""

    image: Image = field(default_factory=lambda: Image("west"))
    is_leader: bool = True

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        assert partition == ORDERS
        return PartitionState(0, 90, 90, 90, 0, (), (0,), online=True, is_leader=self.is_leader)


class Stage:
    def __init__(self, *holders: Holder, max_ms: int = 100 * HOUR_MS) -> None:
        self.region = Region()
        placed = PartitionImage(1, 0, 0, (1,), (1,))
        self.region.image.topics_by_name["orders"] = TopicImage("orders", TOPIC_ID, (placed,))
        client = RegionClient(self.region, Random(1))  # type: ignore[arg-type]
        self.holds = SourceHolds(client, 1 << 30, max_ms)
        for holder in holders:
            hold = HoldRecord(
                cluster_id=holder.cluster_id,
                link=holder.link,
                topic="orders",
                topic_id=TOPIC_ID,
                max_bytes=10,
                max_ms=HOUR_MS,
                since=0,
            )
            change = put(hold)
            assert change.body is not None
            document = Document(HOLD_KIND, change.name, 1, change.body)
            self.region.image.documents[HOLD_KIND, change.name] = document
        self.holds.follow(self.region.image.documents)

    def offsets(self) -> list[int]:
        """From where on the partition is kept, for each mirror."""
        return [one.offset for one in self.holds.by_partition().get(ORDERS, ())]


def test_a_leader_keeps_all_until_it_has_heard_of_the_mirror() -> None:
    stage = Stage(EAST)
    assert stage.holds.by_partition() == {ORDERS: (RetentionHold(-1, 10, HOUR_MS),)}
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    assert stage.offsets() == [40]


def test_each_mirror_has_its_own_position() -> None:
    stage = Stage(EAST, NORTH)
    stage.holds.told(NORTH, ORDERS, 70, FIRST)
    assert stage.offsets() == [-1, 70]
    stage.holds.told(EAST, ORDERS, 20, FIRST)
    assert stage.offsets() == [20, 70]
    stage.holds.told(Holder("south", "nobody-knows"), ORDERS, 90, FIRST)
    assert stage.offsets() == [20, 70]


def test_a_follower_keeps_all_and_so_does_who_leads_again() -> None:
    stage = Stage(EAST)
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    stage.region.is_leader = False
    stage.holds.led([ORDERS])
    assert stage.offsets() == [-1]
    stage.holds.told(EAST, ORDERS, 50, FIRST)
    assert stage.offsets() == [-1], "a follower is told nothing"
    stage.region.is_leader = True
    stage.holds.led([ORDERS])
    assert stage.offsets() == [-1], "the mirror may have been cut meanwhile"


def test_a_mirror_that_comes_back_with_less_holds_less() -> None:
    stage = Stage(EAST)
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    stage.holds.subscribed(EAST, ORDERS, 60, SubscribedStream(FIRST, {ORDERS}))
    assert stage.offsets() == [40], "the end of its log is not on all its replicas"
    stage.holds.subscribed(EAST, ORDERS, 5, SubscribedStream(FIRST, {ORDERS}))
    assert stage.offsets() == [5]


def test_the_age_is_bounded_by_the_region_itself_and_a_topic_of_another_id_is_not_held() -> None:
    stage = Stage(EAST, max_ms=60_000)
    assert stage.holds.by_partition() == {ORDERS: (RetentionHold(-1, 10, 60_000),)}
    known = stage.region.image.topics_by_name["orders"]
    stage.region.image.topics_by_name["orders"] = TopicImage(
        "orders", UUID(int=8), known.partitions
    )
    assert stage.offsets() == []


def part(*topics: str, is_continued: bool) -> HoldRetention:
    named = tuple(HeldTopic(topic, TOPIC_ID.bytes) for topic in topics)
    return HoldRetention(10, HOUR_MS, named, is_continued)


def test_what_a_stream_began_is_not_continued_by_the_next() -> None:
    stage, first, second = Stage(), StreamSender(1), StreamSender(2)
    stage.holds.asked(part("other", is_continued=True), EAST, first, 0)
    first.stream = None
    stage.holds.asked(part("orders", is_continued=False), EAST, second, 0)
    assert [one.topic for one in stage.holds.wanted_of(EAST)] == ["orders"]


def test_what_closed_streams_began_is_not_kept() -> None:
    stage = Stage()
    for number in range(5):
        sender = StreamSender(number + 1)
        holder = Holder("east", f"link-{number}")
        stage.holds.asked(part("orders", is_continued=True), holder, sender, 0)
        sender.stream = None
    stage.holds.asked(part("orders", is_continued=True), EAST, StreamSender(9), 0)
    assert stage.holds.unfinished == 1


def test_what_comes_late_on_an_earlier_stream_is_not_believed() -> None:
    """It came after what the next stream had said, and the source kept what the mirror had."""
    stage = Stage(EAST)
    stage.holds.subscribed(EAST, ORDERS, 30, SubscribedStream(FIRST, {ORDERS}))
    stage.holds.told(EAST, ORDERS, 30, FIRST)
    stage.holds.subscribed(EAST, ORDERS, 40, SubscribedStream(SECOND, {ORDERS}))
    stage.holds.told(EAST, ORDERS, 50, SECOND)
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    assert stage.offsets() == [50]
    stage.holds.closed(SECOND)
    stage.holds.told(EAST, ORDERS, 60, FIRST)
    assert stage.offsets() == [60]


def test_a_broker_that_subscribed_last_and_gave_that_up_is_not_waited_for() -> None:
    """It had not heard yet that another one leads the mirror. The source kept all, and heard what the mirror held."""
    stage = Stage(EAST)
    stage.holds.subscribed(EAST, ORDERS, 30, SubscribedStream(FIRST, {ORDERS}))
    still = {ORDERS}
    stage.holds.subscribed(EAST, ORDERS, 20, SubscribedStream(SECOND, still))
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    assert stage.offsets() == [-1]
    still.clear()
    stage.holds.told(EAST, ORDERS, 40, FIRST)
    assert stage.offsets() == [40]
