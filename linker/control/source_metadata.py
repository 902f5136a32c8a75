"""What a source sends besides data: the state of watched topics and the offsets of watched groups, when they change."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from brokers.config.endpoints import Address
from brokers.ids import Instant, OffsetAndMetadata, TopicPartition
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.image.image import LINK_LISTENER, Image, TopicImage
from brokers.region import RegionView
from linker.config_values import CLEANUP_POLICY
from linker.containment import NOTHING_CONTAINED, Containment
from linker.control.older_destinations import shown
from linker.data.credit import StreamSender
from linker.filters import Filter, admits
from linker.frames import TOPICS_MAX, Brokers, Former, GroupOffsets, SourceBroker, TopicState
from linker.records.mirror_record import MIRROR_KIND, MirrorRecord, decode_mirror
from linker.records.mirror_removal import is_left_behind
from linker.records.mirror_state import LIVE, MirrorState
from linker.records.unfenced_topic import unfenced_generation
from linker.region_client import Effects, RegionClient
from linker.sliced_work import Job, Step
from linker.watch_quotas import filters_size, names_size

FRAME_OFFSETS_MAX: Final = 1_000  # with metadata of 4 KB each, a frame of 4 MB
TOPIC_COST: Final = 20
GROUP_COST: Final = 3
GATHER_MS: Final = 20  # commits of a busy group are sent together


def topic_state(view: RegionView, topic: str) -> TopicState:
    """The topic in the newest image; internal topics are not shown to other regions."""
    image = view.image.topics_by_name.get(topic)
    if image is None or image.is_internal:
        return TopicState(topic, metadata_offset=view.image.next_offset)
    document = view.image.documents.get((MIRROR_KIND, topic))
    record = decode_mirror(topic, document.body) if document is not None else None
    if record is not None and is_left_behind(record, image.id):
        record = None
    return TopicState(
        topic,
        image.id.bytes,
        len(image.partitions),
        _configs(view, topic),
        tuple(partition.leader_epoch for partition in image.partitions),
        _origins(record),
        tuple(partition.leader for partition in image.partitions),
        view.image.next_offset,
        _former(record, unfenced_generation(view.image, topic, image.id)),
        _reversing(record, image),
    )


def _configs(view: RegionView, topic: str) -> dict[str, str]:
    """Those that are set for the topic, and a policy of compaction that all topics have: no mirror may follow that."""
    configs = dict(view.image.config((ResourceType.TOPIC, topic)))
    policy = view.topic_config(topic, CLEANUP_POLICY)
    return configs | {CLEANUP_POLICY: policy} if "compact" in policy else configs


def brokers_of(image: Image) -> Brokers:
    """The brokers that are alive and have registered a `link.listener`."""
    endpoints = {
        broker.id: broker.endpoint(LINK_LISTENER)
        for broker in image.brokers.values()
        if not broker.fenced
    }
    found = (
        SourceBroker(broker_id, str(Address(endpoint.host, endpoint.port)))
        for broker_id, endpoint in sorted(endpoints.items())
        if endpoint is not None
    )
    return Brokers(image.next_offset, tuple(found))


def _origins(record: MirrorRecord | None) -> tuple[str, ...]:
    """Where a mirror's records come from. What is going to be one has records of its own region still."""
    is_mirror = record is not None and record.state in LIVE
    if record is None or not is_mirror or record.state is MirrorState.PENDING_MIRROR:
        return ()
    return record.origins


def _reversing(record: MirrorRecord | None, image: TopicImage) -> Former | None:
    """From the time that its link is the topic's writer."""
    if record is None or record.state is not MirrorState.PENDING_MIRROR:
        return None
    if image.writer != record.link:
        return None
    return Former(record.origins[0], record.source_topic_id.bytes, record.generation)


def _former(record: MirrorRecord | None, unfenced: int) -> Former | None:
    """None for what is a mirror, or never was one. `unfenced`: the latest decision that an operator has overruled."""
    if record is None or record.state is not MirrorState.STOPPED or not record.origins:
        return None
    generation = max(record.generation, unfenced)
    return Former(record.origins[0], record.source_topic_id.bytes, generation)


