"""The mirror's side of a reversal: what its link tells the source, and whether the source's topic is read-only.

Each stream that opens brings all that is pending to the source, so what a crash has lost is told again.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from linker.control.link_settings import LinkSettings
from linker.control.mirror_topic import MirrorTopic
from linker.control.reversal_checks import ReversalChecks
from linker.control.source_brokers import SourceBrokers
from linker.frames import TOPICS_MAX, Former
from linker.protocol_versions import REVERSES_FROM
from linker.records.mirror_record import CutKind, MirrorRecord
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import (
    Reverse,
    ReversedTopic,
    WithdrawnReversal,
    WithdrawReversals,
)

NOT_TAKEN_BACK: Final = "the source has not taken its topic back yet"

Notice: TypeAlias = ReversedTopic | WithdrawnReversal


def generation_of(mirror: MirrorTopic, kind: CutKind) -> int:
    """Of the mirror while this is pending."""
    # That of others rises at the cut.
    return next_generation(mirror) if kind.is_reversal else mirror.record.generation


def next_generation(mirror: MirrorTopic) -> int:
    """Above all that either region has known of the topic: the source may have taken it over from a third one."""
    heard = mirror.source_state.generation if mirror.source_state is not None else 0
    return max(mirror.record.generation, mirror.record.source_generation, heard) + 1


def is_fenced(region: RegionClient, mirror: MirrorTopic) -> bool:
    """Whether the source's topic is read-only for the reversal that is pending."""
    state = mirror.source_state
    topic = region.view.image.topics_by_name.get(mirror.topic)
    if state is None or topic is None:
        return False
    expected = Former(region.view.cluster_id, topic.id.bytes, mirror.record.generation)
    return state.reversing == expected


def lost_fence(region: RegionClient, mirror: MirrorTopic) -> str:
    """Why the reversal cannot go on, although the source's topic was read-only before; empty if it is still."""
    record, state = mirror.record, mirror.source_state
    if not record.is_reversing or record.fenced_at < 0 or state is None:
        return ""
    is_older = state.metadata_offset < record.fenced_at
    if is_older or is_fenced(region, mirror):
        return ""
    return "the source has taken its topic back"


def unheard_withdrawal(region: RegionClient, mirror: MirrorTopic) -> Former | None:
    """The reversal that was taken back here, for which the source's topic is still read-only, as far as is known."""
    topic = region.view.image.topics_by_name.get(mirror.topic)
    reversing = mirror.source_state.reversing if mirror.source_state is not None else None
    if topic is None or reversing is None:
        return None
    is_own = reversing[:2] == (region.view.cluster_id, topic.id.bytes)
    return reversing if is_own and _is_given_up(mirror.record, reversing) else None


def to_be_reversed(region: RegionClient, mirror: MirrorTopic, *, is_paused: bool) -> ReversedTopic:
    """As the source would be told, if it were reversed now."""
    return ReversedTopic(
        mirror.record.source_topic,
        mirror.record.source_topic_id.bytes,
        region.view.image.topics_by_name[mirror.topic].id.bytes,
        next_generation(mirror),
        is_paused,
        mirror.version,
    )


class Reversing:
    """Of one link, on its coordinator. `_told`: what the source was told last on the stream that is open, by topic."""

    def __init__(self, region: RegionClient, link: LinkSettings, sources: SourceBrokers) -> None:
        self.version = 0  # of the protocol, on the first stream
        self._region = region
        self._link = link
        self._sources = sources
        self._told: dict[str, Notice] = {}
        self.checks = ReversalChecks(region, sources)

    def opened(self, version: int) -> None:
        """The first stream is another one."""
        self.version = version
        self._told.clear()

    def tell(self, mirrors: Iterable[MirrorTopic]) -> Effects:
        """What the source has to know of these mirrors, unless it was told."""
        is_able = self._sources.is_open and self.version >= REVERSES_FROM
        if not is_able or not self._region.is_coordinator:
            return []
        found = (self._notice(mirror) for mirror in mirrors)
        new = [one for one in found if one is not None and self._told.get(one.topic) != one]
        self._told.update((each.topic, each) for each in new)
        return list(self._send(new))

    def source_changed(self, mirror: MirrorTopic) -> Effects:
        """The broker that was told may have been behind, and have ignored it; it is not any more."""
        self._told.pop(mirror.record.source_topic, None)
        return self.tell((mirror,))

    def _send(self, notices: list[Notice]) -> Iterator[object]:
        sender = self._sources.first.sender
        begun = [each for each in notices if isinstance(each, ReversedTopic)]
        ended = [each for each in notices if isinstance(each, WithdrawnReversal)]
        for first in range(0, len(begun), TOPICS_MAX):
            yield from sender.send(Reverse(tuple(begun[first : first + TOPICS_MAX])))
        for first in range(0, len(ended), TOPICS_MAX):
            yield from sender.send(WithdrawReversals(tuple(ended[first : first + TOPICS_MAX])))

    def _notice(self, mirror: MirrorTopic) -> Notice | None:
        record = mirror.record
        topic = self._region.view.image.topics_by_name.get(record.topic)
        if topic is None:
            return None
        if record.is_promoting and record.is_reversing:
            return ReversedTopic(
                record.source_topic,
                record.source_topic_id.bytes,
                topic.id.bytes,
                record.generation,
                record.stop is CutKind.REVERSE_AND_PAUSE,
                mirror.version,
            )
        unheard = unheard_withdrawal(self._region, mirror)
        if unheard is None:
            return None
        return WithdrawnReversal(
            record.source_topic, record.source_topic_id.bytes, unheard.generation
        )


def _is_given_up(record: MirrorRecord, reversing: Former) -> bool:
    """Whether the source is read-only for a reversal that was before this state of the mirror, which follows it."""
    return (
        record.cut is None
        and not record.halted
        and not record.is_reversing
        and reversing.generation < record.generation
    )
