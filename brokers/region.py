"""What an upper layer in the same process may ask of a broker core, and what it hears back.

The same door as everything else: these events enter `Broker.step`, these effects leave it. A link knows a region
through this file and through `ids`, `errors`, `records` and `metadata`'s commands only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from brokers.errors import KafkaError, Refusal
from brokers.ids import (
    Buffer,
    Instant,
    LeaderEpoch,
    Offset,
    OffsetAndMetadata,
    Ticket,
    TopicPartition,
)
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.image.image import Image, ImageDelta
from brokers.partition.replica_status import ReplicaStatus as ReplicaStatus
from brokers.values import value

# --- events: asked of the broker ---


@dataclass(frozen=True, slots=True)
class Watch:
    """Start telling of metadata and group changes and, with `logs` only, of the partitions' progress."""

    logs: bool


@dataclass(frozen=True, slots=True)
class PlaceBatches:
    """Write whole batches at the offsets they carry into a mirror partition -> `Placed` or `PlaceRefused`.

    `writer` must be the topic's writer (P4). `offset` is where the mirror's log must end: the source holds nothing
    between it and the first batch. `roll` seals the active segment first, so that segments begin
    where the source's do.
    """

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset
    data: Buffer = field(repr=False)
    roll: bool = False


@dataclass(frozen=True, slots=True)
class SkipTo:
    """Move an empty or outrun mirror partition's log start and end to `offset`: the range skipped is already in the
    hole ledger -> `Placed` or `PlaceRefused`."""

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset


@dataclass(frozen=True, slots=True)
class TrimMirror:
    """The source's log start moved: drop what lies below `log_start_offset` -> `Placed` or `PlaceRefused`."""

    ticket: Ticket
    writer: str
    partition: TopicPartition
    log_start_offset: Offset


@dataclass(frozen=True, slots=True)
class ReadToHighWatermark:
    """Read whole batches below the high watermark -> `HighWatermarkRead`."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    size_max: int


@dataclass(frozen=True, slots=True)
class Propose:
    """Ask the controller; -> `Proposed` once committed or refused."""

    ticket: Ticket
    command: Submitted


@dataclass(frozen=True, slots=True)
class CommitOffsets:
    """Commit offsets for a group without active members -> `OffsetsPlaced`."""

    ticket: Ticket
    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata]


RegionEvent: TypeAlias = (
    Watch | PlaceBatches | SkipTo | TrimMirror | ReadToHighWatermark | Propose | CommitOffsets
)

# --- effects: heard from the broker ---


@dataclass(frozen=True, slots=True)
class Placed:
    ticket: Ticket
    partition: TopicPartition
    next_offset: Offset


@dataclass(frozen=True, slots=True)
class PlaceRefused:
    ticket: Ticket
    partition: TopicPartition
    error: KafkaError
    because: str
    log_end_offset: Offset


@dataclass(frozen=True, slots=True)
class HighWatermarkRead:
    """Whole batches from `offset` on; empty at the high watermark."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    data: Buffer = field(repr=False)
    next_offset: Offset
    error: KafkaError = KafkaError.NONE


@dataclass(frozen=True, slots=True)
class Proposed:
    ticket: Ticket
    result: object | Refusal


@dataclass(frozen=True, slots=True)
class OffsetsPlaced:
    ticket: Ticket
    error: KafkaError


@value
class PartitionAdvanced:
    """The high watermark, log start or log end of a partition moved (after `Watch`)."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class ImageChanged:
    delta: ImageDelta


@dataclass(frozen=True, slots=True)
class GroupOffsetsChanged:
    """A group's committed offsets changed; an offset of None is a deleted one (after `Watch`)."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None]


@dataclass(frozen=True, slots=True)
class Ready:
    """The broker has loaded everything it holds and answers clients."""


RegionEffect: TypeAlias = (
    Placed | PlaceRefused | HighWatermarkRead | Proposed | OffsetsPlaced | PartitionAdvanced
    | ImageChanged | GroupOffsetsChanged | Ready
)  # fmt: skip

# --- queries ---


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Where one partition stands now; `epochs` is its leader-epoch history, (epoch, first offset) ascending."""

    log_start_offset: Offset
    log_end_offset: Offset
    high_watermark: Offset
    last_stable_offset: Offset
    leader_epoch: LeaderEpoch
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]
    segment_bases: tuple[Offset, ...]
    online: bool


class RegionView(Protocol):
    """Read-only questions that need no waiting."""

    @property
    def image(self) -> Image: ...

    @property
    def cluster_id(self) -> str: ...

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        """None where this node holds no replica of the partition."""

    def replica_statuses(
        self, partition: TopicPartition, now: Instant
    ) -> tuple[ReplicaStatus, ...] | None:
        """Every replica of a partition as its leader sees it; None where this node does not lead it."""

    def group_offsets(self) -> Mapping[str, Mapping[TopicPartition, OffsetAndMetadata]]: ...

    def groups_are_known(self) -> bool:
        """Whether `group_offsets` has every group that lives here: no log of theirs is offline or being read."""

    def group_is_active(self, group: str) -> bool:
        """Whether the group has members here; a link never commits over them."""
