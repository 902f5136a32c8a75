"""Room for frames that come in parts, of all streams of a node together: so much memory and no more."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

from brokers.ids import Buffer
from linker.shell.options import MIB
from linker.wire.limits import FrameError
from linker.wire.parts import LongFrame

Read = Callable[[], Awaitable[Any]]

WAITING_BYTES_MAX: Final = 32 * MIB  # of first parts, whose frames have no room yet
CONTENDED_SECONDS: Final = 10.0  # while frames of other links wait


class WaitingFrame:
    """A frame of which the first part is here, and for which there is no room yet."""

    def __init__(self, frame: LongFrame, link: str) -> None:
        self.size, self.received_bytes = frame.size, frame.received_bytes
        self.link = link
        self.is_admitted = False
        self.dropped = ""  # why
        self.settled = asyncio.Event()  # either of them

    def admit(self) -> None:
        self.is_admitted = True
        self.settled.set()

    def drop(self, because: str) -> None:
        self.dropped = because
        self.settled.set()


class LongFrames:
    """One that finds no room waits until others are whole; links have it in turn. Each alone may have all of it."""

    def __init__(
        self, bytes_max: int, stall_seconds: float, contended_seconds: float = CONTENDED_SECONDS
    ) -> None:
        """A frame waits so long for its next part: `stall_seconds`, or `contended_seconds` while other links wait."""
        self.held_bytes = 0
        self._bytes_max = bytes_max
        self._stall_seconds = stall_seconds
        self._contended_seconds = min(contended_seconds, stall_seconds)
        self._waiting: list[WaitingFrame] = []
        self._turns = 0
        self._last_turn: dict[str, int] = {}  # by link

    def read(
        self, first: bytes, read: Read, end: object, link: str = ""
    ) -> Coroutine[Any, Any, Buffer]:
        """The whole frame, of which `first` is the first part; `read` returns `end` when nothing more comes.

        Raises FrameError, and what `read` raises, also when it is awaited.
        """
        # While it waits, nothing but the frame itself holds the bytes.
        return self._read(LongFrame(first, self._bytes_max), read, end, link)

    async def _read(self, frame: LongFrame, read: Read, end: object, link: str) -> Buffer:
        async with self._room(frame, link):
            while not frame.is_whole:
                frame.add(await self._next(read, end, link))
            return frame.whole()

    async def _next(self, read: Read, end: object, link: str) -> bytes:
        message = await self._in_time(asyncio.ensure_future(read()), link)
        if message is end:
            raise FrameError("the stream ended within a frame")
        return bytes(message)

    async def _in_time(self, reading: "asyncio.Future[Any]", link: str) -> Any:
        left = self._stall_seconds
        try:
            while not (await asyncio.wait([reading], timeout=self._contended_seconds))[0]:
                left -= self._contended_seconds
                others_wait = any(one.link != link for one in self._waiting)
                if left <= 0 or others_wait:
                    waited = self._stall_seconds - left
                    because = f"a part of a frame, and nothing after it for {waited:.0f} s"
                    others = ", while frames of other links wait" if others_wait else ""
                    raise FrameError(because + others)
            return reading.result()
        finally:
            reading.cancel()

    @asynccontextmanager
    async def _room(self, frame: LongFrame, link: str) -> AsyncIterator[None]:
        waiting = WaitingFrame(frame, link)
        self._waiting.append(waiting)
        self._admit()
        self._drop_latest()
        try:
            await waiting.settled.wait()
            if waiting.dropped:
                raise FrameError(waiting.dropped)
            yield
        finally:
            if waiting.is_admitted:
                self.held_bytes -= waiting.size
            elif waiting in self._waiting:
                self._waiting.remove(waiting)
            self._admit()

    def _admit(self) -> None:
        while self._waiting:
            following = min(self._waiting, key=lambda one: self._last_turn.get(one.link, 0))
            if self.held_bytes + following.size > self._bytes_max:
                return
            self._waiting.remove(following)
            self.held_bytes += following.size
            self._turns += 1
            self._last_turn[following.link] = self._turns
            following.admit()

    def _drop_latest(self) -> None:
        """Of the link with the most."""
        by_link: dict[str, int] = {}
        for one in self._waiting:
            by_link[one.link] = by_link.get(one.link, 0) + one.received_bytes
        if sum(by_link.values()) <= WAITING_BYTES_MAX:
            return
        link = max(by_link, key=lambda name: by_link[name])
        dropped = next(one for one in reversed(self._waiting) if one.link == link)
        self._waiting.remove(dropped)
        dropped.drop(
            f"no room for a frame of {dropped.size} bytes: others of link {link} wait already"
        )
