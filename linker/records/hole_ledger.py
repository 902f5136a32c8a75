"""The hole ledger: every range that a mirror skipped, with its cause, recorded before the mirror continues (P8).

What compaction has removed from the source's log, between its log start and its `complete_from`, is no hole: the mirror
has what that log has. A hole is what lies below the source's log start before the mirror got there. The exception is a
deletion marker that was removed before a mirror got it, which has what the marker deleted: the entry says in which
range of offsets markers may be missing, and the records of the range that the source has follow all the same.

What a restore cuts from a mirror's log is in the ledger, too: records that the source does not have, or not any more.
The source's records at these offsets follow, so nothing of the source is missing there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final
from uuid import UUID

from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode

HOLE_KIND: Final = "hole"
MARKER_HOLE_KIND: Final = "marker-hole"  # apart, as earlier releases cannot read its cause
DIVERGENCE_CUT_KIND: Final = "divergence-cut"  # the same
LEDGER_KINDS: Final = (HOLE_KIND, MARKER_HOLE_KIND, DIVERGENCE_CUT_KIND)


class HoleCause(Enum):
    """Why a range can never be in the mirror."""

    # The source deleted it first: retention, or DeleteRecords where its leader does not remember that.
    SOURCE_LOG_START = "SOURCE_LOG_START"
    SOURCE_DELETED_RECORDS = "SOURCE_DELETED_RECORDS"  # DeleteRecords of a client of the source did
    # This region did: while the topic was its own, or as an earlier source of it had.
    DELETED_EARLIER = "DELETED_EARLIER"
    START_OFFSET_LATEST = "START_OFFSET_LATEST"  # `mirror.start.offset.spec` is latest
    START_OFFSET_TIMESTAMP = "START_OFFSET_TIMESTAMP"  # it is a time
    # Compaction at the source removed deletion markers first: the mirror may keep older records of their keys.
    SOURCE_REMOVED_MARKERS = "SOURCE_REMOVED_MARKERS"
    # A restore, of an operator or by `mirror.divergence.policy`, cut what the mirror had beyond its source's history.
    DIVERGENCE_CUT = "DIVERGENCE_CUT"


_KINDS: Final = {
    HoleCause.SOURCE_REMOVED_MARKERS: MARKER_HOLE_KIND,
    HoleCause.DIVERGENCE_CUT: DIVERGENCE_CUT_KIND,
}
# What releases from before a cause read in its place.
_AS_EARLIER: Final = {
    HoleCause.SOURCE_DELETED_RECORDS: HoleCause.SOURCE_LOG_START,
    HoleCause.DELETED_EARLIER: HoleCause.SOURCE_LOG_START,
}


@dataclass(frozen=True, slots=True)
class Hole:
    """Offsets [base_offset, next_offset) that the mirror does not hold, or not all of them (`lacks_markers`), or at
    which it held others before (`is_cut`). An empty one is a start at "latest".

    `topic_id` is None in entries of releases that did not record it, `deleted_at` while the topic exists. `size`: the
    bytes of record batches that it had at the source, or of those that were cut; -1: unknown. `tail_epoch`: the largest
    leader epoch of what was cut; what takes its place has later ones.
    """

    partition: TopicPartition
    base_offset: Offset
    next_offset: Offset
    cause: HoleCause
    first_seen: Instant
    topic_id: UUID | None = None
    deleted_at: Instant | None = None
    size: int = -1
    tail_epoch: LeaderEpoch = -1

    @property
    def kind(self) -> str:
        """Of its document."""
        return _KINDS.get(self.cause, HOLE_KIND)

    @property
    def lacks_markers(self) -> bool:
        """Whether only deletion markers are missing."""
        return self.cause is HoleCause.SOURCE_REMOVED_MARKERS

    @property
    def is_cut(self) -> bool:
        """Whether the mirror held records there that its source does not have. It has all that the source has."""
        return self.cause is HoleCause.DIVERGENCE_CUT

    @property
    def missing(self) -> int:
        """How many of the source's offsets the mirror does not have."""
        return 0 if self.lacks_markers or self.is_cut else self.next_offset - self.base_offset

    @property
    def name(self) -> str:
        """The same hole has the same name, however often it is recorded."""
        place = f"{self.partition}@{self.base_offset}" + ("-markers" if self.lacks_markers else "")
        place += f"-cut-{self.tail_epoch}" if self.is_cut else ""
        return place if self.deleted_at is None else f"{place}#{self.topic_id or self.deleted_at}"

    @property
    def is_chosen(self) -> bool:
        """Whether the mirror began where it ends, by its link's configuration."""
        return self.cause in (HoleCause.START_OFFSET_LATEST, HoleCause.START_OFFSET_TIMESTAMP)

    def is_of(self, topic_id: UUID) -> bool:
        """Whether it is in the ledger of the topic with this id, which has the hole's topic's name."""
        return self.deleted_at is None and self.topic_id in (None, topic_id)


