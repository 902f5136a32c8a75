"""A link that lives here: its stream to the source, its mirror topics, its groups. Hands frames to their owners."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from linker import holes
from linker.config import MIB, LinkConfig, parse
from linker.desk import Desk, Effects
from linker.dialing import Dialing, Phase
from linker.errors import MirrorError
from linker.events import Stream
from linker.feed import Feed
from linker.frames import (
    Agreed,
    AskBeacon,
    Beacon,
    Chunk,
    Declined,
    Frame,
    GroupOffsets,
    Hello,
    TopicState,
    WatchGroups,
    WatchTopics,
)
from linker.groups import GroupFollower
from linker.holes import HOLE_KIND, decode_hole
from linker.lag import SourceClock
from linker.line import Line, Window
from linker.link import LINK_KIND, LinkRecord
from linker.mirror import LIVE, MIRROR_KIND, MirrorRecord, MirrorState, decode_mirror
from linker.stopping import Stopping
from linker.topics import MirrorTopic

# Bandwidth times round trip: 32 MiB under way keep 400 MB/s moving across an 80 ms ocean.
WINDOW_BYTES: Final = 32 * MIB

Inquirer = Callable[[TopicState | None, Instant], Effects]


class DestinationLink:
    """`record` is what the metadata log says, as of document `version`."""

    def __init__(
        self, desk: Desk, record: LinkRecord, version: Offset, new_stream: Callable[[], Stream]
    ) -> None:
        self.name = record.name
        self.record = record
        self.version = version
        self.config: LinkConfig = parse(record.configs)
        self.line = Line()
        self.window = Window(self.line, WINDOW_BYTES)
        self.source_clock = SourceClock()
        self.source_clock_before: Instant = -1
        self.mirrors: dict[str, MirrorTopic] = {}
        self.stoppings: dict[str, Stopping] = {}
        self.making: list[str] = []  # mirrors under way to their topics: the link must outlive that
        self.leaving = False  # it is being deleted: no mirror more
        self.new_stream = new_stream
        self.groups = GroupFollower(desk, self)
        self.dialing = Dialing(desk, self)
        self._desk = desk
        self._subscriptions = 0
        self._feeds: dict[int, Feed] = {}  # by subscription
        self._watched: tuple[str, ...] = ()
        self._inquiries: dict[str, list[Inquirer]] = {}
        self._untried: list[Callable[[Instant], Effects]] = []
        self._nonce = 0
        self._beacons_asked: dict[int, Callable[[Instant], Effects]] = {}

    # --- what the parts ask of their link ---

    @property
    def is_open(self) -> bool:
        return self.dialing.phase is Phase.OPEN

    def subscribed(self, feed: Feed) -> int:
        self._subscriptions += 1
        self._feeds[self._subscriptions] = feed
        return self._subscriptions

    def unsubscribed(self, subscription: int) -> None:
        self._feeds.pop(subscription, None)

    def hello(self) -> Hello:
        return Hello(
            self.name,
            self.record.link_id,
            self._desk.view.cluster_id,
            self.record.source_cluster_id,
            self.config.number("replica.fetch.max.bytes"),
        )

    def latest_start(self, partition: TopicPartition) -> Offset | None:
        return holes.latest_start(self.holes(partition.topic), partition)

    def holes(self, topic: str) -> list[holes.Hole]:
        """Everything in the ledger for a topic here, starts at "latest" included."""
        documents = self._desk.view.image.documents.items()
        ledger = (decode_hole(found.body) for (kind, _), found in documents if kind == HOLE_KIND)
        return [hole for hole in ledger if hole.partition.topic == topic]

    def mirror_of(self, source_topic: str) -> str | None:
        for mirror in self.mirrors.values():
            record = mirror.record
            if record.source_topic != source_topic or record.state not in LIVE:
                continue
            # What failed holds other records than its source has now, whose offsets say nothing of them.
            if record.cut is None and record.state is not MirrorState.FAILED:
                return mirror.topic
        return None

    def fail_mirror(self, topic: str, error: MirrorError, because: str, now: Instant) -> Effects:
        mirror = self.mirrors.get(topic)
        return mirror.fail(error, because, now) if mirror is not None else []

    def ask_beacon(self, then: Callable[[Instant], Effects]) -> Effects:
        self._nonce += 1
        self._beacons_asked[self._nonce] = then
        return [*self.line.send(AskBeacon(self._nonce))]

    def when_tried(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """`then` runs once the link is open, or an attempt to open it has failed."""
        if self.is_open or self.config.paused:
            return then(now)
        self._untried.append(then)
        return []

    def inquire(self, source_topic: str, inquirer: Inquirer, now: Instant) -> Effects:
        """What the source's topic looks like; None when the link does not open, or closes before the answer."""
        return self.when_tried(partial(self._inquire, source_topic, inquirer), now)

    def _inquire(self, source_topic: str, inquirer: Inquirer, now: Instant) -> Effects:
        if not self.is_open:
            return inquirer(None, now)
        self._inquiries.setdefault(source_topic, []).append(inquirer)
        # Asked anew even where it is watched: the answer is as fresh as the question.
        watched = tuple(topic for topic in self._watched if topic != source_topic)
        self._watched = (*watched, source_topic)
        return [*self.line.send(WatchTopics(watched), WatchTopics(self._watched))]

    def _tried(self, now: Instant) -> Effects:
        untried, self._untried = self._untried, []
        return [effect for then in untried for effect in then(now)]

    # --- documents ---

    def begin(self, now: Instant) -> Effects:
        """The link is new, or its node has started."""
        return self.follow_documents(now) + self.dialing.reconsider(now)

    def adopt(self, record: LinkRecord, version: Offset, now: Instant) -> Effects:
        """The metadata log says so."""
        before = self.config
        self.record, self.version = record, version
        self.config = parse(record.configs)
        self.groups.narrow()
        redial = (before.bootstrap_servers, before.paused, before.value("replica.fetch.max.bytes"))
        config = self.config
        if redial != (
            config.bootstrap_servers,
            config.paused,
            config.value("replica.fetch.max.bytes"),
        ):
            return self.dialing.reconsider(now)
        effects: Effects = []
        if before.group_filters != self.config.group_filters:
            effects += self.line.send(WatchGroups(self.config.group_filters))
        for mirror in self.mirrors.values():
            effects += mirror.follow(now)
        return effects

    def follow_documents(self, now: Instant) -> Effects:
        """Take over what the metadata log says of this link's mirrors."""
        effects: Effects = []
        found: dict[str, MirrorRecord] = {}
        for (kind, name), document in list(self._desk.view.image.documents.items()):
            if kind != MIRROR_KIND:
                continue
            known = self.mirrors.get(name)
            if known is not None and known.version == document.version:
                found[name] = known.record
                continue
            record = decode_mirror(name, document.body)
            if record.link == self.name:
                found[name] = record
                effects += self._adopt_mirror(record, document.version, now)
        for topic in [topic for topic in self.mirrors if topic not in found]:
            gone = self.mirrors.pop(topic)
            effects += gone.stop_feeds()
            self.groups.forget(gone.record.source_topic)
            effects += self.stoppings.pop(topic).abandon(now)
        return effects + self._watch()

    def _adopt_mirror(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        mirror = self.mirrors.get(record.topic)
        effects: Effects = []
        if mirror is None:
            mirror = MirrorTopic(self._desk, self, record, version)
            self.mirrors[record.topic] = mirror
            self.stoppings[record.topic] = Stopping(self._desk, self, mirror)
            effects += mirror.refresh(now)
        else:
            effects += mirror.adopt(record, version, now)
        return effects + self.stoppings[record.topic].resume(now)

    def partition_advanced(self, partition: TopicPartition, now: Instant) -> Effects:
        mirror = self.mirrors.get(partition.topic)
        if mirror is None or mirror.record.state not in LIVE:
            return []
        return mirror.advanced(partition.partition, now)

    def topics_changed(
        self, changed: Iterable[str], deleted: Iterable[str], now: Instant
    ) -> Effects:
        """Our region's topics moved: mirrors follow, and one that was deleted here is forgotten."""
        effects: Effects = []
        for topic in deleted:
            mirror = self.mirrors.get(topic)
            if mirror is not None and not self._exists(topic):
                effects += [*mirror.stop_feeds(), self._forget(mirror)]
        for topic in changed:
            mirror = self.mirrors.get(topic)
            if mirror is not None and self._exists(topic):
                effects += mirror.refresh(now) + mirror.follow(now)
        return effects

    def _exists(self, topic: str) -> bool:
        return topic in self._desk.view.image.topics_by_name

    def _forget(self, mirror: MirrorTopic) -> object:
        """Without the topic there is nothing that its record and its holes would speak of."""
        items = [DocumentChange(kind=MIRROR_KIND, name=mirror.topic, body=None)]
        for hole in self.holes(mirror.topic):
            items.append(DocumentChange(kind=HOLE_KIND, name=hole.name, body=None))
        return self._desk.propose(
            PutDocuments(tuple(items)), lambda _, now: self.follow_documents(now)
        )

    # --- the stream ---

    def on_open(self, source_cluster_id: str, now: Instant) -> Effects:
        self.window = Window(self.line, WINDOW_BYTES)
        effects: Effects = [
            *self.window.open(),
            *self.line.send(WatchGroups(self.config.group_filters)),
        ]
        self._watched = ()
        effects += self._watch()
        for topic, mirror in self.mirrors.items():
            effects += mirror.refresh(now) + self.stoppings[topic].resume(now)
        if self.record.source_cluster_id != source_cluster_id:
            effects.append(self._learn(source_cluster_id))
        return effects + self._tried(now)

    def _learn(self, source_cluster_id: str) -> object:
        """From now on only this region will do."""
        known = self.record
        record = LinkRecord(
            known.name, known.link_id, source_cluster_id, known.configs, known.created_at
        )
        item = DocumentChange(
            kind=LINK_KIND, name=self.name, body=record.encode(), expected_version=self.version
        )
        return self._desk.propose(PutDocuments((item,)), self._on_learnt)

    def _on_learnt(self, result: object, now: Instant) -> Effects:
        if isinstance(result, Refusal):
            return [Changed(f"link {self.name}", "source not recorded", result.because)]
        return []

    def on_closed(self, now: Instant) -> Effects:
        """The stream is gone, or did not come."""
        effects: Effects = []
        self._beacons_asked.clear()
        for topic, mirror in self.mirrors.items():
            effects += mirror.stop_feeds()
            self.stoppings[topic].link_lost()
        inquiries, self._inquiries = self._inquiries, {}
        for inquirers in inquiries.values():
            for inquirer in inquirers:
                effects += inquirer(None, now)
        return effects + self._tried(now)

    def _watch(self) -> Effects:
        """Tell the source which topics we follow, when that changed."""
        live = [mirror.record for mirror in self.mirrors.values() if mirror.record.state in LIVE]
        wanted = tuple(dict.fromkeys((*(one.source_topic for one in live), *self._inquiries)))
        if wanted == self._watched or not self.is_open:
            return []
        self._watched = wanted
        return [*self.line.send(WatchTopics(wanted))]

    def on_frame(self, frame: Frame, now: Instant) -> Effects:
        self.dialing.heard()
        if self.dialing.phase is Phase.GREETING:
            return self.dialing.on_greeting(frame, now)
        match frame:
            case Chunk(subscription=subscription, clock=clock):
                self._hear(clock, now)
                feed = self._feeds.get(subscription)
                if feed is None:
                    return [*self.window.release(len(frame.data))]
                return feed.on_chunk(frame, now)
            case Beacon():
                return self._on_beacon(frame, now)
            case Agreed(subscription=subscription, clock=clock):
                self._hear(clock, now)
                feed = self._feeds.get(subscription)
                return feed.on_agreed(frame, now) if feed is not None else []
            case Declined(subscription=subscription):
                feed = self._feeds.get(subscription)
                return feed.on_declined(frame, now) if feed is not None else []
            case TopicState():
                return self._on_topic_state(frame, now)
            case GroupOffsets():
                return self.groups.on_offsets(frame, now)
            case _:
                return []  # a newer source may say more than we understand

    def _hear(self, clock: Instant, now: Instant) -> None:
        self.source_clock_before = self.source_clock.clock
        self.source_clock.hear(clock, now)

    def _on_beacon(self, frame: Beacon, now: Instant) -> Effects:
        self._hear(frame.clock, now)
        effects: Effects = []
        for subscription, standing in frame.standings:
            feed = self._feeds.get(subscription)
            if feed is not None:
                effects += feed.on_standing(standing, frame.clock, now)
        asked = self._beacons_asked.pop(frame.nonce, None)
        return effects + (asked(now) if asked is not None else [])

    def _on_topic_state(self, state: TopicState, now: Instant) -> Effects:
        effects: Effects = []
        for mirror in self.mirrors.values():
            if mirror.record.source_topic == state.topic:
                effects += mirror.on_source_state(state, now)
        for inquirer in self._inquiries.pop(state.topic, ()):
            effects += inquirer(state, now)
        return effects + self._watch()
