"""What a broker core asks of its host.

Effects of one step are independent of one another, but those on one log are performed in the order emitted. What
must come after a deed waits for the event that reports the deed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

from brokers.ids import (
    MIGRATING_DIRECTORY,
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
    """Answer a `Request`: a wire message for its key and version; None closes the exchange without a byte (acks=0)."""

    ticket: Ticket
    message: object | None


@dataclass(frozen=True, slots=True)
class Hangup:
    """Close the connection of this request: Kafka's answer to what cannot be answered."""

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
    """Open or create a partition's log -> `LogOpened` or `LogFailed`. Also brings an offline partition back.

    With `sync`, everything in it is on the disk when it is open: what a killed process left is committed from then on.
    `directory` is where the region has it; it counts only where the log is in none of the node's directories.
    """

    partition: TopicPartition
    topic_id: bytes  # 16 bytes, Kafka's topic id; kept in `partition.metadata`
    sync: bool = False
    directory: UUID = MIGRATING_DIRECTORY


@value
class Append:
    """Write stamped batches at the end of the active segment -> `Written` or `LogFailed`.

    `headers` describe the batches in `buffers`, in order, with final offsets. With `sync`, `Written` comes after fsync.
    `behind`: nobody reads the log above what is written, nobody else ever changes the bytes, so the host may write them
    while the core goes on.
    """

    partition: TopicPartition
    headers: tuple[BatchHeader, ...]
    buffers: Buffers = field(repr=False)
    sync: bool = False
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Roll:
    """Seal the active segment and begin one at `base_offset`. `producers` is the snapshot as of that offset."""

    partition: TopicPartition
    base_offset: Offset
    producers: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SaveEpochs:
    """Persist the leader-epoch history, before data of its newest epoch is appended."""

    partition: TopicPartition
    entries: tuple[tuple[LeaderEpoch, Offset], ...]


@dataclass(frozen=True, slots=True)
class TrimLog:
    """Persist the log start offset and drop the whole segments below it."""

    partition: TopicPartition
    log_start_offset: Offset


@dataclass(frozen=True, slots=True)
class TruncateLog:
    """Cut every batch from `offset` on -> `LogOpened`, with what is left, or `LogFailed`. Never below the log start.

    `epochs` are all leader epochs of the log with their first offsets; those without a batch after the cut are dropped.
    """

    partition: TopicPartition
    offset: Offset
    epochs: tuple[tuple[LeaderEpoch, Offset], ...]


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
    """Close the log; with `delete`, remove its folder too."""

    partition: TopicPartition
    delete: bool


@dataclass(frozen=True, slots=True)
class CopyLog:
    """Copy some more of a log to another directory -> `LogCopied`, in the end `LogMoved`, or `CopyFailed`.

    Without a `directory` what has been copied is dropped, and nothing is told.
    """

    partition: TopicPartition
    directory: UUID | None


@dataclass(frozen=True, slots=True)
class LeaveDirectory:
    """Let go of everything in a log directory that has failed, and touch it no more. Its core has given it up."""

    directory: UUID


@dataclass(frozen=True, slots=True)
class RemoveStrays:
    """Remove the folders of all partitions but these and the metadata log -> `StraysRemoved`, if there were any.

    A topic's deletion, or a reassignment, that a crash interrupted leaves such.
    """

    kept: frozenset[TopicPartition] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SaveHighWatermarks:
    """Persist high watermarks (Kafka's `replication-offset-checkpoint`): lower bounds for the next start."""

    offsets: Mapping[TopicPartition, Offset]


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
    """Find what `ReadRange` would read, for whoever only passes it on -> `RangesFound`.

    In order, until `size_max` bytes are found; the first batch of all is taken however large (KIP-74).
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
    """What the file systems of the log directories hold -> `DirectoriesMeasured`."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class KeepBrokerEpoch:
    """Should this life end with a clean shutdown, the next one is to know under which broker epoch it was lived."""

    broker_epoch: int


@dataclass(frozen=True, slots=True)
class Serve:
    """Everything this node holds is open: listen to clients. Others may send them here any moment."""


@dataclass(frozen=True, slots=True)
class End:
    """End the process: as it was asked to, or for a `reason` that only an operator can mend."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """Something an operator would want to know; logs, metrics and tests read it here and nowhere else."""

    what: str
    to: str
    why: str = ""


StorageEffect: TypeAlias = (
    OpenLog | Append | Roll | SaveEpochs | TrimLog | TruncateLog | KeepProducers | CloseLog | LeaveDirectory
    | RemoveStrays | SaveHighWatermarks | ReadRange | FindRanges | FindTimestamp | SaveState | LoadState
    | KeepBrokerEpoch | MeasureDirectories | CopyLog
)  # fmt: skip
# What an upper layer hears leaves through the same door.
Effect: TypeAlias = "Reply | Hangup | Ask | Serve | End | Changed | StorageEffect | RegionEffect"