def record(image: Image, *holes: Hole) -> PutDocuments:
    """Each entry names the id that its topic has now."""
    named = []
    for hole in holes:
        topic = image.topics_by_name.get(hole.partition.topic)
        named.append(replace(hole, topic_id=topic.id if topic is not None else None))
    return PutDocuments(tuple(map(put, named)))


def put(hole: Hole) -> DocumentChange:
    """The change that writes an entry."""
    fields = {
        "topic": hole.partition.topic,
        "partition": hole.partition.partition,
        "from": hole.base_offset,
        "to": hole.next_offset,
        "cause": _AS_EARLIER.get(hole.cause, hole.cause).value,
        "first_seen": hole.first_seen,
    }
    if hole.cause in _AS_EARLIER:
        fields["is"] = hole.cause.value
    if hole.topic_id is not None:
        fields["topic_id"] = str(hole.topic_id)
    if hole.size >= 0:
        fields["bytes"] = hole.size
    if hole.tail_epoch >= 0:
        fields["tail_epoch"] = hole.tail_epoch
    if hole.deleted_at is not None:
        fields["deleted_at"] = hole.deleted_at
    return DocumentChange(kind=hole.kind, name=hole.name, body=encode(fields))


def withdraw(hole: Hole) -> DocumentChange:
    """The change that removes an entry which was recorded, and not skipped."""
    return DocumentChange(kind=hole.kind, name=hole.name, body=None)


def decode_hole(body: bytes) -> Hole:
    fields = decode(body)
    return Hole(
        partition=TopicPartition(str(fields["topic"]), int(fields["partition"])),
        base_offset=int(fields["from"]),
        next_offset=int(fields["to"]),
        cause=HoleCause(fields.get("is", fields["cause"])),
        first_seen=int(fields["first_seen"]),
        topic_id=UUID(fields["topic_id"]) if "topic_id" in fields else None,
        deleted_at=fields.get("deleted_at"),
        size=int(fields.get("bytes", -1)),
        tail_epoch=int(fields.get("tail_epoch", -1)),
    )


class HoleIndex:
    """The ledger of the metadata log by topic, those of deleted topics included."""

    def __init__(self) -> None:
        self._by_topic: dict[str, dict[int, dict[str, Hole]]] = {}  # then by partition and name
        self._partition_of: dict[str, TopicPartition] = {}  # by the entry's name

    def follow(self, image: Image, changed: Iterable[tuple[str, str]]) -> None:
        """`changed` are documents of any kind, by kind and name."""
        for kind, name in changed:
            if kind in LEDGER_KINDS:
                self._follow(kind, name, image)

    def _follow(self, kind: str, name: str, image: Image) -> None:
        before = self._partition_of.pop(name, None)
        if before is not None:
            del self._by_topic[before.topic][before.partition][name]
        document = image.documents.get((kind, name))
        if document is not None:
            hole = decode_hole(document.body)
            topic, index = self._partition_of[name] = hole.partition
            self._by_topic.setdefault(topic, {}).setdefault(index, {})[name] = hole

    def of(self, image: Image, topic: str) -> list[Hole]:
        """All entries for a topic that exists in this region, including starts at "latest"."""
        existing = image.topics_by_name.get(topic)
        if existing is None:
            return []
        found = (
            hole for holes in self._by_topic.get(topic, {}).values() for hole in holes.values()
        )
        return [hole for hole in found if hole.is_of(existing.id)]

    def chosen_start(self, image: Image, partition: TopicPartition) -> Offset | None:
        """The offset at which this partition began by its link's configuration, if that is decided."""
        existing = image.topics_by_name.get(partition.topic)
        if existing is None:
            return None
        holes = self._by_topic.get(partition.topic, {}).get(partition.partition, {}).values()
        starts = (one.next_offset for one in holes if one.is_of(existing.id) and one.is_chosen)
        return next(starts, None)

    def all(self) -> Iterator[Hole]:
        """Every entry, the newest topics last."""
        for partitions in self._by_topic.values():
            for holes in partitions.values():
                yield from holes.values()


def in_order(holes: Iterable[Hole]) -> list[Hole]:
    """Those that are not empty, by topic, partition and offset."""
    found = [one for one in holes if one.base_offset < one.next_offset]
    return sorted(found, key=lambda one: (one.partition, one.base_offset, one.first_seen))
