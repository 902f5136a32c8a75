"""The core of all links of one region, in both roles. Routes events; decides nothing itself.

As a source it serves the streams that other regions open to it. As a destination it has the links of this region, as
their records in the metadata log say.
"""

from collections.abc import Iterator
from typing import Final, assert_never

from brokers.events import TimeReached
from brokers.ids import Instant, Offset, Ticket, TopicPartition
from brokers.metadata.commands.mirror_commands import Superseder, superseder_of
from brokers.ports import Rng
from brokers.region import (
    AnswerMirrors,
    GroupOffsetsChanged,
    GroupsDescribed,
    HighWatermarkRead,
    ImageChanged,
    MirrorsAsked,
    MirrorsDescribed,
    OffsetFound,
    OffsetsPlaced,
    PartitionAdvanced,
    Placed,
    PlaceRefused,
    Proposed,
    ReadersFound,
    Ready,
    RegionView,
    Retain,
    RetentionDue,
)
from linker.administration.administration import Administration
from linker.config import LinkConfig, parse
from linker.control.chained_lag import ChainedLag
from linker.control.cluster_link import ClusterLink
from linker.control.ledger_retention import LedgerRetention
from linker.control.region_reports import RegionReports
from linker.control.source_destinations import SourceDestinations
from linker.control.source_fencing import SourceFencing
from linker.control.source_holds import SourceHolds
from linker.control.source_link import SourceLink, dials_as_source
from linker.control.source_probe import Found, SourceProbe
from linker.control.source_reversals import Known, SourceReversals
from linker.control.source_stream import SourceStream
from linker.control.startup_wait import StartupWait
from linker.control.write_holds import WriteHolds
from linker.data.credit import SendBudget
from linker.errors import LinkError, LinkRefusal
from linker.events import (
    AdminAnswered,
    AdminAsked,
    ChunkSent,
    CloseStream,
    FrameArrived,
    LinkerEffect,
    LinkerEvent,
    PartArrived,
    Send,
    Stream,
    StreamAccepted,
    StreamDialed,
    StreamEvent,
    StreamLost,
)
from linker.frames import Announce, Refused
from linker.node_limits import UNLIMITED, NodeLimits
from linker.records.link_state import LINK_KIND, LinkRecord, decode_link
from linker.region_client import Effects, RegionClient
from linker.sliced_work import Job, SlicedWork, Step

STATUS_COST: Final = 20  # of a mirror partition


