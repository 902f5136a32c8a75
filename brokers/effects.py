"""The effects of a broker core: what the host has to do.

Effects of one step are independent of one another, except that those on one log are performed in order. What must
follow the completion of an effect waits for the event that reports the completion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

from brokers.compaction import CleaningLimits, LastBatch
from brokers.ids import (
    MIGRATING_DIRECTORY,
    NO_PARTITION_LEADER_EPOCH,
    OFFSET_MAX,
    Buffer,
    Buffers,
    Instant,
    LeaderEpoch,
    Offset,
    Peer,
    Ticket,
    TopicPartition,
)
from brokers.records.batch import BatchHeader
from brokers.values import value

if TYPE_CHECKING:
    from brokers.region import RegionEffect


@value
class Reply:
    """The response to a `Request`, for its API key and version; None: no response is sent (acks=0)."""

    ticket: Ticket
    message: object | None


@dataclass(frozen=True, slots=True)
class Hangup:
    """Close the connection of this request, as Kafka does for a request without a valid response."""

    ticket: Ticket
    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a Kafka request to another node -> exactly one `Answered`.

    `channel` names a connection of its own: requests of one channel leave and are answered in order, so a long poll
    delays nothing but its own channel. `timeout_ms` covers connecting too; when it runs out the channel is closed.
    `api_version` is the highest that this node speaks: the request leaves at the highest that the peer speaks too.
    """

    ticket: Ticket
    peer: Peer
    channel: str
    api_key: int
    api_version: int
    message: object = field(repr=False)
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class OpenLog:
    """Open or create a partition's log, also of an offline partition -> `LogOpened` or `LogFailed`.

    With `sync`, every batch in the log is synced to the disk before `LogOpened`. `directory` is the log directory that
    the metadata names; it is used only where no directory of the node has the log.
    """

    partition: TopicPartition
    topic_id: bytes  # 16 bytes, Kafka's topic id; kept in `partition.metadata`
    sync: bool = False
    directory: UUID = MIGRATING_DIRECTORY
    index_interval_bytes: int | None = None  # of new segments; None: the node's
    file_delete_delay_ms: int | None = None  # None: the node's
    preallocate_bytes: int = 0  # of disk that a new segment takes at once


@dataclass(frozen=True, slots=True)
class ConfigureLog:
    """Change settings of an open log; no event follows."""

    partition: TopicPartition
    file_delete_delay_ms: int
    preallocate_bytes: int = 0


@value
class Append:
    """Write stamped batches at the end of the active segment -> `Written` or `LogFailed`.

    `headers` describe the batches in `buffers`, in order, with final offsets. With `sync`, `Written` follows the fsync.
    `behind`: the core reads the log only below `Written`, and `buffers` never change, so the host may write them in the
    background.
    """

    partition: TopicPartition
    headers: tuple[BatchHeader, ...]
    buffers: Buffers = field(repr=False)
    sync: bool = False
    behind: bool = False


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Sync what has been appended; no event follows, unless it fails (`LogFailed`)."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class Roll:
    """Seal the active segment and begin a new one at `base_offset`. `producers`: the producer snapshot as of there."""

    partition: TopicPartition
    base_offset: Offset
    producers: bytes = field(repr=False)
    index_interval_bytes: int | None = None  # None: that of the segment before


@dataclass(frozen=True, slots=True)
class SaveEpochs:
    """Persist the leader-epoch history, before a batch of its newest epoch is appended.

    If that epoch has no batch yet, the storage wants a `SaveBehind`.
    """

    partition: TopicPartition
    entries: tuple[tuple[LeaderEpoch, Offset], ...]


@dataclass(frozen=True, slots=True)
class TrimLog:
    """Persist the log start offset; rename segments wholly below it, and remove them after `file.delete.delay.ms`."""

    partition: TopicPartition
    log_start_offset: Offset


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Cut every batch from `offset` on -> `LogOpened`, with what is left, or `LogFailed`. Never below the log start.

    `epochs` are all leader epochs of the log with their first offsets; those without a batch after the cut are dropped.
    `begins_anew`: everything goes, and nothing that a crash leaves may be used.
    """

    partition: TopicPartition
    offset: Offset
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]
    begins_anew: bool = False


@value
class NoteGap:
    """What is about to be appended, up to `next_offset`, lacks records that compaction removed elsewhere: a checkpoint
    will say so before the log's recovery point is above it. What has replaced them lies below `complete_from`, which
    may be above the log's end and cannot be found in it: that is written at once. -1: nobody has said it."""

    partition: TopicPartition
    next_offset: Offset
    complete_from: Offset


@dataclass(frozen=True, slots=True)
class SealTail:
    """Copy a further part of a log, from the batch that holds `offset` on, into the orphan store -> `TailSealed`.

    Asked again until it is done. `end`: what lies from there on is left out; -1: nothing is. The log itself is not
    changed. The manifest has `reason`, and `readers`: groups with the offsets that they had committed. The store of a
    log directory takes no more than `store_bytes_max`; -1: what the disk takes. `last_epoch`: of the last batch; a tail
    that was sealed before is known by it (KIP-101).
    """

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    reason: str
    store_bytes_max: int = -1
    readers: tuple[tuple[str, Offset], ...] = ()
    end: Offset = -1
    last_epoch: LeaderEpoch = NO_PARTITION_LEADER_EPOCH


