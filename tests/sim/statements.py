"""What clients and operators did and were told: the one half of the evidence that checkers judge by."""

from dataclasses import dataclass, field
from typing import NamedTuple

from brokers.ids import Offset, TopicPartition
from linker.answers import MirrorDescription
from linker.records.mirror_record import CutPartition

NEVER_MIRRORED = CutPartition(0, -1, -1, 0)  # the cut of a partition that no mirror had


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


@dataclass(frozen=True)
class Found:
    """What a member that joined was told that its group had committed. `own`: it had tried to commit there before."""

    region: str
    group: str
    partition: TopicPartition
    offset: Offset
    own: bool


@dataclass
class Statements:
    """Values begin with their producer's name and a number: `name:number:`."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    sent: dict[bytes, None] = field(default_factory=dict)
    idempotent: dict[str, bool] = field(default_factory=dict)  # by producer
    # Values that producers sent once more under another producer id: no region can know them again.
    renamed: dict[bytes, None] = field(default_factory=dict)
    read: dict[Place, bytes] = field(default_factory=dict)
    foreign_writes: list[str] = field(default_factory=list)  # what a mirror should have refused
    contradictions: list[tuple[str, str]] = field(default_factory=list)  # promise, what was told
    # region, group, partition -> every offset that the group tried to commit there
    attempts: dict[tuple[str, str, TopicPartition], dict[Offset, None]] = field(
        default_factory=dict
    )
    found: list[Found] = field(default_factory=list)
    # region, partition -> below which offset someone may have deleted records, answered or not
    trims: dict[tuple[str, TopicPartition], Offset] = field(default_factory=dict)
    partition_count: int = 0  # of the topic, as far as the operator asked for them
    mirror_asked: bool = False
    ending_asked: bool = False  # a promotion or failover may have begun
    planned: bool = False  # producers stood still before the promotion was asked for
    paused: bool = False  # producers stand still, as promotions were given up
    moved: bool = False  # clients live at the destination
    mirror: MirrorDescription | None = None  # as the operator was last told

    def was_read(self, place: Place, value: bytes) -> None:
        """Two readers of one place must see the same."""
        before = self.read.setdefault(place, value)
        if before != value:
            self.contradicts("P3", f"{place}: read as {before[:40]!r}, later as {value[:40]!r}")

    def is_idempotent(self, value: bytes) -> bool:
        """Whether its producer is, and has sent it under one producer id only."""
        producer = value.partition(b":")[0].decode()
        return self.idempotent.get(producer, False) and value not in self.renamed

    def contradicts(self, promise: str, told: str) -> None:
        """No region that keeps its promises would have said so."""
        self.contradictions.append((promise, told))

    def told_end(self, region: str, partition: TopicPartition) -> Offset:
        """Behind the last record that was acknowledged."""
        places = (each.place for each in self.acknowledged)
        offsets = (
            at.offset + 1 for at in places if (at.region, at.partition) == (region, partition)
        )
        return max(offsets, default=0)

    def tries_trim(self, region: str, partition: TopicPartition, offset: Offset) -> None:
        self.trims[region, partition] = max(offset, self.trims.get((region, partition), 0))

    def tries_commit(
        self, region: str, group: str, partition: TopicPartition, offset: Offset
    ) -> None:
        self.attempts.setdefault((region, group, partition), {})[offset] = None

    def found_offset(
        self, region: str, group: str, partition: TopicPartition, offset: Offset
    ) -> None:
        own = (region, group, partition) in self.attempts
        self.found.append(Found(region, group, partition, offset, own))

    @property
    def cut(self) -> dict[int, CutPartition] | None:
        """Where the mirror was cut, by partition; None while it is a mirror."""
        if self.mirror is None or self.mirror.record.cut is None:
            return None
        return dict(enumerate(self.mirror.record.cut.partitions))
