"""The source's side of retention holds: what mirrors in other regions do not hold yet is not deleted by retention.

Any broker of the source may be asked; the answer is a record in the metadata log, by which every broker goes on. Who
leads a partition learns from its subscriptions how far the mirror is, and keeps all, up to the bounds, until it has
heard. Who follows it keeps all, and follows the leader's log start.
"""

from collections.abc import Collection, Iterable
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.region import RetentionHold
from linker.data.credit import StreamSender
from linker.events import Stream
from linker.frames import TOPICS_MAX
from linker.hold_frames import HeldTopic, HoldRetention, RetentionHeld
from linker.name_patterns import LEGAL_NAME
from linker.records.retention_hold import HOLD_KIND, HoldIndex, HoldRecord, delete, put
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500
LINKS_MAX: Final = 100  # that may have holds


class Holder(NamedTuple):
    """A link of another region, which mirrors topics of this one."""

    cluster_id: str
    link: str

    @property
    def is_named(self) -> bool:
        """Whether both are names that a region and a link may have."""
        return all(LEGAL_NAME.fullmatch(each) for each in self)


class SubscribedStream(NamedTuple):
    """A stream on which a mirror partition was subscribed, and the partitions that still are."""

    stream: Stream
    partitions: Collection[TopicPartition]


class SourceHolds:
    """One per broker. The bounds are `link.retention.hold.max.bytes` and `.ms` of this node."""

    def __init__(self, region: RegionClient, max_bytes: int, max_ms: int) -> None:
        self._region = region
        self._max_bytes = max_bytes
        self._max_ms = max_ms
        self._index = HoldIndex()
        # What mirrors hold, of the partitions that this broker leads.
        self._positions: dict[TopicPartition, dict[Holder, Offset]] = {}
        # Where each has subscribed last: what comes on an earlier stream was said before, by who led the mirror then.
        self._subscribed_on: dict[TopicPartition, dict[Holder, SubscribedStream]] = {}
        self._wanted: dict[Holder, HoldRetention] = {}  # until it is in the metadata log
        self._asked_on: dict[Holder, StreamSender] = {}  # the streams of these
        self._writing: set[Holder] = set()

    # --- the metadata log ---

    def follow(self, changed: Iterable[tuple[str, str]]) -> None:
        """These documents may have changed."""
        self._index.follow(self._region.view.image, changed)

    def topics_deleted(self, topics: Iterable[str]) -> Effects:
        """There is nothing left to keep."""
        gone = set(topics)
        for known in (self._positions, self._subscribed_on):
            for partition in [one for one in known if one.topic in gone]:
                del known[partition]
        if not self._region.is_coordinator:
            return []
        effects: Effects = []
        for hold in list(self._index.all()):
            if hold.topic in gone:
                effects += self._region.put(delete(hold), lambda *_: [])
        return effects

    @property
    def records(self) -> list[HoldRecord]:
        return sorted(self._index.all(), key=lambda one: (one.link, one.topic, one.cluster_id))

    # --- a destination asks ---

    def asked(
        self, frame: HoldRetention, holder: Holder, sender: StreamSender, now: Instant
    ) -> Effects:
        """These topics and no others, once the last frame of them is there."""
        self._forget_unfinished()
        before = self._wanted.get(holder)
        if before is not None and before.is_continued and self._asked_on[holder] is sender:
            frame = HoldRetention(
                frame.max_bytes,
                frame.max_ms,
                (*before.topics, *frame.topics)[:TOPICS_MAX],
                frame.is_continued,
            )
        self._wanted[holder], self._asked_on[holder] = frame, sender
        if frame.is_continued:
            return []
        because = self._why_not(frame, holder)
        if because:
            self._wanted[holder] = frame = HoldRetention(frame.max_bytes, frame.max_ms, ())
        effects: Effects = []
        if frame.topics or because:
            effects += sender.send(RetentionHeld(self._max_bytes, self._max_ms, because))
        return effects + self._write(holder, now)

    @property
    def unfinished(self) -> int:
        """Of how many requests the last frame is not there."""
        return sum(frame.is_continued for frame in self._wanted.values())

    def wanted_of(self, holder: Holder) -> tuple[HeldTopic, ...]:
        """What a link has asked for, until it is in the metadata log."""
        return self._wanted[holder].topics if holder in self._wanted else ()

    def _forget_unfinished(self) -> None:
        """What was begun on streams that are closed: a destination asks for all of it on the next one."""
        for holder, frame in list(self._wanted.items()):
            if frame.is_continued and self._asked_on[holder].stream is None:
                del self._wanted[holder], self._asked_on[holder]

    def _why_not(self, frame: HoldRetention, holder: Holder) -> str:
        if not frame.topics:
            return ""
        if not self._max_bytes or not self._max_ms:
            return "the source's link.retention.hold.max.bytes or .ms is 0"
        if not holder.is_named:
            return "the names of the region and its link are none"
        if self._index.links >= LINKS_MAX and not self._index.of_link(*holder):
            return f"{LINKS_MAX} links have holds at the source already"
        return ""

    def _write(self, holder: Holder, now: Instant) -> Effects:
        if holder in self._writing:
            return []  # it is looked at again then
        changes = self._changes(holder, now)
        if not changes:
            self._wanted.pop(holder, None)
            self._asked_on.pop(holder, None)
            return []
        self._writing.add(holder)
        waiting = len(changes)
        refused: list[Refusal] = []

        def written(refusal: Refusal | None, at: Instant) -> Effects:
            nonlocal waiting
            waiting -= 1
            refused.extend([refusal] if refusal is not None else [])
            return [] if waiting else self._on_written(holder, changes, bool(refused), at)

        return [effect for change in changes for effect in self._region.put(change, written)]

    def _on_written(
        self, holder: Holder, changes: list[DocumentChange], is_refused: bool, now: Instant
    ) -> Effects:
        self._writing.discard(holder)
        self.follow((HOLD_KIND, change.name) for change in changes)
        if is_refused:
            self._region.timers.set(now + RETRY_MS, partial(self._write, holder))
            return []
        holds = self._index.of_link(*holder)
        what = f"link {holder.link} of region {holder.cluster_id}"
        state = f"holds retention of {len(holds)} topics" if holds else "holds nothing"
        return [Changed(what, state, ""), *self._write(holder, now)]

    def _changes(self, holder: Holder, now: Instant) -> list[DocumentChange]:
        """What is to be written so that the metadata log has what is wanted."""
        frame, sender = self._wanted.get(holder), self._asked_on.get(holder)
        if frame is None or sender is None or frame.is_continued:
            return []
        if sender.stream is None:
            return []  # another broker may have been told otherwise since; the next stream brings all of it
        known = self._index.of_link(*holder)
        wanted = {one.topic: one for one in frame.topics if self._is_here(one)}
        changes = [delete(hold) for topic, hold in known.items() if topic not in wanted]
        for topic in wanted.values():
            before = known.get(topic.topic)
            is_same = before is not None and before.topic_id.bytes == topic.topic_id
            hold = HoldRecord(
                cluster_id=holder.cluster_id,
                link=holder.link,
                topic=topic.topic,
                topic_id=UUID(bytes=topic.topic_id),
                max_bytes=frame.max_bytes,
                max_ms=frame.max_ms,
                since=before.since if before is not None and is_same else now,
                dropped_at=before.dropped_at if before is not None and is_same else None,
            )
            changes += [put(hold)] if hold != before else []
        return changes

    def _is_here(self, topic: HeldTopic) -> bool:
        placed = self._region.view.image.topics_by_name.get(topic.topic)
        return placed is not None and not placed.is_internal and placed.id.bytes == topic.topic_id

    # --- how far mirrors are ---

    def told(
        self, holder: Holder, partition: TopicPartition, offset: Offset, stream: Stream
    ) -> None:
        """A mirror partition holds everything below the offset."""
        latest = self._subscribed_on.get(partition, {}).get(holder)
        # A broker that led the mirror no longer may have subscribed last, and given that up since.
        if latest is not None and latest.stream != stream and partition in latest.partitions:
            return
        if self._leads(partition) and self._index.of_link(*holder):
            self._positions.setdefault(partition, {})[holder] = offset

    def subscribed(
        self, holder: Holder, partition: TopicPartition, offset: Offset, on: SubscribedStream
    ) -> None:
        """Its log ends there, so it does not hold more, whatever it held before."""
        if self._leads(partition):
            self._subscribed_on.setdefault(partition, {})[holder] = on
        known = self._positions.get(partition, {})
        if offset < known.get(holder, -1):
            known[holder] = offset

    def closed(self, stream: Stream) -> None:
        """Nothing comes on it any more."""
        for by_holder in self._subscribed_on.values():
            for holder in [holder for holder, on in by_holder.items() if on.stream == stream]:
                del by_holder[holder]

    def led(self, partitions: Iterable[TopicPartition]) -> None:
        """These may have other leaders: what a mirror holds by the time that this broker leads again, it will hear."""
        for partition in partitions:
            is_known = partition in self._positions or partition in self._subscribed_on
            if is_known and not self._leads(partition):
                self._positions.pop(partition, None)
                self._subscribed_on.pop(partition, None)

    def _leads(self, partition: TopicPartition) -> bool:
        state = self._region.view.partition_state(partition)
        return state is not None and state.is_leader

    def position(self, hold: HoldRecord, partition: TopicPartition) -> Offset:
        """What is below it, the mirror holds; -1: that is not known here."""
        return self._positions.get(partition, {}).get(Holder(hold.cluster_id, hold.link), -1)

    def by_partition(self) -> dict[TopicPartition, tuple[RetentionHold, ...]]:
        """What this node's replicas have to keep."""
        found: dict[TopicPartition, tuple[RetentionHold, ...]] = {}
        for hold in self._index.all():
            for partition in self.partitions_of(hold):
                bounds = (hold.max_bytes, min(hold.max_ms, self._max_ms))
                one = RetentionHold(self.position(hold, partition), *bounds)
                found[partition] = (*found.get(partition, ()), one)
        return found

    def partitions_of(self, hold: HoldRecord) -> list[TopicPartition]:
        """Those of which this node has a replica; none of a hold that was dropped, or of another topic of the name."""
        placed = self._region.view.image.topics_by_name.get(hold.topic)
        if placed is None or placed.id != hold.topic_id or hold.dropped_at is not None:
            return []
        return [one for one in placed.each() if self._region.view.partition_state(one) is not None]
