"""The interface of a broker core for links in the same process: events, effects and queries.

These are events and effects of `Broker.step` like all others. A link uses a region only through this module and `ids`,
`errors`, `records` and the commands of `metadata`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias
from uuid import UUID

from brokers.errors import KafkaError, Refusal
from brokers.ids import (
    BrokerId,
    Buffer,
    Instant,
    LeaderEpoch,
    Offset,
    OffsetAndMetadata,
    Ticket,
    TopicPartition,
)
from brokers.log.retention_hold import RetentionHold as RetentionHold
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.image.image import Image, ImageDelta
from brokers.partition.mirror_status import MirrorPartitionStatus as MirrorPartitionStatus
from brokers.partition.mirror_status import MirrorStatus as MirrorStatus
from brokers.partition.partition_state import PartitionState as PartitionState
from brokers.partition.replica_status import ReplicaStatus as ReplicaStatus
from brokers.region_groups import DescribeGroups as DescribeGroups
from brokers.region_groups import FindReaders as FindReaders
from brokers.region_groups import GroupsDescribed as GroupsDescribed
from brokers.region_groups import ReadersFound as ReadersFound
from brokers.values import value

# --- events ---


@dataclass(frozen=True, slots=True)
class WatchRegion:
    """Starts reports of metadata and group changes and, with `logs` only, of the partitions' progress."""

    logs: bool


@dataclass(frozen=True, slots=True)
class PlaceBatches:
    """Write whole batches at their own offsets into a mirror partition -> `Placed` or `PlaceRefused`.

    `writer` must be the topic's writer (P4). `offset` must be the mirror's log end offset: the source has no records
    between it and the first batch. `roll` seals the active segment first, so that segments have the source's base
    offsets. Below `complete_from` compaction may have removed records there; above it none may be missing.
    """

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset
    data: Buffer = field(repr=False)
    roll: bool = False
    complete_from: Offset = 0


@dataclass(frozen=True, slots=True)
class SkipTo:
    """Restart a mirror partition's log at `offset`, as it is empty or the source's log starts beyond its end.

    The skipped range is already in the hole ledger -> `Placed` or `PlaceRefused`.
    """

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset


@dataclass(frozen=True, slots=True)
class TrimMirror:
    """The source's log start moved: delete records below `log_start_offset` -> `Placed` or `PlaceRefused`."""

    ticket: Ticket
    writer: str
    partition: TopicPartition
    log_start_offset: Offset


@dataclass(frozen=True, slots=True)
class TruncateMirror:
    """Cut a mirror partition's log from `offset` on -> `Placed` or `PlaceRefused`.

    The partition is offline until its log is open again and, where it has other replicas, until its next leader epoch:
    what they have acknowledged in this one does not count any more.
    """

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset


@dataclass(frozen=True, slots=True)
class SealOrphans:
    """Copy what this node's replica of a mirror partition has from `offset` on into the orphan store -> `Placed`, or
    `PlaceRefused` with the reason; the log is not changed. Leader or follower. `end`: up to there; -1: all.

    `readers`: groups that have read beyond `offset`, each with the offset that it had committed.
    """

    ticket: Ticket
    writer: str
    partition: TopicPartition
    offset: Offset
    reason: str
    readers: tuple[tuple[str, Offset], ...] = ()
    end: Offset = -1


@dataclass(frozen=True, slots=True)
class ReadToHighWatermark:
    """Read whole batches below the high watermark -> `HighWatermarkRead`."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    size_max: int


@dataclass(frozen=True, slots=True)
class FindOffset:
    """Find the first record of a time or later below the high watermark -> `OffsetFound`."""

    ticket: Ticket
    partition: TopicPartition
    timestamp: Instant


@dataclass(frozen=True, slots=True)
class Propose:
    """Send a command to the controller -> `Proposed` once it is committed or refused."""

    ticket: Ticket
    command: Submitted


@dataclass(frozen=True, slots=True)
class CommitOffsets:
    """Commit offsets of a group without members, wherever it is coordinated -> `OffsetsPlaced`."""

    ticket: Ticket
    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata]


@dataclass(frozen=True, slots=True)
class DeleteOffsets:
    """Delete offsets of a group without members, wherever it is coordinated -> `OffsetsPlaced`."""

    ticket: Ticket
    group: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class DescribeMirrors:
    """Ask another broker about the mirror partitions that it leads -> `MirrorsDescribed`."""

    ticket: Ticket
    broker_id: BrokerId
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerMirrors:
    """The answer to `MirrorsAsked`."""

    ticket: Ticket
    mirrors: tuple[MirrorStatus, ...]


@dataclass(frozen=True, slots=True)
class Retain:
    """The answer to `RetentionDue`: delete what retention by time and size says, but for these holds of a partition."""

    holds: Mapping[TopicPartition, tuple[RetentionHold, ...]]


@dataclass(frozen=True, slots=True)
class HoldWrites:
    """Producers' requests to these topics, by their ids, and to no others, wait unappended until the next such event.
    Whose own time is up is refused with NOT_ENOUGH_REPLICAS and `because`."""

    topic_ids: frozenset[UUID]
    because: str = ""


RegionEvent: TypeAlias = (
    WatchRegion | PlaceBatches | SkipTo | TrimMirror | TruncateMirror | SealOrphans | ReadToHighWatermark | FindOffset
    | Propose | CommitOffsets | DeleteOffsets | DescribeGroups | FindReaders | DescribeMirrors | AnswerMirrors | Retain
    | HoldWrites
)  # fmt: skip

# --- effects ---


@dataclass(frozen=True, slots=True)
class Placed:
    """The batches are written, or the log start has moved; `next_offset` is the log end offset. `size`: bytes that were
    sealed."""

    ticket: Ticket
    partition: TopicPartition
    next_offset: Offset
    size: int = 0


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
class OffsetFound:
    """The record's offset; -1 where there is none."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset


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
    """The high watermark of a partition that this node leads moved, or the log start of any, or its log was opened
    (after `WatchRegion`)."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class ImageChanged:
    delta: ImageDelta


@dataclass(frozen=True, slots=True)
class GroupOffsetsChanged:
    """A group's committed offsets changed; an offset of None is a deleted one (after `WatchRegion`). None at all: its
    first members have come, or its last has left."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None]


