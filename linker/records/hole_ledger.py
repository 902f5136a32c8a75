"""The hole ledger: every range that a mirror skipped, with its cause, recorded before the mirror continues (P8)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from brokers.ids import Instant, Offset, TopicPartition
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode

HOLE_KIND: Final = "hole"


class HoleCause(Enum):
    """Why a range can never be in the mirror."""

    SOURCE_LOG_START = "SOURCE_LOG_START"  # the source deleted it (retention, DeleteRecords) first
    START_OFFSET_LATEST = "START_OFFSET_LATEST"  # `mirror.start.offset.spec` is latest


@dataclass(frozen=True, slots=True)
class Hole:
    """Offsets [base_offset, next_offset) that the mirror does not hold. An empty one is a start at "latest"."""

    partition: TopicPartition
    base_offset: Offset
    next_offset: Offset
    cause: HoleCause
    first_seen: Instant

    @property
    def name(self) -> str:
        """The same hole has the same name, however often it is recorded."""
        return f"{self.partition}@{self.base_offset}"


def record(hole: Hole) -> PutDocuments:
    body = encode(
        {
            "topic": hole.partition.topic,
            "partition": hole.partition.partition,
            "from": hole.base_offset,
            "to": hole.next_offset,
            "cause": hole.cause.value,
            "first_seen": hole.first_seen,
        }
    )
    return PutDocuments((DocumentChange(kind=HOLE_KIND, name=hole.name, body=body),))


def decode_hole(body: bytes) -> Hole:
    fields = decode(body)
    return Hole(
        partition=TopicPartition(str(fields["topic"]), int(fields["partition"])),
        base_offset=int(fields["from"]),
        next_offset=int(fields["to"]),
        cause=HoleCause(fields["cause"]),
        first_seen=int(fields["first_seen"]),
    )


def holes_of(image: Image, topic: str) -> list[Hole]:
    """All entries for a topic of this region, including starts at "latest"."""
    documents = image.documents.items()
    ledger = (decode_hole(found.body) for (kind, _), found in documents if kind == HOLE_KIND)
    return [hole for hole in ledger if hole.partition.topic == topic]


def of_topic(holes: Iterable[Hole], topic: str) -> list[Hole]:
    """The holes of one topic that are not empty, in order."""
    found = [
        one for one in holes if one.partition.topic == topic and one.base_offset < one.next_offset
    ]
    return sorted(found, key=lambda one: (one.partition, one.base_offset))


def latest_start(holes: Iterable[Hole], partition: TopicPartition) -> Offset | None:
    """The offset of the start at "latest" that was decided for this partition, if there is one."""
    starts = (
        one.next_offset
        for one in holes
        if one.partition == partition and one.cause is HoleCause.START_OFFSET_LATEST
    )
    return next(starts, None)
