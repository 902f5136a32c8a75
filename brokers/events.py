"""The events of a broker core: the input of `Broker.step`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

from brokers.compaction import CleaningStats
from brokers.errors import KafkaError
from brokers.ids import (
    DEFAULT_LISTENER,
    MIGRATING_DIRECTORY,
    Buffer,
    Instant,
    LeaderEpoch,
    Offset,
    Ticket,
    TopicPartition,
)
from brokers.ports import FileRange, Volume
from brokers.security.origin import Origin
from brokers.security.principal import ANONYMOUS, KafkaPrincipal
from brokers.values import value

if TYPE_CHECKING:
    from brokers.log.recovered import RecoveredLog
    from brokers.records.recompression import Recompressed


class Listener(Enum):
    """The kind of listener a request came in on (Kafka's `ListenerType`): each kind serves APIs of its own."""

    DATA = "data"
    CONTROLLER = "controller"


@value
class Request:
    """A decoded Kafka request -> a `Reply` with the same ticket.

    The records in `message` are slices of the connection's receive buffer, valid only until the reply.
    """

    ticket: Ticket
    api_key: int
    api_version: int
    client_id: str | None
    client_host: str
    message: object
    listener: Listener = Listener.DATA
    principal: KafkaPrincipal = ANONYMOUS
    listener_name: str = (
        DEFAULT_LISTENER  # brokers are named to the client by their addresses for it
    )
    # Of Produce: batches that the host has compressed anew beforehand, by `id` of their PartitionProduceData.
    recompressed: "Mapping[int, Recompressed] | None" = field(
        default=None, repr=False, compare=False
    )

    @property
    def origin(self) -> Origin | None:
        """Who sends it; None where a node of the region does by itself, not at a client's request."""
        if self.client_id is None and not self.client_host:
            return None
        return Origin(str(self.principal), self.client_id, self.client_host)


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The client of these tickets has disconnected: no reply is needed, waiting requests may be dropped.

    For another node's connection its last ticket is included, even if answered, as the node itself may have stopped.
    """

    tickets: tuple[Ticket, ...]


class AskFailure(Enum):
    """Why a request to another node got no response."""

    NONE = "none"
    REFUSED = "refused"  # connection refused: the machine runs, the process does not
    CLOSED = "closed"  # the connection was lost; the request may have been processed
    TIMEOUT = "timeout"
    UNREADABLE = "unreadable"  # what came back is not an answer
    UNSUPPORTED_VERSION = "unsupported version"  # of another release; the request was not sent


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of `Ask`: the response, or None with the failure. The records in the response may be kept."""

    ticket: Ticket
    message: object | None = field(repr=False)
    failure: AskFailure = AskFailure.NONE


@dataclass(frozen=True, slots=True)
class Started:
    """The node starts: the core opens the metadata log, then every log that the metadata assigns to the node."""


@dataclass(frozen=True, slots=True)
class EndAsked:
    """The process is to end after a controlled shutdown, by a signal; after the second one at once -> `End`."""


@dataclass(frozen=True, slots=True)
class TimeReached:
    """The core's deadline has been reached."""


@dataclass(frozen=True, slots=True)
class LogOpened:
    """The result of `OpenLog`: the log as on the disk, after `repairs` (one line each, for the operator).

    `directory` is its log directory; a host with one directory may leave it out.
    """

    partition: TopicPartition
    log: "RecoveredLog"
    repairs: tuple[str, ...] = ()
    directory: UUID = MIGRATING_DIRECTORY


@dataclass(frozen=True, slots=True)
class LogFailed:
    """An I/O error in `directory`: the partition is offline until a later `OpenLog` succeeds."""

    partition: TopicPartition
    reason: str
    directory: UUID = MIGRATING_DIRECTORY


@dataclass(frozen=True, slots=True)
class LogCopied:
    """The result of `CopyLog`: `size` bytes, every batch below `next_offset`, are copied; the copy is not complete."""

    partition: TopicPartition
    directory: UUID
    size: int
    next_offset: Offset


@dataclass(frozen=True, slots=True)
class LogMoved:
    """The result of `CopyLog`: the log is in this directory now, unchanged and synced to the disk."""

    partition: TopicPartition
    directory: UUID


@dataclass(frozen=True, slots=True)
class MoveInterrupted:
    """After `LogOpened`: the log was being copied to this directory when the last process ended."""

    partition: TopicPartition
    directory: UUID


@dataclass(frozen=True, slots=True)
class CopyFailed:
    """The result of `CopyLog`: an I/O error in the directory, or no such directory. The log stays where it is."""

    partition: TopicPartition
    directory: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class DirectoryRefused:
    """An I/O error on a file of no partition, such as a checkpoint. The file will be written again."""

    reason: str
    directory: UUID = MIGRATING_DIRECTORY


@value
class Written:
    """Every batch below `next_offset` is in the log's files, and synced to the disk for an append with `sync`."""

    partition: TopicPartition
    next_offset: Offset


@dataclass(frozen=True, slots=True)
class SegmentSealed:
    """A segment takes no more batches, and all of it is on the disk: offsets [base_offset, next_offset), `size` bytes.

    Its digest lies beside it and is `digest`, 16 bytes; empty where none could be written. Sent after a roll, and after
    an opening that found a sealed segment without its digest.
    """

    partition: TopicPartition
    base_offset: Offset
    next_offset: Offset
    size: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class RecordsCompacted:
    """A cleaned segment is about to replace others: from now on a reader may find that records are gone.

    `complete_from`: below it the whole cleaning may remove records. `markers_from`: one past the last deletion marker
    that is removed with this segment, -1 if none is.
    """

    partition: TopicPartition
    complete_from: Offset
    markers_from: Offset = -1


@dataclass(frozen=True, slots=True)
class SegmentsCleaned:
    """One cleaned segment has replaced those that begin in [base_offset, next_offset)."""

    partition: TopicPartition
    base_offset: Offset
    next_offset: Offset
    size: int
    max_timestamp: Instant


@dataclass(frozen=True, slots=True)
class LogCleaned:
    """The result of `CleanLog`: everything below `next_offset` is clean, and a checkpoint says so.

    None: the cleaning ended early, for a `reason` where there is one. `is_final`: another one would end the same way.
    """

    partition: TopicPartition
    next_offset: Offset | None
    reason: str = ""
    is_final: bool = False
    stats: CleaningStats = field(default_factory=CleaningStats)


@value
class RangeRead:
    """The result of `ReadRange`: whole batches from the one with `offset`; empty if there is none below the bound."""

    ticket: Ticket
    partition: TopicPartition
    data: Buffer
    next_offset: Offset  # one past the last offset in `data`; the requested offset when empty
    error: KafkaError = KafkaError.NONE


class RangeFound(NamedTuple):
    """Whole batches as in `RangeRead`; large data is a range of its file."""

    data: Buffer | FileRange
    next_offset: Offset
    error: KafkaError = KafkaError.NONE


@dataclass(frozen=True, slots=True)
class RangesFound:
    """The result of `FindRanges`: what was found of each range, in the order of the request."""

    ticket: Ticket
    found: tuple[RangeFound, ...]


@dataclass(frozen=True, slots=True)
class TimestampFound:
    """The result of `FindTimestamp`: offset and timestamp of the record, or -1 and -1."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    timestamp: Instant
    leader_epoch: LeaderEpoch


@dataclass(frozen=True, slots=True)
class DirectoriesMeasured:
    """The result of `MeasureDirectories`, without directories that failed: these are not measured."""

    ticket: Ticket
    volumes: Mapping[UUID, Volume]


@dataclass(frozen=True, slots=True)
class TailSealed:
    """The result of `SealTail`: every batch up to `next_offset` is copied; if `done`, to the end, durably.

    `size`: bytes of these batches. `error` says why nothing more is copied; the log is unchanged.
    """

    ticket: Ticket
    partition: TopicPartition
    next_offset: Offset
    done: bool = False
    error: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class StraysRemoved:
    """The result of `RemoveStrays`: the removed folders, at least one."""

    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateSaved:
    """The result of `SaveState`: the small file is durable."""

    name: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """The result of `LoadState`: the small file's bytes, or None where it does not exist."""

    name: str
    data: Buffer | None = field(repr=False)


# The results of reads that carry a ticket.
LogAnswer: TypeAlias = RangeRead | RangesFound | TimestampFound | DirectoriesMeasured | TailSealed
Event: TypeAlias = (
    Request | Disconnected | Answered | Started | EndAsked | TimeReached | LogOpened | LogFailed | DirectoryRefused
    | LogCopied | LogMoved | MoveInterrupted | CopyFailed
    | Written | SegmentSealed | RecordsCompacted | SegmentsCleaned | LogCleaned
    | RangeRead | RangesFound | TimestampFound | DirectoriesMeasured | TailSealed
    | StraysRemoved | StateSaved | StateLoaded
)  # fmt: skip