@dataclass(frozen=True, slots=True)
class RetentionDue:
    """It is time for retention -> `Retain`. Nothing is deleted without that (after `WatchRegion`)."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The broker has opened all its logs, loaded its groups, and serves clients."""


@dataclass(frozen=True, slots=True)
class MirrorsDescribed:
    """None: the broker did not answer."""

    ticket: Ticket
    mirrors: tuple[MirrorStatus, ...] | None


@dataclass(frozen=True, slots=True)
class MirrorsAsked:
    """Another broker asks about the mirror partitions that this one leads -> `AnswerMirrors`."""

    ticket: Ticket
    topics: tuple[str, ...]


RegionEffect: TypeAlias = (
    Placed | PlaceRefused | HighWatermarkRead | OffsetFound | Proposed | OffsetsPlaced | PartitionAdvanced
    | ImageChanged | GroupOffsetsChanged | Ready | GroupsDescribed | ReadersFound | MirrorsDescribed | MirrorsAsked
    | RetentionDue
)  # fmt: skip

# --- queries ---


class RegionView(Protocol):
    """Read-only queries, answered at once."""

    @property
    def image(self) -> Image: ...

    @property
    def cluster_id(self) -> str: ...

    @property
    def broker_id(self) -> BrokerId: ...

    def topic_configs(self, topic: str) -> Mapping[str, str]:
        """Every key of a topic with its effective value on this node."""

    def topic_config(self, topic: str, key: str) -> str:
        """One key of them."""

    @property
    def broker_epoch(self) -> Offset | None:
        """The offset of the registration of this process. None before the image has it, and of a lone node."""

    def partition_state(self, partition: TopicPartition) -> PartitionState | None:
        """None where this node holds no replica of the partition."""

    def is_serving(self, partition: TopicPartition) -> bool:
        """Whether this node leads the partition, and its log is open; as `partition_state` says, for less."""

    def replica_statuses(
        self, partition: TopicPartition, now: Instant
    ) -> tuple[ReplicaStatus, ...] | None:
        """Every replica of a partition as its leader sees it; None where this node does not lead it."""

    def records_were_deleted(
        self, partition: TopicPartition, base: Offset, log_start_offset: Offset
    ) -> bool:
        """Whether DeleteRecords, and not retention, is known to have deleted all records between these offsets."""

    def bytes_between(self, partition: TopicPartition, base: Offset, end: Offset) -> int:
        """Of whole segments, also of some that were deleted; -1 where one is unknown, or none begins there."""

    def held_bytes(self, partition: TopicPartition) -> int:
        """Bytes of this node's replica that retention would have deleted, were they not held; -1 before it has run."""

    def groups_with_offsets(self) -> tuple[str, ...]:
        """The ids of the groups that have committed offsets."""

    def group_offsets(self, group: str) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Empty for a group that is not known."""

    def groups_are_known(self) -> bool:
        """Whether every group that is coordinated here is known: no partition of theirs is offline or loading."""

    def led_group_partitions(self) -> tuple[tuple[int, LeaderEpoch], ...]:
        """The partitions of `__consumer_offsets` whose groups this node coordinates, each with its leader epoch."""

    def active_readers(self, topic: str) -> tuple[str, ...]:
        """Groups that have members here, and have committed offsets of the topic or subscribe to it."""

    def group_is_active(self, group: str) -> bool:
        """Whether the group has members here, whose offsets a link must not overwrite."""
