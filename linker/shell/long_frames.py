"""Room for frames that come in parts, of all streams of a node together: so much memory and no more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from linker.wire.limits import FrameError
from linker.wire.parts import LongFrame

Read = Callable[[], Awaitable[Any]]


class LongFrames:
    """One that finds no room waits, in turn, until others are whole. Each alone may have all of it."""

    def __init__(self, bytes_max: int, stall_seconds: float) -> None:
        """`stall_seconds`: for so long a frame waits for its next part."""
        self.held_bytes = 0
        self._bytes_max = bytes_max
        self._stall_seconds = stall_seconds
        self._turn = asyncio.Lock()
        self._freed = asyncio.Event()

    async def read(self, first: bytes, read: Read, end: object) -> bytes:
        """The whole frame, of which `first` is the first part; `read` returns `end` when nothing more comes.

        Raises FrameError, and what `read` raises.
        """
        frame = LongFrame(first, self._bytes_max)
        async with self._room(frame.size):
            frame.begin()
            while not frame.is_whole:
                frame.add(await self._next(read, end))
            return frame.whole()

    async def _next(self, read: Read, end: object) -> bytes:
        try:
            async with asyncio.timeout(self._stall_seconds):
                message = await read()
        except TimeoutError:
            because = f"a part of a frame, and nothing after it for {self._stall_seconds:.0f} s"
            raise FrameError(because) from None
        if message is end:
            raise FrameError("the stream ended within a frame")
        return bytes(message)

    @asynccontextmanager
    async def _room(self, size: int) -> AsyncIterator[None]:
        async with self._turn:
            while self.held_bytes + size > self._bytes_max:
                self._freed.clear()
                await self._freed.wait()
            self.held_bytes += size
        try:
            yield
        finally:
            self.held_bytes -= size
            self._freed.set()
