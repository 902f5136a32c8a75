"""Open gRPC streams of a node, by number: sends frames in order, and turns received ones into events.

gRPC gets and returns bytes, which `linker.wire.frames` encodes and decodes, so that record bytes are not copied through
protobuf objects.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import grpc
import grpc.aio

from brokers.ids import Buffer
from brokers.internal_errors import brief
from linker.errors import LinkError
from linker.events import (
    ChunkSent,
    CloseStream,
    FrameArrived,
    PartArrived,
    Send,
    Stream,
    StreamLost,
    is_dialed,
)
from linker.frames import CHUNK_BYTES_MAX, Chunk, Frame, Hello, Welcome
from linker.protocol_versions import SPLITS_FROM
from linker.shell.long_frames import LongFrames, Read
from linker.shell.options import ENVELOPE_BYTES, REQUEST_BYTES_MAX
from linker.wire import frames, parts
from linker.wire.limits import FrameError

logger = logging.getLogger(__name__)
Feed = Callable[[Any], None]
Write = Callable[[bytes], Awaitable[None]]

LAST_WRITE_SECONDS: Final = 1.0
STALL_SECONDS: Final = 60.0  # without one message going out
_END: Final = grpc.aio.EOF  # type: ignore[attr-defined]  # missing from the stubs
# What reading and writing a stream raise once it has ended.
BROKEN: Final = (grpc.RpcError, grpc.aio.BaseError, asyncio.InvalidStateError, FrameError)


class QueuedBytes:
    """Of frames that wait to be sent, of all streams; chunks are not counted, their source has a budget for them."""

    def __init__(self) -> None:
        self.total = 0


class Wire:
    """One stream: a queue of frames to send, and an event for each received."""

    def __init__(
        self,
        number: Stream,
        feed: Feed,
        queued: QueuedBytes,
        stall_seconds: float,
        chunk_bytes_max: int,
        long_frames: LongFrames,
    ) -> None:
        self._number = number
        self._long_frames = long_frames
        self._link: str | None = None  # of which this end has said that it is the destination
        self._version = 0  # that the source has chosen
        self._chunk_bytes_max = chunk_bytes_max
        self._feed = feed
        self._queue: deque[Chunk | bytes] = deque()
        self._queued = queued
        self._stall_seconds = stall_seconds
        self.queued_bytes = 0  # this stream's part
        self._wake = asyncio.Event()
        self.closing = False  # by this end: no StreamLost follows
        self._ended = False  # nothing more is sent
        self._failure: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def send(self, frame: Frame) -> None:
        if self._ended:
            return
        if isinstance(frame, Hello):
            self._link = frame.link_name
        if isinstance(frame, Chunk):
            self._queue.append(frame)
        else:
            data = frames.encode(frame)
            self._queue.append(data)
            self._count(len(data))
        self._wake.set()

    def _count(self, size: int) -> None:
        self.queued_bytes += size
        self._queued.total += size

    def close(self) -> None:
        self.closing = True
        self._wake.set()

    def fail(self, because: str) -> None:
        """Ends the stream; what was not sent is dropped."""
        self._end()
        if not self._failure.done():
            self._failure.set_result(because)

    def _end(self) -> None:
        self._ended = True
        self._queue.clear()
        self._count(-self.queued_bytes)
        self._wake.set()

    async def run(self, read: Read, write: Write) -> str:
        """Send and receive frames until either ends, or the stream fails; returns why it ended."""
        reading = asyncio.ensure_future(self._read(read))
        writing = asyncio.ensure_future(self._write(write))
        tasks = (reading, writing, self._failure)
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self._end()
            # gRPC ends no call while a message is being written to it.
            await asyncio.wait([writing], timeout=LAST_WRITE_SECONDS)
            return (self._failure if self._failure in done else next(iter(done))).result()
        finally:
            self._end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, read: Read) -> str:
        try:
            while (data := await read()) is not _END:
                if self.closing:
                    continue  # received frames are dropped; those in the queue are still sent
                if parts.is_part(data):
                    link, rest = self._link_of_parts(), partial(self._read_part, read)
                    reading = self._long_frames.read(data, rest, _END, link)
                    del data  # while it waits for room, the frame alone has its first part
                    data = await reading
                self._receive(data)
                del data  # it may be long, and the next one may be long in coming
        except BROKEN as error:
            return _why(error)
        return "the other region closed the stream"

    async def _read_part(self, read: Read) -> Any:
        message = await read()
        if message is not _END:
            self._feed(PartArrived(self._number))
        return message

    def _receive(self, data: Buffer) -> None:
        frame = frames.decode(data, self._chunk_bytes_max)
        if isinstance(frame, Welcome):
            self._version = frame.version
        if frame is not None:
            self._feed(FrameArrived(self._number, frame))

    def _link_of_parts(self) -> str:
        """A destination takes them, of a source that it knows. Raises FrameError."""
        if self._link is None:
            raise FrameError("a part of a frame, before this end has said Hello")
        if self._version < SPLITS_FROM:
            spoken = f"version {self._version}" if self._version else "no version yet"
            because = f"a part of a frame, on a stream of {spoken} of the link protocol"
            raise FrameError(f"{because}: version {SPLITS_FROM} has parts")
        return self._link

    async def _write(self, write: Write) -> str:
        try:
            while True:
                while self._queue:
                    await self._write_one(self._queue.popleft(), write)  # nothing else may hold it
                if self.closing or self._ended:
                    return "closed here"
                self._wake.clear()
                await self._wake.wait()
        except TimeoutError:
            return f"the other region has read nothing for {self._stall_seconds:.0f} s"
        except BROKEN as error:
            return _why(error)

    async def _write_one(self, item: Chunk | bytes, write: Write) -> None:
        is_chunk = isinstance(item, Chunk)
        data = await _encoded(item) if isinstance(item, Chunk) else item
        del item  # gRPC may hold the data for long, in two copies: this would be the third
        # A listener takes shorter messages than who has dialed it.
        is_long = is_chunk and is_dialed(self._number) and len(data) > REQUEST_BYTES_MAX
        for message in parts.split(data) if is_long else (data,):
            async with asyncio.timeout(self._stall_seconds):
                await write(message)
        if is_chunk:
            self._feed(ChunkSent(self._number))
        elif not self._ended:
            self._count(-len(data))


async def _encoded(chunk: Chunk) -> bytes:
    """To compress takes long, and can be done beside the loop."""
    if chunk.is_compressed:
        return await asyncio.to_thread(frames.encode, chunk)
    return frames.encode(chunk)


def _why(error: BaseException) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return error.details() or error.code().name
    return str(error) or type(error).__name__


class Streams:
    """All streams of a node. `perform` has the method for each effect of the linker on streams."""

    def __init__(
        self,
        feed: Feed,
        queued_bytes_max: int,
        stall_seconds: float = STALL_SECONDS,
        chunk_bytes_max: int = CHUNK_BYTES_MAX,
    ) -> None:
        """`chunk_bytes_max`: what a chunk may have at most, once it is whole and expanded."""
        self.feed = feed
        self._chunk_bytes_max = chunk_bytes_max
        self._stall_seconds = stall_seconds
        self._queued = QueuedBytes()
        self._queued_bytes_max = queued_bytes_max
        self._long_frames = LongFrames(chunk_bytes_max + ENVELOPE_BYTES, stall_seconds)
        self._wires: dict[Stream, Wire] = {}
        self.perform: dict[type, Callable[[Any], None]] = {
            Send: self._send,
            CloseStream: self._close,
        }

    @property
    def queued_bytes(self) -> int:
        """Of frames that wait to be sent, chunks not counted."""
        return self._queued.total

    @property
    def long_frame_bytes(self) -> int:
        """Of frames of which some parts have come, and others are awaited."""
        return self._long_frames.held_bytes

    def add(self, number: Stream) -> Wire:
        wire = self._wires[number] = Wire(
            number,
            self.feed,
            self._queued,
            self._stall_seconds,
            self._chunk_bytes_max,
            self._long_frames,
        )
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
            try:
                wire.send(effect.frame)
            except Exception as error:  # for the core it is a stream that was lost
                logger.exception("a frame of stream %d cannot be encoded", effect.stream)
                wire.fail(f"{type(effect.frame).__name__} cannot be encoded: {brief(error)}")
            if self._queued.total > self._queued_bytes_max:
                self._drop_longest()

    def _drop_longest(self) -> None:
        longest = max(self._wires.values(), key=lambda wire: wire.queued_bytes)
        size = longest.queued_bytes
        longest.fail(f"the other region has not read {size} bytes, the most of all that wait here")

    def _close(self, effect: CloseStream) -> None:
        wire = self._wires.get(effect.stream)
        if wire is not None:
            wire.close()
