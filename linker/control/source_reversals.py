"""The source's side of a reversal: its topic becomes read-only, and is the mirror of its own mirror later.

Any broker of the source may be asked: the answer is a record in the metadata log, and the link coordinator goes on.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from brokers.errors import Refusal
from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.timers import Act
from linker.config import LinkConfig
from linker.data.credit import StreamSender
from linker.records.link_state import LinkRecord
from linker.records.mirror_record import MIRROR_KIND, Asked, CutKind, MirrorRecord, decode_mirror
from linker.records.mirror_state import TRANSITIONS, MirrorState, MirrorTrigger
from linker.region_client import Effects, RegionClient
from linker.reversal_frames import (
    CheckReversals,
    ReversalRefused,
    ReversalsChecked,
    Reverse,
    ReversedTopic,
    WithdrawnReversal,
    WithdrawReversals,
)
from linker.sliced_work import Job, Step

RETRY_MS: Final = 500
CHECK_COST: Final = 10  # of a topic, in microseconds
GENERATION_MAX: Final = 2**31 - 1
TARGET: Final = TRANSITIONS[MirrorState.STOPPED, MirrorTrigger.REVERSED]


class Known(NamedTuple):
    """The link of this region that the other one named."""

    record: LinkRecord
    config: LinkConfig


class Why(NamedTuple):
    """Why a topic is not reversed."""

    code: str
    because: str


class SourceReversals:
    """One per broker. `link_of` returns a link of this region by its name."""

    def __init__(self, region: RegionClient, link_of: Callable[[str], Known | None]) -> None:
        self._region = region
        self._link_of = link_of
        self._asking: set[str] = set()
        # What was withdrawn while the reversal was being written down: nobody may say it again.
        self._withdrawn: dict[str, Act] = {}

    def reverse(
        self, frame: Reverse, cluster_id: str, link_name: str, sender: StreamSender, now: Instant
    ) -> Effects:
        """Region `cluster_id` asks on the stream of its link `link_name`."""
        return [
            effect
            for topic in dict.fromkeys(frame.topics)
            for effect in self._reverse(topic, cluster_id, link_name, sender, now)
        ]

    def check(
        self, frame: CheckReversals, cluster_id: str, link_name: str, sender: StreamSender
    ) -> Job:
        """The same, of which nothing is done: answers what would be refused."""
        refused = []
        for topic in dict.fromkeys(frame.topics):
            why = self._why_not(topic, cluster_id, link_name)
            if why is not None:
                refused.append(ReversalRefused(topic.topic, topic.generation, *why))
            yield Step(CHECK_COST, [])
        yield Step(1, [*sender.send(ReversalsChecked(frame.nonce, tuple(refused)))])

    def _reverse(
        self,
        topic: ReversedTopic,
        cluster_id: str,
        link_name: str,
        sender: StreamSender,
        now: Instant,
    ) -> Effects:
        why = self._why_not(topic, cluster_id, link_name)
        if why is not None:
            refused = ReversalRefused(topic.topic, topic.generation, *why)
            return [*sender.send(refused)]
        if topic.topic in self._asking or self._is_done(topic):
            return []
        again = partial(self._reverse, topic, cluster_id, link_name, sender)
        return self._put(self._pending(topic, cluster_id, link_name, now), again)

    def _record(self, topic: str) -> MirrorRecord | None:
        document = self._region.view.image.documents.get((MIRROR_KIND, topic))
        return decode_mirror(topic, document.body) if document is not None else None

    def _is_done(self, topic: ReversedTopic) -> bool:
        record = self._record(topic.topic)
        is_pending = record is not None and record.state is MirrorState.PENDING_MIRROR
        return is_pending and record is not None and record.generation == topic.generation

    def _why_not(self, topic: ReversedTopic, cluster_id: str, link_name: str) -> Why | None:
        why = _why_not_link(self._link_of(link_name), link_name, cluster_id)
        if why is not None or self._is_done(topic):
            return why
        placed = self._region.view.image.topics_by_name.get(topic.topic)
        if placed is None or placed.is_internal or placed.id.bytes != topic.topic_id:
            because = f"{topic.topic} of that topic id is not in the source region"
            return Why("UNKNOWN_TOPIC_OR_PARTITION", because)
        record = self._record(topic.topic)
        if placed.writer is not None:
            what = f"mirror topic of link {record.link}" if record else f"writer {placed.writer}"
            return Why("INVALID_REQUEST", f"{topic.topic} is read-only at the source: {what}")
        known = record.generation if record is not None else 0
        if not known < topic.generation <= GENERATION_MAX:
            because = f"{topic.topic} is the source's own since generation {known}"
            return Why("INVALID_REQUEST", because)
        return None

    def _pending(
        self, topic: ReversedTopic, cluster_id: str, link_name: str, now: Instant
    ) -> MirrorRecord:
        is_paused = topic.is_paused
        return MirrorRecord(
            topic=topic.topic,
            link=link_name,
            source_topic=topic.topic,
            source_topic_id=UUID(bytes=topic.mirror_topic_id),
            created_at=now,
            state=TARGET,
            since=now,
            generation=topic.generation,
            reason=f"reversal: region {cluster_id} takes the topic over",
            stop=CutKind.REVERSE_AND_PAUSE if is_paused else CutKind.REVERSE_AND_START,
            known_at=topic.metadata_offset,
            origins=(cluster_id,),
        )

    def withdraw(self, frame: WithdrawReversals, cluster_id: str, now: Instant) -> Effects:
        """Region `cluster_id` has given these reversals up: the topics are this region's own again."""
        return [
            effect
            for topic in dict.fromkeys(frame.topics)
            for effect in self._withdraw(topic, cluster_id, now)
        ]

    def _withdraw(self, topic: WithdrawnReversal, cluster_id: str, now: Instant) -> Effects:
        record = self._record(topic.topic)
        again = partial(self._withdraw, topic, cluster_id)
        if topic.topic in self._asking:
            self._withdrawn[topic.topic] = again
            return []
        if record is None or not self._is_withdrawn(topic, record, cluster_id):
            return []
        return self._put(_taken_back(record, cluster_id, now), again)

    def _is_withdrawn(
        self, topic: WithdrawnReversal, record: MirrorRecord, cluster_id: str
    ) -> bool:
        placed = self._region.view.image.topics_by_name.get(topic.topic)
        is_it = placed is not None and placed.id.bytes == topic.topic_id
        is_pending = record.state is MirrorState.PENDING_MIRROR and record.origins == (cluster_id,)
        return is_it and is_pending and record.generation == topic.generation

    def _put(self, record: MirrorRecord, again: Act) -> Effects:
        """`again` looks at everything anew, after a change that was refused."""
        self._asking.add(record.topic)
        known = self._region.view.image.documents.get((MIRROR_KIND, record.topic))
        change = DocumentChange(
            kind=MIRROR_KIND,
            name=record.topic,
            body=record.encode(),
            expected_version=known.version if known is not None else 0,
        )
        return self._region.put(change, partial(self._on_put, record.topic, again))

    def _on_put(
        self,
        topic: str,
        again: Act,
        refusal: Refusal | None,
        now: Instant,
    ) -> Effects:
        self._asking.discard(topic)
        withdraw = self._withdrawn.pop(topic, None)
        if refusal is None:
            return withdraw(now) if withdraw is not None else []
        for act in (again, withdraw):
            if act is not None:
                self._region.timers.set(now + RETRY_MS, act)
        return []


