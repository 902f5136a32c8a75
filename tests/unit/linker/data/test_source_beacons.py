"""What the sending side looks at for a beacon."""

from brokers.ids import TopicPartition
from brokers.metadata.image.image import TopicImage
from linker.data.chunk_sizes import ChunkSizes
from linker.data.credit import StreamSender
from linker.data.source_replicator import SourceReplicator
from linker.frames import Agreed, Beacon
from linker.offset_bounds import BehindOrigin
from tests.unit.linker.data.test_source_replicator import CHUNK, TOPIC_ID, Stage


class Chained(Stage):
    """The topic is a mirror itself, a minute more behind at each look."""

    def __init__(self) -> None:
        super().__init__(3)
        self.looks = 0
        self.region.image.topics_by_name["t"] = TopicImage("t", TOPIC_ID, writer="link")
        self.source = SourceReplicator(
            self.client,
            StreamSender(3),
            ChunkSizes(CHUNK),
            self.budget,
            origin_lag=self._origin_lag,
        )

    def _origin_lag(self, partition: TopicPartition, now: int) -> BehindOrigin:
        self.looks += 1
        return BehindOrigin(60_000 * self.looks)


def test_a_beacon_that_is_asked_for_does_not_look_at_all_that_is_mirrored_from_elsewhere() -> None:
    """Only time has passed for these. A reversal asks for a beacon of each of its topics."""
    stage = Chained()
    for partition in range(3):
        stage.subscribe(partition + 1, partition)
    looks = stage.looks
    stage.take(stage.source.beacon(5, nonce=7))
    assert stage.frames[-1] == Beacon(5, (), 7)
    assert stage.looks == looks
    stage.take(stage.source.beacon(5))
    assert [number for number, _ in stage.frames[-1].bounds] == [1, 2, 3]


def test_what_is_watched_is_told_in_the_next_beacon_and_never_sent() -> None:
    """Ten thousand mirrors that are paused cost no frame of their own."""
    stage = Stage(3)
    for partition in range(3):
        stage.subscribe(partition + 1, partition, is_watched=True)
    assert [type(frame) for frame in stage.frames] == [Agreed] * 3
    stage.credit(1 << 20)
    for partition in (0, 2):
        stage.region.ends[partition] = 50
        stage.take(stage.source.advanced(TopicPartition("t", partition), 5))
    assert (stage.reads, len(stage.frames)) == ([], 3)
    stage.take(stage.source.beacon(9))
    told = {number: bounds.high_watermark for number, bounds in stage.frames[-1].bounds}
    assert told == {1: 50, 3: 50}
    stage.take(stage.source.beacon(10))
    assert stage.frames[-1] == Beacon(10)


def test_each_beacon_has_all_that_is_watched_and_has_changed() -> None:
    stage = Stage(2)
    stage.subscribe(1, 0, is_watched=True)
    stage.region.ends[1] = 9
    stage.subscribe(2, 1, offset=9)
    stage.region.ends[0] = 50
    stage.take(stage.source.advanced(TopicPartition("t", 0), 5))
    stage.region.starts[1] = 4
    stage.take(stage.source.advanced(TopicPartition("t", 1), 6))
    assert [number for number, _ in stage.frames[-1].bounds] == [2, 1], "told at once, and with it"
    stage.take(stage.source.beacon(7))
    assert stage.frames[-1] == Beacon(7)
