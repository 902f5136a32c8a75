"""The destination's side of retention holds: asks its source to keep what its mirrors do not hold yet, and tells it
what they hold.

The link coordinator asks, on the first stream. Each broker tells of what it leads, on the stream of each partition.
"""

from collections.abc import Mapping
from typing import Final

from brokers.effects import Changed
from brokers.ids import Instant, TopicPartition
from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_brokers import SourceBrokers
from linker.data.destination_stream import DestinationStream
from linker.hold_frames import (
    POSITIONS_MAX,
    HeldTopic,
    HoldRetention,
    MirrorPositions,
    RetentionHeld,
)
from linker.protocol_versions import HOLDS_FROM
from linker.records.mirror_state import LIVE, MirrorState
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 200  # mirrors that are made one after another are asked for together
TELL_MS: Final = 1_000
FRAME_TOPICS_MAX: Final = 5_000


class HoldRequests:
    """Of one link. `because`: why the source does not keep what it was asked to."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        sources: SourceBrokers,
        mirrors: Mapping[str, MirrorTopic],
    ) -> None:
        self.because = ""
        self._region = region
        self._link = link
        self._sources = sources
        self._mirrors = mirrors
        self._version = 0  # of the protocol, on the first stream
        self._told: HoldRetention | None = None  # on the first stream that is open
        self._ask_timer: int | None = None
        self._repeat_timer: int | None = None
        self._moved: dict[TopicPartition, None] = {}  # their positions are to be told
        self._tell_timer: int | None = None

    # --- asking ---

    def opened(self, version: int) -> Effects:
        """The first stream is another one."""
        self._version, self._told, self.because = version, None, ""
        if version >= HOLDS_FROM or not self._link.config.holds_retention:
            return []
        self.because = "the source runs a release that does not know retention holds: upgrade it"
        return [Changed(f"link {self._link.name}", "without a retention hold", self.because)]

    def changed(self, now: Instant) -> Effects:
        """The link's configuration, its mirrors, or its coordinator."""
        if self._link.config.holds_retention:
            self._move_all()
            self._arm(now)
        if self._ask_timer is None and self._is_able:
            self._ask_timer = self._region.timers.set(now + GATHER_MS, self._ask)
        if self._repeat_timer is None and (self._is_able or self._link.config.holds_retention):
            pause = self._link.config.number("metadata.max.age.ms")
            self._repeat_timer = self._region.timers.set(now + pause, self._repeat)
        return []

    @property
    def _is_able(self) -> bool:
        is_known = self._sources.is_open and self._version >= HOLDS_FROM
        return is_known and self._region.is_coordinator

    def _ask(self, now: Instant) -> Effects:
        self._ask_timer = None
        return self._send(self._wanted()) if self._is_able else []

    def _repeat(self, now: Instant) -> Effects:
        """What a broker of the source was told last may have been overtaken by what another one was told before, or it
        did not know of the hold yet."""
        self._repeat_timer, self._told = None, None
        return self.changed(now)

    def _wanted(self) -> HoldRetention:
        config = self._link.config
        bounds = (config.number("retention.hold.max.bytes"), config.number("retention.hold.max.ms"))
        topics = {
            HeldTopic(one.record.source_topic, one.record.source_topic_id.bytes): None
            for one in self._mirrors.values()
            if one.record.state in LIVE and one.record.state is not MirrorState.PENDING_MIRROR
        }
        return HoldRetention(*bounds, tuple(topics) if config.holds_retention else ())

    def _send(self, wanted: HoldRetention) -> Effects:
        if wanted == self._told:
            return []
        self._told = wanted
        topics = wanted.topics
        effects: Effects = []
        for first in range(0, max(1, len(topics)), FRAME_TOPICS_MAX):
            after = first + FRAME_TOPICS_MAX
            effects += self._sources.first.sender.send(
                HoldRetention(
                    wanted.max_bytes, wanted.max_ms, topics[first:after], after < len(topics)
                )
            )
        return effects

    def close(self) -> Effects:
        """The link is deleted. A source that is not reached now keeps its hold, up to the bounds."""
        for timer in (self._ask_timer, self._repeat_timer, self._tell_timer):
            if timer is not None:
                self._region.timers.cancel(timer)
        self._ask_timer = self._repeat_timer = self._tell_timer = None
        return self._send(HoldRetention(0, 0, ())) if self._is_able else []

    def answered(self, frame: RetentionHeld) -> Effects:
        """What the source allows."""
        because = frame.because
        if not because and frame.max_ms < self._link.config.number("retention.hold.max.ms"):
            because = (
                f"records for {frame.max_ms} ms only, by the source's link.retention.hold.max.ms"
            )
        if because == self.because:
            return []
        self.because = because
        return [Changed(f"link {self._link.name}", "retention hold", because)] if because else []

    # --- telling ---

    def moved(self, partition: TopicPartition, now: Instant) -> None:
        """A mirror partition's high watermark may have moved, or it is subscribed anew."""
        if self._link.config.holds_retention:
            self._moved[partition] = None
            self._arm(now)

    def _move_all(self) -> None:
        for mirror in self._mirrors.values():
            for index in mirror.replicators.by_index:
                self._moved[TopicPartition(mirror.topic, index)] = None

    def _arm(self, now: Instant) -> None:
        if self._tell_timer is None and self._moved:
            self._tell_timer = self._region.timers.set(now + TELL_MS, self._tell)

    def _tell(self, now: Instant) -> Effects:
        self._tell_timer = None
        moved, self._moved = self._moved, {}
        found: dict[DestinationStream, list[tuple[int, int]]] = {}
        for partition in moved:
            mirror = self._mirrors.get(partition.topic)
            each = mirror.replicators.by_index.get(partition.partition) if mirror else None
            state = self._region.view.partition_state(partition)
            if each is None or not each.running or state is None or not state.is_serving:
                continue
            if not each.streams:
                self._moved[partition] = None  # until the source has agreed
            elif each.stream.version >= HOLDS_FROM:
                found.setdefault(each.stream, []).append((each.subscription, state.high_watermark))
        self._arm(now)
        return [
            effect
            for stream, positions in found.items()
            for first in range(0, len(positions), POSITIONS_MAX)
            for effect in stream.sender.send(
                MirrorPositions(tuple(positions[first : first + POSITIONS_MAX]))
            )
        ]
