"""All links of one region behind one door, in both roles. Routes events to who owns the rule; owns none.

As a source it serves the streams that other regions open to it; as a destination it keeps the links that live here.
Everything that must survive is in the region's metadata log, and followed from there.
"""

from typing import assert_never

from brokers.events import TimeReached
from brokers.ids import Instant
from brokers.ports import Rng
from brokers.region import (
    GroupOffsetsChanged,
    HighWatermarkRead,
    ImageChanged,
    OffsetsPlaced,
    PartitionAdvanced,
    Placed,
    PlaceRefused,
    Proposed,
    Ready,
    RegionView,
)
from linker.administration.administration import Administration
from linker.config import LinkConfig
from linker.control.link_coordinator import LinkCoordinator
from linker.control.source_probe import Found, SourceProbe
from linker.control.source_stream import SourceStream
from linker.errors import LinkRefusal
from linker.events import (
    AdminAnswered,
    AdminAsked,
    ChunkSent,
    FrameArrived,
    LinkerEffect,
    LinkerEvent,
    Stream,
    StreamAccepted,
    StreamDialed,
    StreamLost,
)
from linker.records.link_state import LINK_KIND, LinkRecord, decode_link
from linker.region_client import Effects, RegionClient


class Linker:
    """`step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(self, view: RegionView, rng: Rng) -> None:
        self.links: dict[str, LinkCoordinator] = {}
        self._region = RegionClient(view, rng)
        self._administration = Administration(self._region, self)
        self._servings: dict[Stream, SourceStream] = {}
        self._probes: dict[Stream, SourceProbe] = {}
        self._last_stream: Stream = 0
        self._ready = False

    @property
    def deadline(self) -> Instant | None:
        return self._region.timers.deadline

    @property
    def follows_logs(self) -> bool:
        """Whether anybody here needs to hear of a partition's progress."""
        return bool(self._servings or self.links)

    def step(self, event: LinkerEvent, now: Instant) -> list[LinkerEffect]:
        """Same events at the same instants give the same effects."""
        match event:
            case (
                PartitionAdvanced() | ImageChanged() | GroupOffsetsChanged()
            ):  # the most frequent first
                return self._on_region(event, now)
            case Placed() | PlaceRefused() | HighWatermarkRead() | Proposed() | OffsetsPlaced():
                return self._region.answered(event, now)
            case FrameArrived() | StreamDialed() | StreamLost() | ChunkSent():
                return self._on_stream(event, now)
            case TimeReached():
                acts = self._region.timers.due(now)
                return [effect for act in acts for effect in act(now)]
            case StreamAccepted(stream):
                self._servings[stream] = SourceStream(self._region, stream)
                return []
            case AdminAsked():
                return self._on_admin(event, now)
            case Ready():
                self._ready = True
                return self.follow_links(now)
            case _:
                assert_never(event)

    def new_stream(self) -> Stream:
        """Streams that we dial have negative numbers, those that a host accepted positive ones."""
        self._last_stream -= 1
        return self._last_stream

    def follow_links(self, now: Instant) -> Effects:
        """Take over what the metadata log says of links."""
        effects: Effects = []
        found: dict[str, None] = {}
        for (kind, name), document in list(self._region.view.image.documents.items()):
            if kind != LINK_KIND:
                continue
            found[name] = None
            link = self.links.get(name)
            if link is not None and link.settings.version == document.version:
                continue
            record = decode_link(name, document.body)
            if link is not None and link.settings.record.link_id == record.link_id:
                effects += link.adopt(record, document.version, now)
                continue
            if link is not None:
                effects += self.links.pop(name).close(now)
            self.links[name] = LinkCoordinator(
                self._region, record, document.version, self.new_stream
            )
            effects += self.links[name].begin(now)
        for name in [name for name in self.links if name not in found]:
            effects += self.links.pop(name).close(now)
        return effects

    def probe(self, record: LinkRecord, config: LinkConfig, found: Found, now: Instant) -> Effects:
        """`found` gets the source's cluster id, or why it could not be had."""
        stream = self.new_stream()

        def answered(answer: str | LinkRefusal, at: Instant) -> Effects:
            del self._probes[stream]
            return found(answer, at)

        self._probes[stream] = SourceProbe(self._region, stream, record, config, answered)
        return self._probes[stream].begin(now)

    def _on_admin(self, event: AdminAsked, now: Instant) -> Effects:
        if not self._ready:
            refusal = LinkRefusal("NOT_CONTROLLER", "the node is still starting", hint="ask again")
            return [AdminAnswered(event.ticket, refusal)]
        return self._administration.ask(
            event.command, lambda answer, _: [AdminAnswered(event.ticket, answer)], now
        )

    def _on_stream(
        self, event: FrameArrived | StreamDialed | StreamLost | ChunkSent, now: Instant
    ) -> Effects:
        serving = self._servings.get(event.stream)
        if serving is not None:
            return self._on_served(serving, event, now)
        probe = self._probes.get(event.stream)
        if probe is not None:
            return self._on_probed(probe, event, now)
        for link in self.links.values():
            if link.connection.stream == event.stream:
                return self._on_dialed(link, event, now)
        return []  # of a stream that was closed meanwhile

    def _on_served(
        self,
        serving: SourceStream,
        event: FrameArrived | StreamDialed | StreamLost | ChunkSent,
        now: Instant,
    ) -> Effects:
        match event:
            case FrameArrived(stream, frame):
                effects = serving.on_frame(frame, now)
                if serving.closed:
                    del self._servings[stream]
                return effects
            case ChunkSent():
                return serving.on_chunk_sent(now)
            case StreamLost(stream):
                del self._servings[stream]
                serving.lost()
        return []

    def _on_probed(
        self,
        probe: SourceProbe,
        event: FrameArrived | StreamDialed | StreamLost | ChunkSent,
        now: Instant,
    ) -> Effects:
        match event:
            case StreamDialed():
                return probe.on_dialed()
            case FrameArrived(_, frame):
                return probe.on_frame(frame, now)
            case StreamLost(_, error, because):
                return probe.on_lost(error, because, now)
        return []

    def _on_dialed(
        self,
        link: LinkCoordinator,
        event: FrameArrived | StreamDialed | StreamLost | ChunkSent,
        now: Instant,
    ) -> Effects:
        match event:
            case StreamDialed():
                return link.on_dialed(now)
            case FrameArrived(_, frame):
                return link.on_frame(frame, now)
            case StreamLost(_, error, because):
                return link.on_lost(error, because, now)
        return []

    def _on_region(
        self, event: PartitionAdvanced | ImageChanged | GroupOffsetsChanged, now: Instant
    ) -> Effects:
        effects: Effects = []
        if not self._ready:
            return effects
        for stream, serving in list(self._servings.items()):
            effects += serving.on_region(event, now)
            if serving.closed:
                del self._servings[stream]
        if isinstance(event, PartitionAdvanced):
            for link in self.links.values():
                effects += link.partition_advanced(event.partition, now)
        if isinstance(event, ImageChanged):
            effects += self._on_image(event, now)
        return effects

    def _on_image(self, event: ImageChanged, now: Instant) -> Effects:
        delta = event.delta
        effects: Effects = []
        if delta.documents_changed:
            effects += self.follow_links(now)
        if delta.brokers_changed:
            for link in self.links.values():
                effects += link.brokers_changed(now)
        changed = dict.fromkeys(
            (*delta.topics_created, *delta.topics_changed, *delta.topic_configs_changed)
        )
        for link in list(self.links.values()):
            if delta.documents_changed:
                effects += link.follow_documents(now)
            effects += link.topics_changed(changed, delta.topics_deleted, now)
        return effects
