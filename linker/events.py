"""The events and effects of a linker core. Those of its region are among them unchanged."""

from dataclasses import dataclass
from typing import TypeAlias

from brokers.effects import Changed
from brokers.events import TimeReached
from brokers.ids import Ticket
from brokers.region import RegionEffect, RegionEvent
from linker.answers import Answer
from linker.commands import Command
from linker.errors import LinkError, LinkRefusal
from linker.frames import Frame

Stream: TypeAlias = int  # the number of one stream; never reused by a process

# --- events ---


def is_dialed(stream: Stream) -> bool:
    """Whether this end has dialed it; those that it accepts have positive numbers."""
    return stream < 0


@dataclass(frozen=True, slots=True)
class StreamAccepted:
    """Another region opened a stream to this one."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class StreamDialed:
    """Answer to `Dial`: the stream is open, and no frame has been sent on it."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class StreamLost:
    """A stream ended, or a dial failed; `error` says how."""

    stream: Stream
    error: LinkError
    because: str


@dataclass(frozen=True, slots=True)
class FrameArrived:
    stream: Stream
    frame: Frame


@dataclass(frozen=True, slots=True)
class PartArrived:
    """A part of a long frame, which arrives when it is whole: the other end is there."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class ChunkSent:
    """A chunk of a `Send` has left this process. The source reads only a few chunks ahead of the network."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class AdminAsked:
    """Answered by `AdminAnswered` with the same ticket."""

    ticket: Ticket
    command: Command
    asked_by: str = ""  # the address that the command came from


# Of a stream that is there already, or is being opened.
StreamEvent: TypeAlias = StreamDialed | StreamLost | FrameArrived | PartArrived | ChunkSent

LinkerEvent: TypeAlias = StreamAccepted | StreamEvent | AdminAsked | TimeReached | RegionEffect

# --- effects ---


@dataclass(frozen=True, slots=True)
class Dial:
    """Open a stream to the region behind these Kafka addresses -> `StreamDialed`, or `StreamLost`.

    With an `endpoint` it is opened to that `link.listener`, and the addresses are not asked.
    """

    stream: Stream
    bootstrap_servers: tuple[str, ...]
    timeout_ms: int
    endpoint: str = ""
    receive_buffer_bytes: int = -1  # of the socket; -1: the system's
    window_bytes: int = 0  # of chunks that may be under way to this end, at most


@dataclass(frozen=True, slots=True)
class Send:
    """Frames of one stream are sent in the order emitted; on a lost stream they are dropped."""

    stream: Stream
    frame: Frame


@dataclass(frozen=True, slots=True)
class CloseStream:
    """Close the stream once the frames before are sent. No `StreamLost` follows."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The command is to be asked at this `admin.listener`: the link coordinator's."""

    endpoint: str


@dataclass(frozen=True, slots=True)
class AdminAnswered:
    ticket: Ticket
    answer: Answer | LinkRefusal | Elsewhere


LinkerEffect: TypeAlias = Dial | Send | CloseStream | AdminAnswered | Changed | RegionEvent
