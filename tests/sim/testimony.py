"""What clients and operators did and were told: the one half of the evidence that checkers judge by."""

from dataclasses import dataclass, field
from typing import NamedTuple

from brokers.ids import Offset, TopicPartition
from linker.admin import MirrorDescription


class Place(NamedTuple):
    """An offset of a partition in a region."""

    region: str
    partition: TopicPartition
    offset: Offset


@dataclass(frozen=True)
class Acknowledged:
    """A value that a region said it has stored, and where."""

    value: bytes
    place: Place


@dataclass
class Testimony:
    """Values name their producer: `name:number:`."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    sent: dict[bytes, None] = field(default_factory=dict)
    idempotent: dict[str, bool] = field(default_factory=dict)  # by producer
    read: dict[Place, bytes] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)  # what no correct region ever answers
    trimmed: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)  # at most so far
    # group, partition -> every offset that it tried to commit at the source, and the last one acknowledged
    commits: dict[tuple[str, TopicPartition], dict[Offset, None]] = field(default_factory=dict)
    committed: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)
    moved: bool = False  # clients have been sent to the destination
    mirrors_begun: dict[str, None] = field(default_factory=dict)  # topics asked to be mirrors
    ending_asked: bool = False  # promote or failover may have begun
    cuts: dict[str, MirrorDescription] = field(default_factory=dict)  # as the operator was told at the end

    def was_read(self, place: Place, value: bytes) -> None:
        """Two readers of one place must see the same."""
        before = self.read.setdefault(place, value)
        if before != value:
            self.contradictions.append(f"{place}: read as {before[:40]!r}, later as {value[:40]!r}")
