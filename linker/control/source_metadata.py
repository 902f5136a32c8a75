"""What a source tells besides data: the state of watched topics and the offsets of watched groups, driven by change."""

from collections.abc import Iterable, Mapping
from typing import Final

from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.region import RegionView
from linker.data.credit import StreamSender
from linker.filters import Filter, admits
from linker.frames import GroupOffsets, TopicState
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 20  # commits of a busy group travel together


def topic_state(view: RegionView, topic: str) -> TopicState:
    """The topic as it is agreed on now; internal topics are nobody else's business."""
    image = view.image.topics_by_name.get(topic)
    if image is None or image.is_internal:
        return TopicState(topic)
    return TopicState(
        topic,
        image.id.bytes,
        len(image.partitions),
        dict(view.image.config((ResourceType.TOPIC, topic))),
        tuple(partition.leader_epoch for partition in image.partitions),
    )


class TopicPublisher:
    """Tells each watched topic once, and again when it changed."""

    def __init__(self, region: RegionClient, line: StreamSender) -> None:
        self._region = region
        self._line = line
        self._told: dict[str, TopicState | None] = {}

    @property
    def topics(self) -> Iterable[str]:
        return self._told.keys()

    def watch(self, topics: tuple[str, ...]) -> Effects:
        self._told = {topic: self._told.get(topic) for topic in topics}
        return self.changed(topics)

    def changed(self, topics: Iterable[str]) -> Effects:
        effects: Effects = []
        for topic in topics:
            if topic not in self._told:
                continue
            state = topic_state(self._region.view, topic)
            if state != self._told[topic]:
                self._told[topic] = state
                effects += self._line.send(state)
        return effects


class GroupPublisher:
    """Tells the offsets that admitted groups committed for watched topics."""

    def __init__(self, region: RegionClient, line: StreamSender, topics: TopicPublisher) -> None:
        self._region = region
        self._line = line
        self._topics = topics
        self._filters: tuple[Filter, ...] = ()
        self._known_topics: frozenset[str] = frozenset()
        self._gathered: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self._timer: int | None = None

    def watch(self, filters: tuple[Filter, ...]) -> Effects:
        self._filters = filters
        self._known_topics = frozenset()
        return self.topics_watched()

    def topics_watched(self) -> Effects:
        """Everything committed so far for topics that were not watched before."""
        watched = frozenset(self._topics.topics)
        fresh, self._known_topics = watched - self._known_topics, watched
        if not fresh or not self._filters:
            return []
        for group, offsets in self._region.view.group_offsets().items():
            self._gather(
                group, {key: value for key, value in offsets.items() if key.topic in fresh}
            )
        return self.flush()

    def committed(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | None], now: Instant
    ) -> Effects:
        """A deleted offset is not carried: the mirror's group keeps where it stood."""
        present = {key: value for key, value in offsets.items() if value is not None}
        self._gather(group, present)
        if self._gathered and self._timer is None:
            self._timer = self._region.timers.set(now + GATHER_MS, lambda _: self.flush())
        return []

    def _gather(self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        wanted = {key: value for key, value in offsets.items() if key.topic in self._known_topics}
        if wanted and admits(self._filters, group):
            self._gathered.setdefault(group, {}).update(wanted)

    def flush(self) -> Effects:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
        gathered, self._gathered = self._gathered, {}
        frames = [GroupOffsets(group, offsets) for group, offsets in gathered.items()]
        return [effect for frame in frames for effect in self._line.send(frame)]