@dataclass(frozen=True, slots=True)
class KeepProducers:
    """Keep the producers' state as of `next_offset`, the content of a `.snapshot` file, for a clean shutdown.

    The file is written when the log is closed, if the log ends at `next_offset` then and was changed since its opening.
    """

    partition: TopicPartition
    next_offset: Offset
    snapshot: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class CloseLog:
    """Close the log; with `delete`, rename its folder, too, and remove it after `file.delete.delay.ms`."""

    partition: TopicPartition
    delete: bool


@dataclass(frozen=True, slots=True)
class CopyLog:
    """Copy a further part of a log to another directory -> `LogCopied`, at the end `LogMoved`, or `CopyFailed`.

    Without a `directory` the copy is removed, and no event follows.
    """

    partition: TopicPartition
    directory: UUID | None


@dataclass(frozen=True, slots=True)
class CleanLog:
    """Compact a log up to `bound`, or as far as its keys fit into memory -> `RecordsCompacted` and `SegmentsCleaned` of
    each segment, at the end `LogCleaned`.

    Everything below `first_dirty_offset` is clean. Only segments that are sealed and synced are changed. With the last
    batch of each active producer its last sequence is kept. Deletion markers at and above `keep_markers_from`, which a
    mirror does not hold yet, are kept until `keep_markers_ms` after their time.
    """

    partition: TopicPartition
    first_dirty_offset: Offset
    bound: Offset
    now: Instant
    delete_retention_ms: int
    segment_bytes: int
    last_batches: tuple[LastBatch, ...] = field(repr=False)
    limits: CleaningLimits
    keep_markers_from: Offset = OFFSET_MAX
    keep_markers_ms: int = 0


@dataclass(frozen=True, slots=True)
class ExpectCleaning:
    """There may soon be a `CleanLog`, though none is under way: the host may prepare for it, for so long."""

    for_ms: int


@dataclass(frozen=True, slots=True)
class LeaveDirectory:
    """Close every log in a failed log directory, and do not use the directory again in this process."""

    directory: UUID


@dataclass(frozen=True, slots=True)
class RemoveStrays:
    """Remove the folders of all partitions but these and the metadata log -> `StraysRemoved`, if there were any.

    Kafka's stray replicas: left by a deletion or reassignment that a crash interrupted.
    """

    kept: frozenset[TopicPartition] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SaveHighWatermarks:
    """Persist high watermarks (Kafka's `replication-offset-checkpoint`): lower bounds for the next start."""

    offsets: Mapping[TopicPartition, Offset]


@dataclass(frozen=True, slots=True)
class SaveBehind:
    """Write what the storage has put off for a log: its leader-epoch history, and what is new in the indexes of its
    active segment. A new leader epoch or the periodic checkpoint has the storage want it for thousands of logs at once.
    """

    partition: TopicPartition


@value
class ReadRange:
    """Read whole batches of [offset, bound) -> `RangeRead`. `at_least_one` returns the first batch however large."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    bound: Offset
    size_max: int
    at_least_one: bool


class Range(NamedTuple):
    """Whole batches of [offset, bound), about `size_max` bytes of them."""

    partition: TopicPartition
    offset: Offset
    bound: Offset
    size_max: int


@dataclass(frozen=True, slots=True)
class FindRanges:
    """Find the batches that `ReadRange` would read, as file ranges where possible -> `RangesFound`.

    In order, until `size_max` bytes are found; the first batch is included however large it is (KIP-74).
    """

    ticket: Ticket
    ranges: tuple[Range, ...]
    size_max: int


@dataclass(frozen=True, slots=True)
class FindTimestamp:
    """First record at or after `timestamp` below `bound` (-3: the largest timestamp) -> `TimestampFound`."""

    ticket: Ticket
    partition: TopicPartition
    timestamp: Instant
    bound: Offset


@dataclass(frozen=True, slots=True)
class SaveState:
    """Write a small file atomically and durably (quorum state, snapshots) -> `StateSaved`. None removes it."""

    name: str
    data: Buffer | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class LoadState:
    """Read a small file -> `StateLoaded`."""

    name: str


@dataclass(frozen=True, slots=True)
class MeasureDirectories:
    """Measure the file systems of the log directories -> `DirectoriesMeasured`."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class KeepBrokerEpoch:
    """Write this broker epoch to the clean shutdown file if the process ends with a clean shutdown (KIP-966)."""

    broker_epoch: int


@dataclass(frozen=True, slots=True)
class Serve:
    """Every log of this node is open: listen to clients, which other brokers may direct here from now on."""


@dataclass(frozen=True, slots=True)
class End:
    """End the process: as requested, or for a `reason` that an operator has to fix."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A change of state, for the operator: the only source of logs, metrics and tests about it."""

    what: str
    to: str
    why: str = ""


StorageEffect: TypeAlias = (
    OpenLog | ConfigureLog | Append | FlushLog | Roll | SaveEpochs | TrimLog | TruncateLog | SealTail | KeepProducers
    | CloseLog | LeaveDirectory | RemoveStrays | SaveHighWatermarks | SaveBehind | ReadRange | FindRanges
    | FindTimestamp | SaveState | LoadState | KeepBrokerEpoch | NoteGap | MeasureDirectories | CopyLog | CleanLog
)  # fmt: skip
# The effects for an upper layer (a link) leave the core in the same way.
Effect: TypeAlias = (
    "Reply | Hangup | Ask | Serve | End | Changed | ExpectCleaning | StorageEffect | RegionEffect"
)
