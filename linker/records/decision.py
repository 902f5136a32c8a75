"""Decision records: every promotion and failover of this region, with its cut, who asked for it, why, and what it cost.

Topics that one command stopped have one decision id. A topic's record says which generation it has since then.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from brokers.ids import Instant
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.image.image import Image
from linker.records.documents import decode, encode
from linker.records.mirror_record import Asked, Cut, CutKind, CutPartition

DECISION_KIND: Final = "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One topic that was stopped, in `generation`. `cut_at`: when it was cut; `done_at`: when it was writable."""

    topic: str
    topic_id: UUID
    link: str
    kind: CutKind
    generation: int
    asked: Asked
    cut_at: Instant
    done_at: Instant
    partitions: tuple[CutPartition, ...]
    origins: tuple[str, ...] = ()  # of the records below the cut, as in `MirrorRecord`

    @property
    def name(self) -> str:
        """The same decision has the same name, however often it is recorded."""
        return f"{self.topic}@{self.generation}#{self.topic_id}"

    @property
    def cut(self) -> Cut:
        return Cut(self.kind, self.cut_at, self.partitions)


def put(decision: Decision) -> DocumentChange:
    body = {
        "topic": decision.topic,
        "topic_id": decision.topic_id.hex,
        "link": decision.link,
        "kind": decision.kind.value,
        "generation": decision.generation,
        "asked": decision.asked,
        "cut_at": decision.cut_at,
        "done_at": decision.done_at,
        "partitions": [
            [one.offset, one.source_high_watermark, one.source_clock, one.leader_epoch]
            for one in decision.partitions
        ],
        "origins": decision.origins,
    }
    return DocumentChange(kind=DECISION_KIND, name=decision.name, body=encode(body))


def decode_decision(body: bytes) -> Decision:
    fields = decode(body)
    return Decision(
        topic=str(fields["topic"]),
        topic_id=UUID(fields["topic_id"]),
        link=str(fields["link"]),
        kind=CutKind(fields["kind"]),
        generation=int(fields["generation"]),
        asked=Asked(*fields["asked"]),
        cut_at=int(fields["cut_at"]),
        done_at=int(fields["done_at"]),
        partitions=tuple(CutPartition(*one) for one in fields["partitions"]),
        origins=tuple(str(one) for one in fields.get("origins", ())),
    )


def all_decisions(image: Image) -> Iterator[Decision]:
    for (kind, _), document in image.documents.items():
        if kind == DECISION_KIND:
            yield decode_decision(document.body)


def in_time(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """The oldest first."""
    return tuple(sorted(decisions, key=lambda one: (one.cut_at, one.topic)))
