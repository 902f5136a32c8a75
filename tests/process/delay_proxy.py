"""A wide area between two regions: a TCP proxy that delays, limits and cuts what passes through it, both ways or one.

A test runs `DelayProxy` in a thread of its own, and cuts it; `tests.process.delay_proxies` is a process.
"""

import asyncio
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import uvloop

from tests.process.precise_timer import TICK_SECONDS, PreciseTimer
from tests.process.under_way import PIPE_BYTES, CopiedPiece, Piece, SplicedPieces

BUFFERED_MAX: Final = 256 << 20  # bytes on their way in one direction of one connection
LIMITED_PIECE_BYTES: Final = 64 << 10  # where a rate is limited, larger pieces would come in jolts
LONG_PIECE_BYTES: Final = 64 << 10  # after it more comes at once
THERE, BACK = "there", "back"  # from whoever connects to the target, and from the target
CUBIC: Final = b"cubic"  # Linux' default congestion control
RESET: Final = b"\1\0\0\0\0\0\0\0"  # SO_LINGER of nothing: a close is a reset


class Line:
    """What bytes leave one after the other, so many a second; 0: at once."""

    def __init__(self, bytes_per_second: int) -> None:
        self._bytes_per_second = bytes_per_second
        self.piece_bytes = max(LIMITED_PIECE_BYTES, bytes_per_second // 1000)
        self._free_at = 0.0  # when it has taken all before

    @property
    def is_limited(self) -> bool:
        return self._bytes_per_second > 0

    def left_at(self, size: int, now: float) -> float:
        """When so many bytes that come now have left it."""
        taken = size / self._bytes_per_second if self._bytes_per_second else 0
        self._free_at = max(now, self._free_at) + taken
        return self._free_at


def shared_lines(bytes_per_second: int) -> dict[str, Line]:
    """One for all connections in each direction, of any number of proxies that run in one thread."""
    return {way: Line(bytes_per_second) for way in (THERE, BACK)}


class Way:
    """One direction of a connection: what comes from `source` goes to `target` after the delay, at the line's rate."""

    def __init__(
        self, passage: "Passage", direction: str, source: socket.socket, target: socket.socket
    ) -> None:
        self._passage, self._proxy, self._direction = passage, passage.proxy, direction
        self._source, self._target = source, target
        self._line = passage.proxy.line(direction)
        self._loop = asyncio.get_running_loop()
        self._under_way: deque[tuple[float, Piece]] = deque()
        self._size = 0
        self._is_armed = False
        self._gathering: asyncio.TimerHandle | None = None
        self._is_reading = self._is_writing = self._is_ended = False

    def read(self) -> None:
        """From now on, unless too much is under way."""
        self._gathering = None
        if not (self._is_reading or self._is_ended or self._size > BUFFERED_MAX):
            self._is_reading = True
            self._loop.add_reader(self._source, self._receive)

    def _pause(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._source)

    @property
    def _is_cut(self) -> bool:
        return self._direction in self._proxy.cut_ways

    def _receive(self) -> None:
        now = time.monotonic()
        try:
            piece = self._take()
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._passage.close()
            return
        if piece.size == 0:
            self._end()
        elif self._is_cut:
            piece.give_up()
        else:
            self._delay(piece, now)

    def _take(self) -> Piece:
        """What there is; nothing of it where the other end has finished."""
        if self._line.is_limited:
            return CopiedPiece.of(self._source, self._line.piece_bytes)
        return self._proxy.pieces.of(self._source)

    def _delay(self, piece: Piece, now: float) -> None:
        left_at = self._line.left_at(piece.size, now)
        self._under_way.append((left_at + self._proxy.delay_seconds, piece))
        self._size += piece.size
        if self._size > BUFFERED_MAX:
            self._pause()
        elif LONG_PIECE_BYTES <= piece.size < PIPE_BYTES and not self._line.is_limited:
            self._gather()
        self._arm()

    def _gather(self) -> None:
        """Few long pieces cost less than many short ones."""
        self._pause()
        self._gathering = self._loop.call_later(TICK_SECONDS, self.read)

    def _arm(self) -> None:
        if self._under_way and not (self._is_armed or self._is_writing):
            self._is_armed = True
            self._proxy.timer.call_at(self._under_way[0][0], self._come_due)

    def _come_due(self) -> None:
        self._is_armed = False
        if not self._is_writing:
            self._deliver()

    def _deliver(self) -> None:
        try:
            self._send_all_due()
        except (BlockingIOError, InterruptedError):
            if not self._is_writing:
                self._is_writing = True
                self._loop.add_writer(self._target, self._deliver)
            return
        except OSError:
            self._passage.close()
            return
        if self._is_writing:
            self._is_writing = False
            self._loop.remove_writer(self._target)
        if self._gathering is None:
            self.read()
        self._arm()
        if self._is_ended and not self._under_way:
            self._passage.close()

    def _send_all_due(self) -> None:
        until = time.monotonic() + TICK_SECONDS / 2  # not to ask for one again and again
        while self._under_way and self._under_way[0][0] < until:
            piece = self._under_way[0][1]
            while piece.size and not self._is_cut:
                self._size -= piece.send_to(self._target)
            self._size -= piece.size
            piece.give_up()
            self._under_way.popleft()

    def _end(self) -> None:
        """Nothing comes any more; what is under way still arrives."""
        self._pause()
        self._is_ended = True
        if not self._under_way:
            self._passage.close()

    def stop(self) -> None:
        self._pause()
        self._is_ended = True
        if self._is_writing:
            self._loop.remove_writer(self._target)
        if self._gathering is not None:
            self._gathering.cancel()
        while self._under_way:
            self._under_way.popleft()[1].give_up()


def _unpaced(end: socket.socket) -> None:
    """Whatever this machine's congestion control is: BBR sends by timers, which between two processes is work alone.

    Before it is connected: once BBR has begun, Linux goes on with its timers, whatever comes after it.
    """
    with suppress(AttributeError, OSError):  # another system, or a kernel without cubic
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CUBIC)


