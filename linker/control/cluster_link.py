"""A link on one broker of its destination: creates its parts, and passes events to each of them.

Every broker copies what it leads. Only the link coordinator follows topics and groups, and carries out commands.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import MirrorStatus
from linker.config import LinkConfig
from linker.control.auto_mirrors import AutoMirrors, CreateMirrorOf
from linker.control.connection import Phase
from linker.control.group_sync import GroupSync
from linker.control.group_watch import GroupWatch
from linker.control.link_settings import LinkSettings, record_other_end
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.control.mirror_topics import MirrorTopics
from linker.control.reversing import Reversing
from linker.control.source_brokers import SourceBrokers, must_redial
from linker.control.source_connection import SourceConnection, mismatch_of
from linker.control.source_topics import Inquirer, SourceTopics
from linker.control.stop_lists import StopLists
from linker.control.superseding import Superseding
from linker.data.destination_stream import DestinationStream
from linker.errors import LinkError, TaskError
from linker.events import CloseStream, Send, Stream
from linker.filters import Filter
from linker.frames import (
    Agreed,
    Announce,
    Beacon,
    Brokers,
    Chunk,
    Declined,
    Frame,
    GroupOffsets,
    Refused,
    TopicState,
    Welcome,
)
from linker.hold_frames import RetentionHeld
from linker.records.link_state import LinkRecord, LinkState
from linker.records.mirror_record import MIRROR_KIND
from linker.records.stop_list import STOP_LIST_KIND
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import ReversalRefused, ReversalsChecked


class ClusterLink:
    """One link of this region, on this broker."""

    def __init__(
        self,
        region: RegionClient,
        record: LinkRecord,
        version: Offset,
        new_stream: Callable[[], Stream],
        create_mirror: CreateMirrorOf,
    ) -> None:
        self._settings = LinkSettings(record, version)
        self._sources = SourceBrokers(region, self._settings, new_stream, self)
        self._groups = GroupSync(
            region,
            self._settings,
            lambda topic: self._mirror_topics.mirror_of(topic),
            lambda: self._mirror_topics.reports,
            lambda: self._group_watch.again(),
        )
        self._group_watch = GroupWatch(self._sources, lambda: self._group_filters)
        self._mirror_topics = MirrorTopics(
            region,
            self._settings,
            self._sources,
            self._groups,
            lambda: self._source_topics.watch(),
            lambda topic: self._source_topics.again(topic),
            lambda topic, now: self._source_topics.mirror_deleted(topic, now),
        )
        self._auto_mirrors = AutoMirrors(
            region,
            self._settings,
            self.mirrors,
            create_mirror,
            self._mirror_topics.on_source_state,
        )
        self._source_topics = SourceTopics(
            region,
            self._settings,
            self._sources,
            lambda: self._mirror_topics.source_topics,
            lambda topic: self._mirror_topics.lacks_state(topic),
            lambda: self._auto_mirrors.filters,
        )
        self._superseding = Superseding(region, self._settings, self._sources, self.mirrors)
        self.reversing = Reversing(region, self._settings, self._sources)
        self._is_being_deleted = False
        self._answered_by = ""  # the source's cluster id, as it said itself
        self._region = region

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def record(self) -> LinkRecord:
        """The link's document in the metadata log, of version `version`."""
        return self._settings.record

    @property
    def version(self) -> Offset:
        return self._settings.version

    @property
    def config(self) -> LinkConfig:
        return self._settings.config

    @property
    def source_cluster_id(self) -> str:
        """Also before the record has it."""
        return self.record.source_cluster_id or self._answered_by

    @property
    def state(self) -> LinkState:
        return self._sources.availability.state

    @property
    def error(self) -> LinkError:
        return self._sources.availability.error

    @property
    def because(self) -> str:
        """Why the link is not ACTIVE."""
        return self._sources.availability.because

    @property
    def mirrors(self) -> Mapping[str, MirrorTopic]:
        return self._mirror_topics.by_name

    @property
    def reports(self) -> MirrorReports:
        """What the brokers know of the mirror partitions that they lead."""
        return self._mirror_topics.reports

    def status(self, topic: str, now: Instant) -> MirrorStatus | None:
        """What this broker knows of a mirror topic; None if it is none of this link."""
        return self._mirror_topics.status(topic, now)

    def follow_clamps(self, topics: Iterable[str], now: Instant) -> Effects:
        """This broker may coordinate other groups by now."""
        return self._mirror_topics.follow_clamps(topics, now)

    @property
    def groups(self) -> GroupSync:
        """The group offsets that the link copies."""
        return self._groups

    @property
    def group_error(self) -> TaskError:
        return self._groups.task_error

    @property
    def hold_refused(self) -> str:
        """Why the source does not keep what it was asked to (`retention.hold.enable`)."""
        return self._mirror_topics.holds.because

    @property
    def auto_mirrors(self) -> AutoMirrors:
        """The mirrors that are created by themselves."""
        return self._auto_mirrors

    @property
    def groups_not_copied(self) -> list[str]:
        """Groups that have members here, or whose commits were refused."""
        return sorted({*self._groups.in_use, *self._groups.refused})

    @property
    def groups_before_start(self) -> list[str]:
        """Groups that have committed offsets below the log start of a mirror."""
        return sorted(self._groups.before_start)

    # --- operators ---

    @property
    def creating(self) -> list[str]:
        """Mirrors whose topics are being created: the link must not be deleted."""
        return sorted(self._mirror_topics.creating)

    def begin_creating(self, topic: str) -> None:
        self._mirror_topics.creating.append(topic)

    def end_creating(self, topic: str) -> None:
        self._mirror_topics.creating.remove(topic)

    @property
    def is_being_deleted(self) -> bool:
        """Whether no mirror may be added, because it would be left without a link."""
        return self._is_being_deleted

    def set_being_deleted(self, *, is_so: bool) -> None:
        """Not so: it could not be deleted."""
        self._is_being_deleted = is_so

    @property
    def stop_lists(self) -> StopLists:
        """Promotes, fails over and reverses mirror topics."""
        return self._mirror_topics.stop_lists

    def promotion_waits_for(self, topic: str, now: Instant) -> str:
        return self._mirror_topics.failovers[topic].waits_for(now)

    def restore_waits_for(self, topic: str) -> str:
        return self._mirror_topics.restores[topic].because

    def reversal_waits_for(self, topic: str) -> str:
        """Of a topic that is PENDING_MIRROR."""
        return self._mirror_topics.pending[topic].because

    @property
    def source_version(self) -> int:
        """Of the link protocol, on the first stream to the source; 0 before there was one."""
        return self.reversing.version

    def inquire(self, source_topic: str, inquirer: Inquirer, now: Instant) -> Effects:
        """`inquirer` receives the source topic; None when the link does not open, or closes before the answer."""
        return self._source_topics.inquire(source_topic, inquirer, now)

    def when_tried(self, then: Callable[[Instant], Effects], now: Instant) -> Effects:
        """`then` runs once the link is open, or an attempt to open it has failed."""
        return self._source_topics.when_tried(then, now)

    # --- the metadata log ---

    def begin(self, now: Instant) -> Effects:
        """The link is new, or its node has started."""
        self._follow_group_filters()
        self._source_topics.begin(now)
        effects = self.follow_documents(None, now) + self.stop_lists.follow(None, now)
        return effects + self._sources.reconsider(now)

    def adopt(self, record: LinkRecord, version: Offset, now: Instant) -> Effects:
        """The metadata log has a newer record of this link."""
        before = self._settings.adopt(record, version)
        config = self._settings.config
        self._source_topics.begin(now)
        self._groups.narrow()
        self._follow_group_filters()
        if must_redial(before, config):
            return self._sources.reconsider(now)
        effects: Effects = []
        if before.group_filters != config.group_filters:
            effects += self._watch_groups(now)
        if before.topic_filters != config.topic_filters:
            self._auto_mirrors.forget_all()
            self._source_topics.watch()
        effects += self._tell(self.mirrors.values(), now)
        return effects + self._mirror_topics.follow_settings(now)

    def coordinator_changed(self, now: Instant) -> Effects:
        """This broker has become the link coordinator, or is it no longer."""
        self._follow_group_filters()
        if not self._region.is_coordinator:
            self._groups.forget_all()
            self._auto_mirrors.forget_all()
        effects = self._mirror_topics.coordinator_changed(now)
        effects += self._tell(self.mirrors.values(), now)
        self._source_topics.watch()
        return effects + self._watch_groups(now)

    def _follow_group_filters(self) -> None:
        self._sources.watches_groups = bool(self._group_filters)

    @property
    def _group_filters(self) -> tuple[Filter, ...]:
        """Only the coordinator copies group offsets."""
        return self._settings.config.group_filters if self._region.is_coordinator else ()

    def _watch_groups(self, now: Instant) -> Effects:
        """Tell every broker of the source; and be connected to all of them, or no longer."""
        return [*self._sources.follow_wanted(now), *self._group_watch.tell()]

    def documents_changed(self, changed: Collection[tuple[str, str]], now: Instant) -> Effects:
        """These documents of the metadata log, of any kind."""
        mirrors = [name for kind, name in changed if kind == MIRROR_KIND]
        effects = self.follow_documents(mirrors, now) if mirrors else []
        lists = [name for kind, name in changed if kind == STOP_LIST_KIND]
        return effects + self.stop_lists.follow(lists, now)

    def follow_documents(self, topics: Iterable[str] | None, now: Instant) -> Effects:
        """Adopt the records of these mirror topics from the metadata log; None: of all of this link."""
        changed = None if topics is None else list(topics)
        effects = self._mirror_topics.follow_documents(changed, now)
        names = self.mirrors if changed is None else changed
        found = [self.mirrors[name] for name in names if name in self.mirrors]
        self._source_topics.watch()
        return effects + self._tell(found, now)

    def _tell(self, mirrors: Iterable[MirrorTopic], now: Instant) -> Effects:
        """What the source has to know of these."""
        found = list(mirrors)
        told = self._superseding.tell(found, now) + self.reversing.tell(found)
        return told + self._mirror_topics.holds.changed(now)

    # --- the region ---

    def partition_advanced(self, partition: TopicPartition, now: Instant) -> Effects:
        return self._mirror_topics.partition_advanced(partition, now)

    def topics_changed(
        self, changed: Iterable[str], deleted: Iterable[str], now: Instant
    ) -> Effects:
        return self._mirror_topics.topics_changed(changed, deleted, now)

    # --- the stream ---

    def has_stream(self, stream: Stream) -> bool:
        """Whether this is a stream that is open or being opened."""
        return self._sources.has_stream(stream)

    def accept(self, stream: Stream, announce: Announce, now: Instant) -> Effects:
        """A broker of the source has dialed."""
        mismatch = mismatch_of(self._settings, announce, self._region.view.cluster_id)
        if mismatch is not None:
            return [Send(stream, Refused(*mismatch)), CloseStream(stream)]
        return self._sources.accept(stream, announce, now)

    def brokers_changed(self) -> Effects:
        """A broker of this region was registered, fenced or unregistered."""
        return self._sources.send_brokers()

    def on_dialed(self, stream: Stream, now: Instant) -> Effects:
        return self._connection(stream).on_dialed(now)

    def on_lost(self, stream: Stream, error: LinkError, because: str, now: Instant) -> Effects:
        return self._connection(stream).on_lost(error, because, now)

    def _connection(self, stream: Stream) -> SourceConnection:
        connection = self._sources.connection_of(stream)
        assert connection is not None, stream
        return connection

    def close(self, now: Instant) -> Effects:
        """The link is deleted."""
        self._source_topics.end()
        told = self._superseding.close(now) + self._mirror_topics.holds.close()
        return told + self._sources.close(now)

    def on_open(self, stream: DestinationStream, welcome: Welcome, now: Instant) -> Effects:
        """The source has answered as expected."""
        effects = self._group_watch.tell() + self._source_topics.send()
        effects += self._mirror_topics.opened(now)
        if stream is not self._sources.first:
            return effects
        self._answered_by = welcome.cluster_id
        self._superseding.opened(welcome.version)
        self.reversing.opened(welcome.version)
        effects += self._mirror_topics.holds.opened(welcome.version)
        effects += self._tell(self.mirrors.values(), now)
        self._auto_mirrors.on_open(welcome)
        effects += self._settings.not_done_by(welcome)
        if self._region.is_coordinator:
            effects += record_other_end(self._region, self._settings, welcome.cluster_id)
        return effects + self._source_topics.tried(now)

    def on_closed(self, stream: DestinationStream, now: Instant) -> Effects:
        """A stream was lost, or could not be opened."""
        self._group_watch.closed(stream)
        effects = self._mirror_topics.closed(stream, now)
        return effects + self._source_topics.stream_closed(stream, now) + self._group_watch.tell()

    def part_arrived(self, stream: Stream) -> None:
        """Of a frame that may take longer than a silent source is waited for."""
        self._connection(stream).frame_received()

    def on_frame(self, stream: Stream, frame: Frame, now: Instant) -> Effects:
        connection = self._connection(stream)
        connection.frame_received()
        if connection.phase is Phase.GREETING or isinstance(frame, Refused):
            return connection.on_greeting(frame, now)
        match frame:
            case Chunk() | Beacon() | Agreed() | Declined():
                return connection.data.on_frame(frame, now)
            case Brokers():
                return self._sources.on_brokers(frame, connection, now)
            case ReversalRefused():
                return self._mirror_topics.on_reversal_refused(frame, now)
            case ReversalsChecked():
                return self.reversing.checks.answered(frame, now)
            case TopicState():
                effects = self._mirror_topics.on_source_state(frame, now)
                mirror = self.mirrors.get(self.config.prefix + frame.topic)
                effects += self.reversing.source_changed(mirror) if mirror is not None else []
                effects += self._source_topics.answered(frame, now)
                return effects + self._auto_mirrors.on_source_state(frame, now)
            case RetentionHeld():
                return self._mirror_topics.holds.answered(frame)
            case GroupOffsets():
                return self._groups.on_offsets(frame, now)
            case _:
                return []  # a newer source may send frames that this release does not know