class Linker:
    """Events enter through `step` only; `deadline` is when it needs `TimeReached`."""

    def __init__(
        self,
        view: RegionView,
        rng: Rng,
        hole_retention_ms: int,
        queued_bytes_max: int,
        *,
        is_fencing_enabled: bool = True,
        hold_limits: tuple[int, int] = (0, 0),
        startup_wait_ms: int = 0,
        limits: NodeLimits = UNLIMITED,
    ) -> None:
        """`hold_limits`: bytes, and the age in milliseconds, of what this region keeps for mirrors in others;
        `startup_wait_ms`: how long writes wait for these when it starts."""
        self.links: dict[str, ClusterLink] = {}
        self.source_links: dict[str, SourceLink] = {}
        self._region = RegionClient(view, rng, limits)
        self._ledger = LedgerRetention(self._region, hole_retention_ms)
        self.reports = RegionReports(self._region, self.links)
        self._administration = Administration(self._region, self)
        holds = WriteHolds()
        self._fencing = SourceFencing(self._region, holds, is_enabled=is_fencing_enabled)
        self.destinations = SourceDestinations(self._region, self._fencing)
        self.startup_wait = StartupWait(self._region, self.destinations, holds, startup_wait_ms)
        self._reversals = SourceReversals(self._region, self._known_link)
        self.holds = SourceHolds(self._region, *hold_limits)
        self._send_budget = SendBudget(queued_bytes_max)
        self._source_streams: dict[Stream, SourceStream] = {}
        self._probes: dict[Stream, SourceProbe] = {}
        self._last_stream: Stream = 0
        self._ready = False
        self._work = SlicedWork(self._region)

    @property
    def deadline(self) -> Instant | None:
        return self._region.timers.deadline

    @property
    def is_coordinator(self) -> bool:
        """Whether this broker is the link coordinator of its region."""
        return self._region.is_coordinator

    def skipped_offsets(self, topic: str) -> int:
        """How many offsets of its source a mirror topic does not have, by the hole ledger."""
        holes = self._region.holes.of(self._region.view.image, topic)
        return sum(one.missing for one in holes)

    def superseders(self) -> Iterator[Superseder | None]:
        """Of each topic of the region: which one has taken it over, None if none has."""
        for topic in list(self._region.view.image.topics_by_name.values()):
            yield superseder_of(topic.writer)

    def held_bytes(self) -> list[tuple[TopicPartition, int]]:
        """What retention leaves alone for mirrors in other regions, of this broker's replicas."""
        held = [one for hold in self.holds.records for one in self.holds.partitions_of(hold)]
        return [(one, self._region.view.held_bytes(one)) for one in dict.fromkeys(held)]

    @property
    def follows_logs(self) -> bool:
        """Whether this core needs `PartitionAdvanced`."""
        return bool(self._source_streams or self.links or self.source_links)

    def step(self, event: LinkerEvent, now: Instant) -> list[LinkerEffect]:
        """The same events at the same instants have the same effects."""
        match event:
            # The most frequent first.
            case FrameArrived() | PartArrived() | StreamDialed() | StreamLost() | ChunkSent():
                return self._on_stream(event, now)
            case PartitionAdvanced() | ImageChanged() | GroupOffsetsChanged():
                return self._on_region(event, now)
            case Placed() | PlaceRefused() | HighWatermarkRead() | Proposed() | OffsetsPlaced():
                return self._region.answered(event, now)
            case MirrorsDescribed() | GroupsDescribed() | ReadersFound() | OffsetFound():
                return self._region.answered(event, now)
            case RetentionDue():  # what is held is not known before the metadata is
                return [Retain(self.holds.by_partition())] if self._ready else []
            case MirrorsAsked(ticket, topics):
                return self._describe_mirrors(ticket, topics, now)
            case TimeReached():
                acts = self._region.timers.due(now)
                return [effect for act in acts for effect in act(now)]
            case StreamAccepted(stream):
                if not self._ready:
                    return [CloseStream(stream)]  # what this broker knows is not complete
                self._source_streams[stream] = self._new_source_stream(stream)
                return []
            case AdminAsked():
                return self._on_admin(event, now)
            case Ready():
                self._ready = True
                image = self._region.view.image
                self._region.holes.follow(image, image.documents)
                self.holds.follow(image.documents)
                self._region.elect()
                effects = self.startup_wait.ready(now)
                return effects + self.follow_links(now) + self._ledger.begin(now)
            case _:
                assert_never(event)

    def new_stream(self) -> Stream:
        """Streams that this core dials have negative numbers, those that its host accepts positive ones."""
        self._last_stream -= 1
        return self._last_stream

    def _new_source_stream(self, stream: Stream) -> SourceStream:
        made_with = (self._fencing, self._reversals, self.holds, self.destinations)
        origin_lag = ChainedLag(self._region, self.links)
        also = (origin_lag, self._on_stream_failed)
        return SourceStream(self._region, stream, self._send_budget, *made_with, *also)

    def _on_stream_failed(self, stream: Stream, because: str, now: Instant) -> Effects:
        """Of a stream that this end has closed, nothing else tells its link."""
        return self._on_stream(StreamLost(stream, LinkError.UNKNOWN, because), now)

    def _known_link(self, name: str) -> Known | None:
        return Known(link.record, link.config) if (link := self.links.get(name)) else None

    def follow_links(self, now: Instant) -> Effects:
        """Adopt the records of links from the metadata log."""
        effects: Effects = []
        documents = list(self._region.view.image.documents.items())
        found = {name: one for (kind, name), one in documents if kind == LINK_KIND}
        for name, document in found.items():
            halves = self._halves(name)
            if halves and all(each.version == document.version for each in halves):
                continue
            record = decode_link(name, document.body)
            if halves and halves[0].record.link_id != record.link_id:
                effects += self._forget_link(name, now)
            for each in self._halves(name):
                effects += each.adopt(record, document.version, now)
            effects += self._begin(record, document.version, now)
        for name in [name for name in (*self.links, *self.source_links) if name not in found]:
            effects += self._forget_link(name, now)
        return effects

    def _halves(self, name: str) -> "list[ClusterLink | SourceLink]":
        """What this broker does for a link, as its destination and as a source that dials."""
        found = (self.links.get(name), self.source_links.get(name))
        return [each for each in found if each is not None]

    def _begin(self, record: LinkRecord, version: Offset, now: Instant) -> Effects:
        """What this broker does for the link, and does not yet."""
        effects: Effects = []
        name, config = record.name, parse(record.configs)
        if dials_as_source(record, config) and name not in self.source_links:
            source_link = self.source_links[name] = SourceLink(
                self._region,
                record,
                version,
                self.new_stream,
                self._new_source_stream,
                self._source_streams,
            )
            effects += source_link.begin(now)
        if not config.is_source and name not in self.links:
            link = self.links[name] = ClusterLink(
                self._region,
                record,
                version,
                self.new_stream,
                self._administration.create_mirror_of,
            )
            effects += link.begin(now)
        return effects

    def _forget_link(self, name: str, now: Instant) -> Effects:
        halves = self._halves(name)
        self.links.pop(name, None)
        self.source_links.pop(name, None)
        return [effect for each in halves for effect in each.close(now)]

    def probe(
        self,
        record: LinkRecord,
        config: LinkConfig,
        found: Found,
        now: Instant,
        *,
        announces: bool,
    ) -> Effects:
        """`found` is called with the other region's cluster id, or why it is not known."""
        stream = self.new_stream()

        def answered(answer: str | LinkRefusal, at: Instant) -> Effects:
            del self._probes[stream]
            return found(answer, at)

        probe = SourceProbe(self._region, stream, record, config, answered, announces=announces)
        self._probes[stream] = probe
        return probe.begin(now)

    def _describe_mirrors(self, ticket: Ticket, topics: tuple[str, ...], now: Instant) -> Effects:
        """The link coordinator asks what this broker knows."""
        return self._work.add(self._mirrors(ticket, topics), now)

    def _mirrors(self, ticket: Ticket, topics: tuple[str, ...]) -> Job:
        found = []
        for topic in topics:
            for link in [each for each in self.links.values() if topic in each.mirrors]:
                effects = link.follow_clamps((topic,), self._work.now)
                status = link.status(topic, self._work.now)
                found += [] if status is None else [status]
                count = len(status.partitions) if status is not None else 0
                yield Step(STATUS_COST * (1 + count), effects)
        yield Step(1, [AnswerMirrors(ticket, tuple(found))])

    def _on_admin(self, event: AdminAsked, now: Instant) -> Effects:
        if not self._ready:
            refusal = LinkRefusal("NOT_CONTROLLER", "the node is still starting", hint="ask again")
            return [AdminAnswered(event.ticket, refusal)]
        return self._administration.answer(event, now)

    def _on_stream(self, event: StreamEvent, now: Instant) -> Effects:
        for source_link in self.source_links.values():
            if source_link.has_stream(event.stream):
                return source_link.on_event(event, now)
        source_stream = self._source_streams.get(event.stream)
        if source_stream is not None:
            return self._on_source_stream(source_stream, event, now)
        probe = self._probes.get(event.stream)
        if probe is not None:
            return self._on_probed(probe, event, now)
        for link in self.links.values():
            if link.has_stream(event.stream):
                return self._on_dialed(link, event, now)
        return []  # the stream was closed in between

    def _on_source_stream(
        self, source_stream: SourceStream, event: StreamEvent, now: Instant
    ) -> Effects:
        match event:
            case FrameArrived(stream, Announce() as announce) if source_stream.is_greeting:
                del self._source_streams[stream]
                return self._on_announced(stream, announce, now)
            case FrameArrived(stream, frame):
                effects = source_stream.on_frame(frame, now)
                if source_stream.closed:
                    del self._source_streams[stream]
                return effects
            case ChunkSent():
                return source_stream.on_chunk_sent(now)
            case StreamLost(stream):
                del self._source_streams[stream]
                source_stream.lost()
        return []

    def _on_announced(self, stream: Stream, announce: Announce, now: Instant) -> Effects:
        """Another region is the source of a link of this one, and has dialed."""
        if (link := self.links.get(announce.link_name)) is not None:
            return link.accept(stream, announce, now)
        missing = LinkError.REMOTE_LINK_NOT_FOUND_ERROR.value
        because = f"there is no link {announce.link_name} in region {self._region.view.cluster_id}"
        return [Send(stream, Refused(missing, because)), CloseStream(stream)]

    def _on_probed(self, probe: SourceProbe, event: StreamEvent, now: Instant) -> Effects:
        match event:
            case StreamDialed():
                return probe.on_dialed()
            case FrameArrived(_, frame):
                return probe.on_frame(frame, now)
            case StreamLost(_, error, because):
                return probe.on_lost(error, because, now)
        return []

    def _on_dialed(self, link: ClusterLink, event: StreamEvent, now: Instant) -> Effects:
        match event:
            case StreamDialed():
                return link.on_dialed(event.stream, now)
            case FrameArrived(stream, frame):
                return link.on_frame(stream, frame, now)
            case PartArrived(stream):
                link.part_arrived(stream)
            case StreamLost(stream, error, because):
                return link.on_lost(stream, error, because, now)
        return []

    def _on_region(
        self, event: PartitionAdvanced | ImageChanged | GroupOffsetsChanged, now: Instant
    ) -> Effects:
        effects: Effects = []
        if isinstance(event, ImageChanged):
            effects += self.startup_wait.follow(event.delta, now)
        if not self._ready:
            return effects
        for stream, source_stream in list(self._source_streams.items()):
            effects += source_stream.on_region(event, now)
            if source_stream.closed:
                del self._source_streams[stream]
        if isinstance(event, PartitionAdvanced):
            for link in self.links.values():
                effects += link.partition_advanced(event.partition, now)
        if isinstance(event, GroupOffsetsChanged):
            self._region.commits.update({partition.topic for partition in event.offsets})
        if isinstance(event, ImageChanged):
            effects += self._on_image(event, now)
        return effects

    def _on_image(self, event: ImageChanged, now: Instant) -> Effects:
        delta = event.delta
        effects: Effects = []
        self._region.holes.follow(self._region.view.image, delta.documents_changed)
        self.holds.follow(delta.documents_changed)
        self.holds.led(delta.partitions_changed)
        if any(kind == LINK_KIND for kind, _ in delta.documents_changed):
            effects += self.follow_links(now)
        if delta.brokers_changed and self._region.elect():
            for link in list(self.links.values()):
                effects += link.coordinator_changed(now)
        for link in list(self.links.values()) if delta.brokers_changed else ():
            effects += link.brokers_changed()
        changed = dict.fromkeys(
            (*delta.topics_created, *delta.topics_changed, *delta.topic_configs_changed)
        )
        for link in list(self.links.values()):
            effects += link.documents_changed(delta.documents_changed, now)
            effects += link.topics_changed(changed, delta.topics_deleted, now)
        effects += self._fencing.follow(delta)
        if delta.topics_deleted:
            effects += self.holds.topics_deleted(delta.topics_deleted)
        is_due = delta.topics_deleted and self._region.is_coordinator
        return effects + (self._ledger.check(now) if is_due else [])