class TopicPublisher:
    """Sends the state of each watched topic once, and again when it has changed."""

    def __init__(self, region: RegionClient, sender: StreamSender) -> None:
        self._region = region
        self._sender = sender
        self._sent: dict[str, TopicState | None] = {}
        self._sent_before: dict[
            str, TopicState | None
        ] = {}  # of the topics that were watched before
        self._wanted: Iterator[str] = iter(())  # topics that will be watched
        self._listed: tuple[str, ...] = ()  # the list that is looked through
        self._filters: tuple[Filter, ...] = ()
        self._changed: set[str] = set()  # of those, while the new list is looked through
        self._added: dict[str, None] = {}  # to the list, and not looked at yet
        self._removed: dict[str, None] = {}
        self.changes = 0
        self.hides_compaction = False  # from a destination that would give its mirror up

    @property
    def topics(self) -> Iterable[str]:
        """Those that are watched. `changes` rises whenever they may be others."""
        return self._sent.keys()

    @property
    def watched_bytes(self) -> int:
        """Of names and filters, about."""
        held = (self._sent, self._sent_before, self._added, self._removed, self._listed)
        return names_size(set().union(*held)) + filters_size(self._filters)

    def watch(self, topics: tuple[str, ...], filters: tuple[Filter, ...] = ()) -> Job:
        """These topics, those that the filters admit, and no others. A later call takes the place of one that is not
        done."""
        # What the list before this one does not have is sent again, whether that list was looked through or not.
        unseen = set(self._wanted)
        known = {topic: state for topic, state in self._sent_before.items() if topic in unseen}
        self._sent_before, self._sent = known | self._sent, {}
        self._filters, self._listed = filters, topics
        listed = set(topics)
        self._added = {topic: None for topic in self._added if topic in listed}
        self._removed = {}
        names = [*self._region.view.image.topics_by_name, *self._sent_before] if filters else []
        self._wanted = chain(topics, filter(self._admits, names))
        self.changes += 1
        return self._watch()

    def _admits(self, topic: str) -> bool:
        """Whether a topic is watched by the filters: one that exists, or did when it was looked at before this list."""
        image = self._region.view.image.topics_by_name.get(topic)
        was = self._sent_before.get(topic)
        is_theirs = not image.is_internal if image is not None else bool(was and was.topic_id)
        return is_theirs and len(self._sent) < TOPICS_MAX and admits(self._filters, topic)

    def _watch(self) -> Job:
        """Of a topic that was watched before, the newest state was sent: changes are, as they happen."""
        while (topic := next(self._wanted, None)) is not None:
            if topic not in self._sent:
                self.changes += 1
                known = self._sent[topic] = self._sent_before.get(topic)
                is_sent = known is not None and topic not in self._changed
                yield Step(1, []) if is_sent else self._look(topic)
        self._sent_before, self._listed = {}, ()
        self._changed.clear()

    def rewatch(self, added: tuple[str, ...], removed: tuple[str, ...]) -> Job:
        """Of topics that are watched already, those of `added` are sent once more."""
        for topic in removed:
            self._added.pop(topic, None)
            self._removed[topic] = None
        for topic in added:
            self._removed.pop(topic, None)
            if topic in self._sent or len(self._sent) + len(self._added) < TOPICS_MAX:
                self._added[topic] = None
        return self._rewatch()

    def _rewatch(self) -> Job:
        while self._removed:
            topic, _ = self._removed.popitem()
            if not admits(self._filters, topic):
                self._sent.pop(topic, None)
                self.changes += 1
            yield Step(1 + len(self._filters), [])
        while self._added:
            topic = next(iter(self._added))
            del self._added[topic]
            self._sent[topic] = None
            self.changes += 1
            yield self._look(topic)

    def changed(self, topics: Iterable[str]) -> Job:
        """Of these topics, those that are watched are looked at."""
        return (self._look(topic) for topic in topics)

    def _look(self, topic: str) -> Step:
        if topic not in self._sent and topic in self._sent_before:
            self._changed.add(topic)  # the new list may have it
            return Step(1, [])
        if topic not in self._sent:
            if not self._admits(topic):
                return Step(1, [])
            self.changes += 1
        state = topic_state(self._region.view, topic)
        if self.hides_compaction:
            state = shown(state)
        if state == self._sent.get(topic):
            return Step(TOPIC_COST, [])
        self._sent[topic] = state
        return Step(TOPIC_COST, [*self._sender.send(state)])


