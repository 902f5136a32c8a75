"""What can happen to a broker core. Everything that enters `Broker.step` is one of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

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
from brokers.security.principal import ANONYMOUS, KafkaPrincipal
from brokers.values import value

if TYPE_CHECKING:
    from brokers.log.recovered import RecoveredLog


class Listener(Enum):
    """The kind of listener a request came in on (Kafka's `ListenerType`): each kind serves APIs of its own."""

    DATA = "data"
    CONTROLLER = "controller"


@value
class Request:
    """A Kafka request of one connection, decoded; its answer is a `Reply` with the same ticket.

    Record bytes inside `message` are slices of the connection's receive buffer and valid only until the answer.
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


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The client of these tickets is gone; answers are pointless, parked work may be dropped.

    Of a connection of another node its last ticket is told, even one that was answered: the node itself may be gone.
    """

    tickets: tuple[Ticket, ...]


class AskFailure(Enum):
    """Why a request to another node has no answer."""

    NONE = "none"
    REFUSED = "refused"  # nobody listens there: the process is gone, the machine is not
    CLOSED = "closed"  # the connection was lost; the request may have been carried out
    TIMEOUT = "timeout"
    UNREADABLE = "unreadable"  # what came back is not an answer
    UNSUPPORTED_VERSION = "unsupported version"  # of another release; the request was not sent


@dataclass(frozen=True, slots=True)
class Answered:
    """Answer to `Ask`: the response, or None and why there is none. Record bytes inside are the receiver's to keep."""

    ticket: Ticket
    message: object | None = field(repr=False)
    failure: AskFailure = AskFailure.NONE


@dataclass(frozen=True, slots=True)
class Started:
    """The node begins: open the metadata log, then everything it names."""


@dataclass(frozen=True, slots=True)
class EndAsked:
    """An operator, or whoever supervises the process, wants it to end; asked again, at once -> `End`."""


@dataclass(frozen=True, slots=True)
class TimeReached:
    """The deadline that the core asked for has come."""


@dataclass(frozen=True, slots=True)
class LogOpened:
    """Answer to `OpenLog`: the log as the disk holds it, after repairs (one line each, for the operator).

    `directory` is the one it lies in; a node that has one need not say which.
    """

    partition: TopicPartition
    log: "RecoveredLog"
    repairs: tuple[str, ...] = ()
    directory: UUID = MIGRATING_DIRECTORY


@dataclass(frozen=True, slots=True)
class LogFailed:
    """The disk refused, `directory` of it: the partition is offline until a later `OpenLog` succeeds."""

    partition: TopicPartition
    reason: str
    directory: UUID = MIGRATING_DIRECTORY


@dataclass(frozen=True, slots=True)
class LogCopied:
    """Answer to `CopyLog`: `size` bytes are there, everything below `next_offset` among them; there is more."""

    partition: TopicPartition
    directory: UUID
    size: int
    next_offset: Offset


@dataclass(frozen=True, slots=True)
class LogMoved:
    """Answer to `CopyLog`: the log lies in this directory now, as it was; all of it is on the disk."""

    partition: TopicPartition
    directory: UUID


@dataclass(frozen=True, slots=True)
class MoveInterrupted:
    """After `LogOpened`: it was being copied to this directory when the last process ended."""

    partition: TopicPartition
    directory: UUID


@dataclass(frozen=True, slots=True)
class CopyFailed:
    """Answer to `CopyLog`: the directory refused, or is not there. The log stays where it is."""

    partition: TopicPartition
    directory: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class DirectoryRefused:
    """The disk refused what belongs to no partition, such as a checkpoint. It will be written again."""

    reason: str
    directory: UUID = MIGRATING_DIRECTORY


@value
class Written:
    """Everything below `next_offset` is in the log's files, and synced to the disk if the append asked for it."""

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


@value
class RangeRead:
    """Answer to `ReadRange`: whole batches from the one that holds `offset`; empty if none lies below the bound."""

    ticket: Ticket
    partition: TopicPartition
    data: Buffer
    next_offset: Offset  # one past the last offset in `data`; the asked offset when empty
    error: KafkaError = KafkaError.NONE


class RangeFound(NamedTuple):
    """Whole batches as in `RangeRead`, but much data is a reference to the file that holds it."""

    data: Buffer | FileRange
    next_offset: Offset
    error: KafkaError = KafkaError.NONE


@dataclass(frozen=True, slots=True)
class RangesFound:
    """Answer to `FindRanges`: what was found of each, in the order asked."""

    ticket: Ticket
    found: tuple[RangeFound, ...]


@dataclass(frozen=True, slots=True)
class TimestampFound:
    """Answer to `FindTimestamp`: offset and timestamp of the record, or -1 and -1."""

    ticket: Ticket
    partition: TopicPartition
    offset: Offset
    timestamp: Instant
    leader_epoch: LeaderEpoch


@dataclass(frozen=True, slots=True)
class DirectoriesMeasured:
    """Answer to `MeasureDirectories`: what could be measured. Nothing else is asked of a directory that failed."""

    ticket: Ticket
    volumes: Mapping[UUID, Volume]


@dataclass(frozen=True, slots=True)
class StraysRemoved:
    """Answer to `RemoveStrays`: the folders that were removed; none is sent where there were none."""

    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateSaved:
    """Answer to `SaveState`: the small file is durable."""

    name: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """Answer to `LoadState`: the small file's bytes, or None where it does not exist."""

    name: str
    data: Buffer | None = field(repr=False)


LogAnswer: TypeAlias = (
    RangeRead | RangesFound | TimestampFound | DirectoriesMeasured
)  # to a question to a disk
Event: TypeAlias = (
    Request | Disconnected | Answered | Started | EndAsked | TimeReached | LogOpened | LogFailed | DirectoryRefused
    | LogCopied | LogMoved | MoveInterrupted | CopyFailed
    | Written | SegmentSealed
    | RangeRead | RangesFound | TimestampFound | DirectoriesMeasured | StraysRemoved | StateSaved | StateLoaded
)  # fmt: skip