def _why_not_link(known: Known | None, name: str, cluster_id: str) -> Why | None:
    """The mirror of the other direction needs a link here."""
    if known is None or not known.config.is_bidirectional:
        because = f"the source region has no bidirectional link {name}"
        return Why("REMOTE_LINK_NOT_FOUND_ERROR", because)
    if known.record.source_cluster_id != cluster_id:
        because = f"link {name} at the source is to region {known.record.source_cluster_id or '(not known yet)'}"
        return Why("REMOTE_LINK_NOT_FOUND_ERROR", because)
    if known.config.prefix or known.config.paused:
        what = "has a prefix" if known.config.prefix else "is paused"
        return Why("INVALID_REQUEST", f"link {name} {what} at the source")
    return None


def _taken_back(record: MirrorRecord, cluster_id: str, now: Instant) -> MirrorRecord:
    """It is cut where it ends: the failover of the link coordinator goes on from here."""
    return replace(
        record,
        state=TRANSITIONS[record.state, MirrorTrigger.FAILOVER],
        since=now,
        stop=CutKind.WITHDRAW,
        halted=True,
        may_have_diverged=True,
        reason="withdraw",
        asked=Asked(
            f"{record.link}@{now}", now, f"region {cluster_id}", "the reversal was given up there"
        ),
    )
