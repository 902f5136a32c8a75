"""What the sending side looks at for a beacon."""

from brokers.ids import TopicPartition
from brokers.metadata.image.image import TopicImage
from linker.data.chunk_sizes import ChunkSizes
from linker.data.credit import StreamSender
from linker.data.source_replicator import SourceReplicator
from linker.frames import Beacon
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

    def _origin_lag(self, partition: TopicPartition, now: int) -> int:
        self.looks += 1
        return 60_000 * self.looks


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
