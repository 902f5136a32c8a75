"""A peer whose frames are changed on their way. All frames cross as bytes here, and are decoded as from any peer."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from brokers.ids import OffsetAndMetadata, TopicPartition
from linker.frames import Frame, GroupOffsets
from linker.shell.options import MIB
from linker.wire import frames
from linker.wire.limits import FrameError
from tests.playbooks.linker.world import Host, World

Lie = Callable[[Frame], Frame | bytes]
Commit = tuple[TopicPartition, OffsetAndMetadata]


class Liar(World):
    """`lie` changes what `liar` says. A frame that cannot be decoded ends the streams, as it does in a node."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.liar = self.source
        self.lie: Lie | None = None
        self.lies = self.refused = 0  # told; not decoded

    def send(self, host: Host, stream: int, frame: Any) -> None:
        said = self.lie(frame) if self.lie is not None and host is self.liar else frame
        self.lies += said is not frame
        data = said if isinstance(said, bytes) else bytes(frames.encode(said))
        try:
            heard = frames.decode(data, MIB)
        except FrameError:
            self.refused += 1
            self.at(self.now, self.cut)
            return
        if heard is not None:
            super().send(host, stream, heard)


def of(kind: type, **changes: Any) -> Lie:
    """Every frame of this kind has these values; a function makes one of the true one."""

    def lie(frame: Frame) -> Frame:
        if not isinstance(frame, kind):
            return frame
        values = {
            name: value(getattr(frame, name)) if callable(value) else value
            for name, value in changes.items()
        }
        changed: Frame = replace(frame, **values)  # type: ignore[type-var]
        return changed

    return lie


def commits(change: Callable[[TopicPartition, OffsetAndMetadata], Commit]) -> Lie:
    """Of every group."""
    return of(GroupOffsets, offsets=lambda known: dict(change(*one) for one in known.items()))


def instead(kind: type, other: Frame | bytes) -> Lie:
    """A frame of another kind, or what is no frame."""
    return lambda frame: other if isinstance(frame, kind) else frame
