"""What can happen to a linker core, and what it asks of its host. Region events and effects pass as they are."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.effects import Changed
from brokers.events import TimeReached
from brokers.ids import Ticket
from brokers.region import RegionEffect, RegionEvent
from linker.commands import Answer, Command
from linker.errors import LinkError, LinkRefusal
from linker.frames import Frame

Stream: TypeAlias = int  # names one stream; never reused by a process

# --- events ---


@dataclass(frozen=True, slots=True)
class StreamAccepted:
    """Another region opened a stream to us."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class StreamDialed:
    """Answer to `Dial`: the stream is open, nothing has been said on it."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class StreamLost:
    """A stream ended, or a dial failed; `error` says which kind of end it was."""

    stream: Stream
    error: LinkError
    because: str


@dataclass(frozen=True, slots=True)
class FrameArrived:
    stream: Stream
    frame: Frame


@dataclass(frozen=True, slots=True)
class ChunkSent:
    """A `Send` of a chunk left this process; the source reads ahead of the network by a few chunks only."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class AdminAsked:
    """Answered by `AdminAnswered` with the same ticket."""

    ticket: Ticket
    command: Command


LinkerEvent: TypeAlias = (
    StreamAccepted | StreamDialed | StreamLost | FrameArrived | ChunkSent | AdminAsked
    | TimeReached | RegionEffect
)  # fmt: skip

# --- effects ---


@dataclass(frozen=True, slots=True)
class Dial:
    """Open a stream to the region behind these Kafka addresses -> `StreamDialed`, or `StreamLost`."""

    stream: Stream
    bootstrap_servers: tuple[str, ...]
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Send:
    """Frames of one stream leave in the order emitted; on a lost stream they vanish."""

    stream: Stream
    frame: Frame


@dataclass(frozen=True, slots=True)
class CloseStream:
    """End it once what was sent has left. No `StreamLost` follows."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class AdminAnswered:
    ticket: Ticket
    answer: Answer | LinkRefusal


LinkerEffect: TypeAlias = Dial | Send | CloseStream | AdminAnswered | Changed | RegionEvent
