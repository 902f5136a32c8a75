"""Open gRPC streams of a node, by number: sends frames in order, and turns received ones into events.

gRPC gets and returns bytes, which `linker.wire.frames` encodes and decodes, so that record bytes are not copied through
protobuf objects.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
import grpc.aio

from linker.errors import LinkError
from linker.events import ChunkSent, CloseStream, FrameArrived, Send, Stream, StreamLost
from linker.frames import Chunk, Frame
from linker.wire import frames
from linker.wire.limits import FrameError

Feed = Callable[[Any], None]
Read = Callable[[], Awaitable[Any]]
Write = Callable[[bytes], Awaitable[None]]

LAST_WRITE_SECONDS: Final = 1.0
_END: Final = grpc.aio.EOF  # type: ignore[attr-defined]  # missing from the stubs
# What reading and writing a stream raise once it has ended.
BROKEN: Final = (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError, FrameError)


class Wire:
    """One stream: a queue of frames to send, and an event for each received."""

    def __init__(self, number: Stream, feed: Feed) -> None:
        self._number = number
        self._feed = feed
        self._queue: deque[Frame] = deque()
        self._wake = asyncio.Event()
        self.closing = False  # by this end: no StreamLost follows
        self._ended = False  # by the other end

    def send(self, frame: Frame) -> None:
        self._queue.append(frame)
        self._wake.set()

    def close(self) -> None:
        self.closing = True
        self._wake.set()

    async def run(self, read: Read, write: Write) -> str:
        """Send and receive frames until either ends; returns why it ended."""
        tasks = [asyncio.ensure_future(self._read(read)), asyncio.ensure_future(self._write(write))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            # gRPC ends no call while a message is being written to it.
            self._ended = True
            self._wake.set()
            await asyncio.wait(tasks[1:], timeout=LAST_WRITE_SECONDS)
            return next(iter(done)).result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, read: Read) -> str:
        try:
            while (data := await read()) is not _END:
                if self.closing:
                    continue  # received frames are dropped; those in the queue are still sent
                frame = frames.decode(data)
                if frame is not None:
                    self._feed(FrameArrived(self._number, frame))
        except BROKEN as error:
            return _why(error)
        return "the other region closed the stream"

    async def _write(self, write: Write) -> str:
        try:
            while True:
                while self._queue and not self._ended:
                    frame = self._queue.popleft()
                    await write(frames.encode(frame))
                    if isinstance(frame, Chunk):
                        self._feed(ChunkSent(self._number))
                if self.closing or self._ended:
                    return "closed here"
                self._wake.clear()
                await self._wake.wait()
        except BROKEN as error:
            return _why(error)


def _why(error: BaseException) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return error.details() or error.code().name
    return str(error) or type(error).__name__


class Streams:
    """All streams of a node. `perform` has the method for each effect of the linker on streams."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._wires: dict[Stream, Wire] = {}
        self.perform: dict[type, Callable[[Any], None]] = {
            Send: self._send,
            CloseStream: self._close,
        }

    def add(self, number: Stream) -> Wire:
        wire = self._wires[number] = Wire(number, self.feed)
        return wire

    def remove(self, number: Stream, error: LinkError, because: str) -> None:
        """The stream has ended; the core gets StreamLost unless it closed the stream itself."""
        wire = self._wires.pop(number)
        if not wire.closing:
            self.feed(StreamLost(number, error, because))

    def close_all(self) -> None:
        """The node stops: queued frames are sent, then every stream ends."""
        for wire in self._wires.values():
            wire.close()

    def _send(self, effect: Send) -> None:
        wire = self._wires.get(effect.stream)
        if wire is not None and not wire.closing:
            wire.send(effect.frame)

    def _close(self, effect: CloseStream) -> None:
        wire = self._wires.get(effect.stream)
        if wire is not None:
            wire.close()
