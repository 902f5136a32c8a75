"""Compresses batches anew in threads, before their requests reach the node.

A request waits until its batches are ready, and the later ones of its connection wait behind it, as they are handled in
order; other connections pass by. What waits is bounded by what a connection may have under way.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from brokers.api import produce
from brokers.events import Disconnected, Request
from brokers.ids import Ticket
from brokers.records.recompression import Recompressed, Recompression

THREADS: Final = min(os.cpu_count() or 1, 8)  # Kafka's num.io.threads, which compress there
_Made: TypeAlias = "asyncio.Future[Recompressed]"


class _Waiting:
    __slots__ = ("missing", "ready", "request")

    def __init__(self, request: Request, missing: int) -> None:
        self.request = request
        self.missing = missing
        self.ready: dict[int, Recompressed] = {}


class Recompressing:
    """`feed` passes a server's events on. `waiting` has the tickets of the requests that wait."""

    def __init__(
        self,
        feed: Callable[[Request | Disconnected], None],
        needed: Callable[[Request], Sequence[tuple[int, Recompression]]],
    ) -> None:
        """`needed`: the batches of a Produce request that need it, by the keys of `Request.recompressed`."""
        self.waiting: set[Ticket] = set()
        self.connection_of: Callable[[Ticket], object] = lambda _: None
        self._feed = feed
        self._needed = needed
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="compress")
        self._queues: dict[object, deque[_Waiting]] = {}  # by connection
        self._is_stopped = False

    def feed(self, event: Request | Disconnected) -> None:
        if type(event) is Request:
            needed = self._needed(event) if event.api_key == produce.KEY else ()
            if needed or (self._queues and self.connection_of(event.ticket) in self._queues):
                self._hold(event, needed)
                return
        self._feed(event)

    def _hold(self, request: Request, needed: Sequence[tuple[int, Recompression]]) -> None:
        connection = self.connection_of(request.ticket)
        waiting = _Waiting(request, len(needed))
        self.waiting.add(request.ticket)
        self._queues.setdefault(connection, deque()).append(waiting)
        for key, each in needed:
            made = self._loop.run_in_executor(self._threads, each.run)
            made.add_done_callback(partial(self._made, connection, waiting, key))

    def _made(self, connection: object, waiting: _Waiting, key: int, made: _Made) -> None:
        """What could not be made, the node meets again, and refuses."""
        if made.cancelled() or self._is_stopped:
            return
        if made.exception() is None:
            waiting.ready[key] = made.result()
        waiting.missing -= 1
        self._pass_on(connection)

    def _pass_on(self, connection: object) -> None:
        """All that is ready, in order; what it leads to may come behind."""
        queue = self._queues.get(connection)
        while queue and not queue[0].missing:
            first = queue.popleft()
            if not queue:
                del self._queues[connection]
            self.waiting.discard(first.request.ticket)
            self._feed(replace(first.request, recompressed=first.ready or None))

    async def stop(self) -> None:
        """What waits is not passed on."""
        self._is_stopped = True
        await self._loop.run_in_executor(None, partial(self._threads.shutdown, cancel_futures=True))
