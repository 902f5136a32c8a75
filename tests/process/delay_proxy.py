"""A wide area between two regions: a TCP proxy that delays, limits and cuts what passes through it, both ways or one.

`python -m tests.process.delay_proxy --to HOST:PORT --delay-ms 40` prints the port it listens on, and runs until its
standard input ends. A test runs `DelayProxy` in a thread of its own, and cuts it.
"""

import argparse
import asyncio
import sys
import threading
from collections import deque
from contextlib import suppress
from typing import Any

import uvloop

BUFFERED_MAX = 256 << 20  # bytes on their way in one direction of one connection
THERE, BACK = "there", "back"  # from whoever connects to the target, and from the target


class Way(asyncio.Protocol):
    """One direction of a connection: what it receives leaves at `other` after the delay, at the limit's rate."""

    def __init__(self, proxy: "DelayProxy", direction: str) -> None:
        self._proxy, self._direction = proxy, direction
        self._loop = asyncio.get_running_loop()
        self._under_way: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._free_at = 0.0  # when the line has taken all before
        self._timer: asyncio.TimerHandle | None = None
        self._is_ended = False
        self.transport: Any = None
        self.other: Way | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._proxy.ways.add(self)

    @property
    def _is_cut(self) -> bool:
        return self._direction in self._proxy.cut_ways

    def data_received(self, data: bytes) -> None:
        if self._is_cut:
            return
        now = self._loop.time()
        rate = self._proxy.bytes_per_second
        self._free_at = max(now, self._free_at) + (len(data) / rate if rate else 0.0)
        self._under_way.append((self._free_at + self._proxy.delay_seconds, data))
        self._size += len(data)
        if self._size > BUFFERED_MAX:
            self.transport.pause_reading()
        self._arm()

    def _arm(self) -> None:
        if self._timer is None and self._under_way and self.other is not None:
            self._timer = self._loop.call_at(self._under_way[0][0], self._deliver)

    def _deliver(self) -> None:
        self._timer = None
        assert self.other is not None
        now, due = self._loop.time(), []
        while self._under_way and self._under_way[0][0] <= now:
            due.append(self._under_way.popleft()[1])
        self._size -= sum(map(len, due))
        if self._is_cut or self.other.transport.is_closing():
            return
        self.other.transport.writelines(due)
        if self._size <= BUFFERED_MAX:
            self._resume()
        self._arm()
        if self._is_ended and not self._under_way:
            self.other.transport.close()

    def _resume(self) -> None:
        if not self._is_ended:
            self.transport.resume_reading()

    def join(self, other: "Way") -> None:
        self.other = other
        self._arm()

    def connection_lost(self, error: Exception | None) -> None:
        self._proxy.ways.discard(self)
        self._is_ended = True
        if self.other is not None and not self._under_way:
            self.other.transport.close()


class DelayProxy:
    """Listens on `port` of `listener` while it runs.

    `delay_seconds` is one way; `bytes_per_second` is of each direction of each connection, 0 is no limit.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        delay_ms: float = 0,
        bytes_per_second: int = 0,
        listener: str = "127.0.0.1",
    ) -> None:
        self._host, self._target, self._listener = host, port, listener
        self.delay_seconds = delay_ms / 1000
        self.bytes_per_second = bytes_per_second
        self.cut_ways: frozenset[str] = frozenset()
        self.port = 0
        self.ways: set[Way] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[Any] | None = None
        self._thread: threading.Thread | None = None
        self._is_ready = threading.Event()

    async def serve(self) -> None:
        self._loop, self._serving = asyncio.get_running_loop(), asyncio.current_task()
        server = await self._loop.create_server(self._accepted, self._listener, self.port)
        self.port = server.sockets[0].getsockname()[1]
        self._is_ready.set()
        async with server:
            await server.serve_forever()

    def _accepted(self) -> Way:
        way = Way(self, THERE)
        task = asyncio.ensure_future(self._join(way))
        self._joining.add(task)
        task.add_done_callback(self._joining.discard)
        return way

    async def _join(self, way: Way) -> None:
        assert self._loop is not None
        try:
            _, there = await self._loop.create_connection(
                lambda: Way(self, BACK), self._host, self._target
            )
        except OSError:
            way.transport.close()
            return
        there.join(way)
        way.join(there)

    # --- from another thread ---

    def start(self) -> "DelayProxy":
        """Runs in a thread; returns when it listens."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._is_ready.wait()
        return self

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            uvloop.run(self.serve())

    def cut(self, *ways: str) -> None:
        """Nothing passes any more, or not in these ways, and nobody is told: connections stand."""
        self.cut_ways = frozenset(ways or (THERE, BACK))

    def mend(self) -> None:
        """New connections pass; the old ones, from which bytes are missing, are reset first."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._mend)

    def _mend(self) -> None:
        for each in [*self.ways]:
            each.transport.abort()
        self.cut_ways = frozenset()

    def stop(self) -> None:
        """Ends the thread; whoever is connected is cut off."""
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join()

    def _end(self) -> None:
        assert self._serving is not None
        self._serving.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", required=True, metavar="HOST:PORT")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--bytes-per-second", type=int, default=0)
    options = parser.parse_args()
    host, _, port = options.to.rpartition(":")
    proxy = DelayProxy(
        host, int(port), delay_ms=options.delay_ms, bytes_per_second=options.bytes_per_second
    )
    proxy.port = options.port
    proxy.start()
    print(proxy.port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
