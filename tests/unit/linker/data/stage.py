"""A replicator with its surroundings, for tests that ask and answer by hand."""

import random
from typing import Any

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.metadata.image.image import Image
from brokers.region import (
    PartitionState,
    PlaceBatches,
    Placed,
    PlaceRefused,
    Propose,
    Proposed,
    SkipTo,
)
from linker.config import parse
from linker.data.credit import CreditWindow
from linker.data.destination_stream import DestinationStream
from linker.data.replicator import PartitionReplicator
from linker.errors import MirrorError
from linker.events import Send
from linker.frames import Agreed, Chunk
from linker.offset_bounds import OffsetBounds
from linker.records.hole_ledger import Hole
from linker.region_client import RegionClient

ORDERS = TopicPartition("orders", 0)
WINDOW = 8_000


class Region:
    """What a feed looks at."""

    def __init__(self) -> None:
        self.end = 0
        self.leader_epoch = 0
        self.online = True
        self.is_followed = True
        self.image = Image("east")

    def topic_config(self, topic: str, key: str) -> str:
        return {"cleanup.policy": "delete"}[key]

    def records_were_deleted(self, partition: TopicPartition, base: int, start: int) -> bool:
        return False

    def bytes_between(self, partition: TopicPartition, base: int, end: int) -> int:
        return -1

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        return PartitionState(
            log_start_offset=0,
            log_end_offset=self.end,
            high_watermark=self.end,
            last_stable_offset=self.end,
            leader_epoch=self.leader_epoch,
            epochs=(),
            segment_bases=(0,),
            online=self.online,
            is_followed=self.is_followed,
        )


class Link:
    """What a feed belongs to."""

    name = "west-east"

    def __init__(self, **configs: str) -> None:
        self.stream = DestinationStream(lambda: WINDOW)
        self.stream.sender.stream = 7
        self.stream.open()
        given = {"bootstrap.servers": "west:9092", "retry.backoff.ms": "100"}
        self.config = parse({**given, **configs})
        self.failures: list[tuple[MirrorError, str]] = []
        self.refuses = False
        self.is_former_primary = False
        self.holes: list[Hole] = []

    @property
    def subscriptions(self) -> int:
        return self.stream._subscriptions

    @property
    def window(self) -> CreditWindow:
        return self.stream.window

    def fail_mirror(self, topic: str, error: MirrorError, because: str, now: int) -> list[Any]:
        self.failures.append((error, because))
        return []

    def was_primary(self, topic: str) -> bool:
        return self.is_former_primary

    def may_trim(self, topic: str) -> bool:
        return True

    def subscribed(self, partition: TopicPartition, now: int) -> list[Any]:
        return []

    def is_restored(self, topic: str) -> bool:
        return False

    def refuse_hole(self, hole: Hole, now: int) -> list[Any] | None:
        self.holes.append(hole)
        return [] if self.refuses else None


class Stage:
    """A feed with its surroundings; `effects` are those of the last event. From `markers_from` on the source has
    removed no deletion marker, and the last one at `markers_removed_at`."""

    markers_from = -1
    markers_removed_at = -1

    def __init__(self, **configs: str) -> None:
        self.region = Region()
        self.link = Link(**configs)
        self.client = RegionClient(self.region, random.Random(1))  # type: ignore[arg-type]
        self.feed = PartitionReplicator(
            self.client,
            self.link,
            ORDERS,
            ORDERS,
            b"i" * 16,
            self.link,
        )
        self.now = 1_000
        self.effects: list[Any] = []

    def start(self) -> "Stage":
        self.effects = self.feed.start(self.link.stream, -1, self.now)
        return self

    def agree(
        self,
        start: int = 0,
        epoch: int = 0,
        log_start: int = 0,
        end: int = 100,
        began_at: int = 0,
    ) -> "Stage":
        bounds = self._bounds(log_start, end)
        frame = Agreed(self.link.subscriptions, start, epoch, bounds, self.now, began_at=began_at)
        self.effects = self.feed.on_agreed(frame, self.now)
        return self

    def _bounds(self, log_start: int, end: int) -> OffsetBounds:
        return OffsetBounds(
            log_start,
            end,
            end,
            markers_from=self.markers_from,
            markers_removed_at=self.markers_removed_at,
        )

    def chunk(self, offset: int, next_offset: int, epoch: int = 0, size: int = 100) -> "Stage":
        frame = Chunk(
            self.link.subscriptions,
            offset,
            next_offset,
            epoch,
            False,
            self._bounds(0, 100),
            self.now,
            b"x" * size,
        )
        self.effects = self.feed.on_chunk(frame, self.now)
        return self

    def answer(self, question: Any, error: KafkaError = KafkaError.NONE) -> "Stage":
        """The region answers one placing."""
        if error:
            answer: Any = PlaceRefused(question.ticket, ORDERS, error, error.name, self.region.end)
        else:
            assert isinstance(question, PlaceBatches | SkipTo)
            self.region.end = question.offset + (10 if isinstance(question, PlaceBatches) else 0)
            answer = Placed(question.ticket, ORDERS, self.region.end)
        self.effects = self.client.answered(answer, self.now)
        return self

    def decide(self, question: Any, result: object = None) -> "Stage":
        self.effects = self.client.answered(Proposed(question.ticket, result), self.now)
        return self

    def later(self) -> "Stage":
        due = self.client.timers.deadline
        assert due is not None
        self.now = due
        self.effects = [effect for act in self.client.timers.due(due) for effect in act(due)]
        return self

    def at_once(self) -> "Stage":
        """What waits for the end of this step only is done."""
        self.effects += [
            effect for act in self.client.timers.due(self.now) for effect in act(self.now)
        ]
        return self

    def placed(self) -> list[PlaceBatches]:
        return [effect for effect in self.effects if isinstance(effect, PlaceBatches)]

    def proposed(self) -> list[Any]:
        return [effect for effect in self.effects if isinstance(effect, Propose)]

    def sent(self, kind: type) -> list[Any]:
        return [
            effect.frame
            for effect in self.effects
            if isinstance(effect, Send) and isinstance(effect.frame, kind)
        ]


def streaming() -> Stage:
    return Stage().start().agree()