class Passage:
    """A connection through the proxy: one to it, one from it, and the two ways between."""

    def __init__(self, proxy: "DelayProxy", near: socket.socket, far: socket.socket) -> None:
        self.proxy = proxy
        self.ends = near, far
        for end in self.ends:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ways = Way(self, THERE, near, far), Way(self, BACK, far, near)
        for way in self._ways:
            way.read()
        proxy.passages.add(self)

    def close(self, *, is_reset: bool = False) -> None:
        if self not in self.proxy.passages:
            return
        self.proxy.passages.discard(self)
        for way in self._ways:
            way.stop()
        for end in self.ends:
            if is_reset:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            end.close()


class DelayProxy:
    """Listens on `port` of `listener` while it runs.

    `delay_seconds` is one way. `bytes_per_second` is of each direction of each connection; 0 is no limit. `shared`:
    lines of both directions that all connections share, instead.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        delay_ms: float = 0,
        bytes_per_second: int = 0,
        shared: Mapping[str, Line] | None = None,
        listener: str = "127.0.0.1",
    ) -> None:
        self._target, self._listener = (host, port), listener
        self.delay_seconds = delay_ms / 1000
        self._bytes_per_second = bytes_per_second
        self._shared = shared or {}
        self.cut_ways: frozenset[str] = frozenset()
        self.port = 0
        self.passages: set[Passage] = set()
        self.pieces = SplicedPieces()
        self._joining: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[Any] | None = None
        self._thread: threading.Thread | None = None
        self._is_ready = threading.Event()
        self._refused: OSError | None = None

    def line(self, direction: str) -> Line:
        """Of a new connection."""
        return self._shared.get(direction) or Line(self._bytes_per_second)

    async def serve(self) -> None:
        self._loop, self._serving = asyncio.get_running_loop(), asyncio.current_task()
        with self._listen() as server:
            self.timer = PreciseTimer()
            server.setblocking(False)
            _unpaced(server)  # and whatever it accepts
            self.port = server.getsockname()[1]
            self._is_ready.set()
            try:
                while True:
                    near, _ = await self._loop.sock_accept(server)
                    task = asyncio.ensure_future(self._join(near))
                    self._joining.add(task)
                    task.add_done_callback(self._joining.discard)
            finally:
                for passage in [*self.passages]:
                    passage.close()
                self.pieces.close()
                self.timer.close()

    def _listen(self) -> socket.socket:
        try:
            return socket.create_server((self._listener, self.port), backlog=1024)
        except OSError as error:
            self._refused = error
            self._is_ready.set()
            raise

    async def _join(self, near: socket.socket) -> None:
        assert self._loop is not None
        near.setblocking(False)
        far = socket.socket()
        far.setblocking(False)
        _unpaced(far)
        try:
            await self._loop.sock_connect(far, self._target)
        except OSError:
            near.close()
            far.close()
            return
        Passage(self, near, far)

    # --- from another thread ---

    def start(self) -> "DelayProxy":
        """Runs in a thread; returns when it listens."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.wait_ready()
        return self

    def wait_ready(self) -> None:
        """Returns when it listens. Raises OSError if it can't."""
        self._is_ready.wait()
        if self._refused is not None:
            raise self._refused

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            try:
                uvloop.run(self.serve())
            except OSError as error:
                if error is not self._refused:  # which `wait_ready` raises
                    raise

    def cut(self, *ways: str) -> None:
        """Nothing passes any more, or not in these ways, and nobody is told: connections stand."""
        self.cut_ways = frozenset(ways or (THERE, BACK))

    def mend(self) -> None:
        """New connections pass; the old ones, from which bytes are missing, are reset first."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._mend)

    def _mend(self) -> None:
        for each in [*self.passages]:
            each.close(is_reset=True)
        self.cut_ways = frozenset()

    def stop(self) -> None:
        """Ends the thread; whoever is connected is cut off."""
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join()

    def _end(self) -> None:
        assert self._serving is not None
        self._serving.cancel()
