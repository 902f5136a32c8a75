"""What a source sends besides data: the state of watched topics and the offsets of watched groups, when they change."""

from collections.abc import Iterable, Mapping
from typing import Final

from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.region import RegionView
from linker.data.credit import StreamSender
from linker.filters import Filter, admits
from linker.frames import GroupOffsets, TopicState
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 20  # commits of a busy group are sent together


def topic_state(view: RegionView, topic: str) -> TopicState:
    """The topic in the newest image; internal topics are not shown to other regions."""
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
    """Sends the state of each watched topic once, and again when it has changed."""

    def __init__(self, region: RegionClient, sender: StreamSender) -> None:
        self._region = region
        self._sender = sender
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
                effects += self._sender.send(state)
        return effects


class GroupPublisher:
    """Sends the offsets that groups which the filters admit have committed for watched topics."""

    def __init__(self, region: RegionClient, sender: StreamSender, topics: TopicPublisher) -> None:
        self._region = region
        self._sender = sender
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
        """Sends everything committed so far for topics that were not watched before."""
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
        """A deleted offset is not sent: the group keeps its offset at the destination."""
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
        return [effect for frame in frames for effect in self._sender.send(frame)]