class GroupPublisher:
    """Sends the offsets that groups which the filters admit have committed for watched topics."""

    def __init__(
        self,
        region: RegionClient,
        sender: StreamSender,
        topics: TopicPublisher,
        contained: Containment = NOTHING_CONTAINED,
    ) -> None:
        self._contained = contained
        self._region = region
        self._sender = sender
        self._topics = topics
        self._filters: tuple[Filter, ...] = ()
        self._known_topics: frozenset[str] = frozenset()
        self._known_changes = -1  # of them, as the publisher of topics counts
        self.tells_deletions = False  # whether the destination's release follows them
        self.tells_activity = False
        self._gathered: dict[str, dict[TopicPartition, OffsetAndMetadata | None]] = {}
        self._timer: int | None = None

    @property
    def watched_bytes(self) -> int:
        """Of filters, about."""
        return filters_size(self._filters)

    def watch(self, filters: tuple[Filter, ...]) -> Job:
        self._filters = filters
        self._known_topics, self._known_changes = frozenset(), -1
        return self.topics_watched()

    def topics_watched(self) -> Job:
        """Sends everything committed so far for topics that were not watched before."""
        if not self._filters or self._known_changes == self._topics.changes:
            return
        self._known_changes = self._topics.changes
        watched = frozenset(self._topics.topics)
        fresh, self._known_topics = watched - self._known_topics, watched
        view = self._region.view
        for group in view.groups_with_offsets() if fresh else ():
            offsets = view.group_offsets(group)  # of now: the group may have committed since
            self._gather(group, {key: one for key, one in offsets.items() if key.topic in fresh})
            yield Step(GROUP_COST + len(offsets), self.flush())

    def committed(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | None], now: Instant
    ) -> Effects:
        """An offset that goes with its topic is not sent: the mirror may be what is left, and have its readers.

        No offset at all: the group has members now, or has none any more."""
        if not offsets:
            self._gather_activity(group)
        told = {
            key: value
            for key, value in offsets.items()
            if value is not None or (self.tells_deletions and self._is_there(key.topic))
        }
        self._gather(group, told)
        if self._gathered and self._timer is None:
            flush = self._contained.later(lambda _: self.flush())
            self._timer = self._region.timers.set(now + GATHER_MS, flush)
        return []

    def _gather_activity(self, group: str) -> None:
        """Of a group that has read a watched topic."""
        if not self.tells_activity or not admits(self._filters, group):
            return
        offsets = self._region.view.group_offsets(group)
        if any(key.topic in self._known_topics for key in offsets):
            self._gathered.setdefault(group, {})

    def _is_there(self, topic: str) -> bool:
        return topic in self._region.view.image.topics_by_name

    def _gather(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | None]
    ) -> None:
        wanted = {key: value for key, value in offsets.items() if key.topic in self._known_topics}
        if wanted and admits(self._filters, group):
            self._gathered.setdefault(group, {}).update(wanted)

    def _activity(self, group: str) -> bool | None:
        return self._region.view.group_is_active(group) if self.tells_activity else None

    def flush(self) -> Effects:
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
        gathered, self._gathered = self._gathered, {}
        return [
            effect
            for group, offsets in gathered.items()
            for frame in _frames(group, offsets, self._activity(group))
            for effect in self._sender.send(frame)
        ]


def _frames(
    group: str,
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None],
    is_active: bool | None,
) -> Iterator[GroupOffsets]:
    entries = list(offsets.items())
    for start in range(0, len(entries) or 1, FRAME_OFFSETS_MAX):
        part = entries[start : start + FRAME_OFFSETS_MAX]
        committed = {key: value for key, value in part if value is not None}
        deleted = tuple(key for key, value in part if value is None)
        yield GroupOffsets(group, committed, deleted, is_active)
