"""What was promoted or failed over is taken over: the link says so to its source, which makes those topics read-only.

The link coordinator tells the first broker of the source that it reaches, on each stream that opens and whenever a
topic is added. A source that was unreachable at the failover learns it before its link serves anything else. Then the
coordinator says what it mirrors and may take over: so the source knows that this was all, and whom to wait for when it
starts again. It says that again every minute, for a source whose operator has forgotten it, or that had no room for it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from brokers.ids import Instant
from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.control.source_brokers import SourceBrokers
from linker.frames import TOPICS_MAX, MirroredTopics, Superseded, SupersededTopic
from linker.protocol_versions import LISTS_MIRRORS_FROM, SUPERSEDES_FROM
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient

GATHER_MS: Final = 1_000  # mirrors that are made one after another are listed together
REPEAT_MS: Final = 60_000


class Superseding:
    """Of one link. `told` are the topics that the source was told of on the stream that is open."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        sources: SourceBrokers,
        mirrors: Mapping[str, MirrorTopic],
    ) -> None:
        self._region = region
        self._link = link
        self._sources = sources
        self._mirrors = mirrors
        self._version = 0  # of the protocol, on the first stream
        self._told: set[SupersededTopic] = set()
        self._listed: frozenset[bytes] | None = None  # on the stream that is open
        self._timer: int | None = None  # looks whether the list has changed
        self._looked_at: Instant = 0
        self._repeats: int | None = None  # the timer by which the list is told again

    def opened(self, version: int) -> None:
        """The first stream is another one."""
        self._version, self._listed = version, None
        self._told.clear()

    def tell(self, mirrors: Iterable[MirrorTopic], now: Instant) -> Effects:
        """Those of these mirrors that are stopped, unless the source knows; and in a while, what is mirrored."""
        if not self._is_able(SUPERSEDES_FROM):
            return []
        new = list(self._untold(mirrors)) if self._link.config.fences_source else []
        self._told.update(new)
        frames = (new[first : first + TOPICS_MAX] for first in range(0, len(new), TOPICS_MAX))
        sender = self._sources.first.sender
        effects = [effect for each in frames for effect in sender.send(Superseded(tuple(each)))]
        if self._listed is None:
            return effects + self._send_list(self._mirrored(), now)
        if self._timer is None:
            due = max(now, self._looked_at + GATHER_MS)
            self._timer = self._region.timers.set(due, self._on_due)
        return effects

    def _is_able(self, version: int) -> bool:
        is_known = self._sources.is_open and self._version >= version
        return is_known and self._region.is_coordinator

    def _untold(self, mirrors: Iterable[MirrorTopic]) -> Iterator[SupersededTopic]:
        for mirror in mirrors:
            record = mirror.record
            topic = SupersededTopic(
                record.source_topic, record.source_topic_id.bytes, record.generation
            )
            if record.state is MirrorState.STOPPED and topic not in self._told:
                yield topic

    # --- what is mirrored ---

    def _on_due(self, now: Instant) -> Effects:
        self._timer, self._looked_at = None, now
        return self._send_list(self._mirrored(), now)

    def _mirrored(self) -> frozenset[bytes]:
        """What may be taken over. Of what is STOPPED the source has been told."""
        records = (one.record for one in self._mirrors.values())
        return frozenset(
            one.source_topic_id.bytes
            for one in records
            if self._link.config.fences_source and one.state is not MirrorState.STOPPED
        )

    def _send_list(self, mirrored: frozenset[bytes], now: Instant) -> Effects:
        if mirrored == self._listed or not self._is_able(LISTS_MIRRORS_FROM):
            return []
        self._listed = mirrored
        self._disarm()
        self._repeats = self._region.timers.set(now + REPEAT_MS, self._on_repeat)
        return [*self._sources.first.sender.send(MirroredTopics(tuple(sorted(mirrored))))]

    def _on_repeat(self, now: Instant) -> Effects:
        """A source that knows it all does nothing."""
        self._repeats, self._listed = None, None
        return self._send_list(self._mirrored(), now)

    def _disarm(self) -> None:
        if self._repeats is not None:
            self._region.timers.cancel(self._repeats)
            self._repeats = None

    def close(self, now: Instant) -> Effects:
        """The link is deleted. A source that is not reached now goes on to wait for it when it starts."""
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None
        told = self._send_list(frozenset(), now)
        self._disarm()
        return told
