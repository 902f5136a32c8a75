"""Runs a node's core in one event loop: take an event, step, perform the effects, arm one timer for the deadline.

Reads and most writes are done in the loop, in the page cache. Big writes that the core does not wait for are done in a
worker thread: the kernel needs more time to find pages for them than the core for all else. Syncs are done in worker
threads, one at a time per partition, so that appends made meanwhile share the next one, and so is the periodic
checkpoint. One more thread writes the digests of sealed segments, slowly, and one gives back the space of what was
deleted. Logs are compacted in processes of their own.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from brokers.effects import (
    Changed,
    CloseLog,
    ConfigureLog,
    End,
    ExpectCleaning,
    Hangup,
    OpenLog,
    Reply,
    SaveBehind,
    Serve,
)
from brokers.events import Request, Started, TimeReached
from brokers.ids import Instant, Ticket, TopicPartition
from brokers.region import Ready
from brokers.shell.backlog import Backlog, LogEffect
from brokers.shell.cleaners import Cleaners
from brokers.shell.clock import Clock
from brokers.shell.logs import CHANGE
from brokers.shell.server import Server
from brokers.shell.timed_request import TimedRequest
from brokers.storage.directories.removals import DelayedRemoval
from brokers.storage.log_manager import LogManager
from brokers.storage.logs.writing import Write
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.storage import Storage

logger = logging.getLogger(__name__)
SYNC_THREADS = 4
WRITE_THREADS = 2
DIGEST_PAUSE_S = 0.001
# Names of clients and groups must not forge lines of the log.
ONE_LINE = {code: repr(chr(code))[1:-1] for code in (*range(32), 127, 0x85, 0x2028, 0x2029)}


class NodeRefused(Exception):
    """The region refuses this node, or its disks fail: it needs an operator."""


class Core(Protocol):
    """`Broker`, or a broker composed with other cores."""

    @property
    def deadline(self) -> Instant | None: ...

    def step(self, event: Any, now: Instant, /) -> list[Any]: ...

    def stop(self) -> list[Any]: ...


class Node:
    """Feeds a core. `perform` may be extended by upper layers for their effects."""

    def __init__(self, core: Core, storage: Storage | LogManager, clock: Clock) -> None:
        self._core = core
        self._storage = storage
        self._clock = clock
        self._events: deque[Any] = deque()
        self.is_feeding = False  # an event that is fed then waits for others
        self.queued: dict[Ticket, TimedRequest] = {}  # requests that came while others were stepped
        self._taken_up: list[TimedRequest] = []  # of them, in this round
        self._stopping = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due: Instant | None = None
        self._syncing: dict[TopicPartition, None] = {}
        self._writing: dict[TopicPartition, None] = {}
        self._digesting: dict[TopicPartition, DigestWriting] = {}
        self._backlog = Backlog(self._perform_later, asyncio.get_running_loop())
        self._threads = ThreadPoolExecutor(SYNC_THREADS, thread_name_prefix="sync")
        self._digesters = ThreadPoolExecutor(1, thread_name_prefix="digest")
        self._writers = ThreadPoolExecutor(WRITE_THREADS, thread_name_prefix="write")
        self._removers = ThreadPoolExecutor(1, thread_name_prefix="remove")
        self._cleaners = Cleaners(storage, self._feed_result, self._threads)
        self._loop = asyncio.get_running_loop()
        self.serving: asyncio.Future[None] = self._loop.create_future()
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self.stopped: asyncio.Future[None] = self._loop.create_future()
        self.perform: dict[type, Callable[[Any], None]] = {
            Changed: _log_change,
            Serve: lambda _: _resolve(self.serving),
            Ready: lambda _: self._on_ready(),
            End: self._on_end,
            ExpectCleaning: lambda effect: self._cleaners.expect(effect.for_ms / 1000),
            OpenLog: self._backlog.put,
            CloseLog: self._backlog.put,
            ConfigureLog: self._backlog.put,
        }

    def serve(self, server: Server) -> None:
        """Sends replies through this server."""
        self.perform[Reply] = lambda effect: server.reply(effect.ticket, effect.message)
        self.perform[Hangup] = lambda effect: server.hang_up(effect.ticket, effect.reason)

    def start(self) -> None:
        for line in self._storage.repairs:
            _log_change(Changed("data directory", "repaired", line))
        self.feed(Started())

    def feed(self, event: Any) -> None:
        """Steps an event, after all that were fed before it. Called from any code in this loop."""
        events = self._events
        events.append(event)
        if self.is_feeding:
            return
        self.is_feeding = True
        core, clock, do = self._core, self._clock, self._do
        try:
            while events:
                now = clock.now()
                event = events.popleft()
                if self.queued:
                    self._take_up(event)
                for effect in core.step(event, now):
                    do(effect, now)
        except Exception as error:
            self._fail(error)
            return  # `is_feeding` stays set: later events are not stepped
        self.is_feeding = False
        if self._taken_up:
            self._settle()
        if self._storage.undigested:
            self._digest()
        if self._storage.uncleaned:
            self._cleaners.begin()
        if self._storage.discarded:
            self._remove_later()
        if self._storage.checkpoints:
            self._checkpoint()
        if self._storage.unsaved:
            self._save_behind()
        self._arm()

    def _take_up(self, event: Any) -> None:
        timed = self.queued.pop(event.ticket, None) if type(event) is Request else None
        if timed is not None:
            timed.taken_up = time.perf_counter()
            self._taken_up.append(timed)

    def _settle(self) -> None:
        """All that followed from these requests so far has been performed."""
        now = time.perf_counter()
        for timed in self._taken_up:
            if timed.worked_on < 0:
                timed.worked_on = now
        self._taken_up.clear()

    def _fail(self, error: Exception) -> None:
        """Ends the node: the state of a core that raised cannot be trusted."""
        if not self.stopped.done():
            self.stopped.set_exception(error)

    def _do(self, effect: Any, now: Instant) -> None:
        perform = self.perform.get(type(effect))
        if perform is not None:
            perform(effect)
            return
        storage = self._storage
        self._events += storage.perform(effect, now)
        if storage.unwritten:
            self._write()
        if storage.unsynced:
            self._sync()

    def _perform_later(self, effect: LogEffect) -> None:
        self._feed_result(lambda: self._storage.perform(effect, self._clock.now()))

    def _feed_result(self, act: Callable[[], list[Any]]) -> None:
        """Feeds the events that an operation of the storage returns."""
        try:
            events = act()
        except Exception as error:
            self._fail(error)
            return
        for event in events:
            self.feed(event)
        if self._storage.unsynced:
            self._sync()
        if self._storage.undigested:
            self._digest()
        if self._storage.discarded:
            self._remove_later()

    def _write(self) -> None:
        for partition in list(self._storage.unwritten):
            if partition not in self._writing:
                self._writing[partition] = None
                write = self._storage.begin_write(partition)
                future = self._loop.run_in_executor(self._writers, write.run)
                future.add_done_callback(partial(self._wrote, partition, write))

    def _wrote(self, partition: TopicPartition, write: Write, done: "asyncio.Future[None]") -> None:
        self._writing.pop(partition, None)
        self._feed_result(partial(self._storage.end_write, partition, write))
        if self._storage.unwritten:
            self._write()

    def _sync(self) -> None:
        for partition in list(self._storage.unsynced):
            if partition not in self._syncing:
                self._syncing[partition] = None
                work = self._storage.begin_sync(partition)
                future = self._loop.run_in_executor(self._threads, work)
                future.add_done_callback(partial(self._synced, partition))

    def _synced(self, partition: TopicPartition, done: "asyncio.Future[Any]") -> None:
        self._syncing.pop(partition, None)
        self._feed_result(lambda: self._storage.end_sync(partition, done.result()))

    def _digest(self) -> None:
        if self._stopping:
            return
        for partition in list(self._storage.undigested):
            if partition not in self._digesting:
                writing = self._storage.begin_digest(partition)
                self._digesting[partition] = writing
                future = self._loop.run_in_executor(self._digesters, _write_digest, writing)
                future.add_done_callback(partial(self._digested, partition))

    def _digested(self, partition: TopicPartition, done: "asyncio.Future[None]") -> None:
        writing = self._digesting.pop(partition)
        if not done.cancelled():
            self._feed_result(lambda: self._end_digest(partition, writing, done))

    def _end_digest(
        self, partition: TopicPartition, writing: DigestWriting, done: "asyncio.Future[None]"
    ) -> list[Any]:
        done.result()
        return self._storage.end_digest(partition, writing)

    def _checkpoint(self) -> None:
        waiting = self._storage.checkpoints
        while waiting:
            future = self._loop.run_in_executor(self._threads, waiting.pop(0))
            future.add_done_callback(lambda done: self._feed_result(done.result))

    def _save_behind(self) -> None:
        for partition in self._storage.unsaved:
            self._backlog.put(SaveBehind(partition))
        self._storage.unsaved.clear()

    def _remove_later(self) -> None:
        waiting = self._storage.discarded
        while waiting and not self._stopping:
            discarded = waiting.pop()
            self._loop.call_later(discarded.delay_ms / 1000, self._remove, discarded)

    def _remove(self, discarded: DelayedRemoval) -> None:
        if not self._stopping:
            future = self._loop.run_in_executor(self._removers, discarded.begin())
            future.add_done_callback(self._removed)

    def _removed(self, done: "asyncio.Future[list[Any]]") -> None:
        if not done.cancelled():
            self._feed_result(done.result)

    def _on_ready(self) -> None:
        _resolve(self.serving)
        _resolve(self.ready)

    def _on_end(self, effect: End) -> None:
        if effect.reason is None:
            _resolve(self.stopped)
        elif not self.stopped.done():
            self.stopped.set_exception(NodeRefused(effect.reason))

    async def reaches(self, point: "asyncio.Future[None]") -> bool:
        """Waits for `serving` or `ready`; False if the node ends before. Raises the error that ended it, if any."""
        await asyncio.wait({point, self.stopped}, return_when=asyncio.FIRST_COMPLETED)
        if self.stopped.done():
            self.stopped.result()
        return not self.stopped.done()

    def _arm(self) -> None:
        """Arms the timer for the core's deadline, unless it comes before that: then it is armed again when it comes.

        Most deadlines are of requests that wait, and are answered long before.
        """
        due, armed = self._core.deadline, self._timer_due
        if due is None or (armed is not None and armed <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        delay = max(0, due - self._clock.now()) / 1000
        self._timer = self._loop.call_later(delay, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = self._timer_due = None
        due = self._core.deadline
        if due is not None and due <= self._clock.now():
            self.feed(TimeReached())
        else:
            self._arm()

    async def stop(self) -> None:
        """Waits for all syncs, then closes the logs cleanly."""
        if self._timer is not None:
            self._timer.cancel()
        self._backlog.end()
        now = self._clock.now()
        for effect in self._core.stop():
            self._do(effect, now)
        self._checkpoint()
        self._stopping = True
        for writing in self._digesting.values():
            writing.give_up()
        await self._cleaners.stop()
        for each in (self._digesters, self._removers):
            await self._loop.run_in_executor(None, partial(each.shutdown, cancel_futures=True))
        await self._loop.run_in_executor(None, self._writers.shutdown)
        await self._loop.run_in_executor(None, self._threads.shutdown)
        if self.ready.done():  # before that, some logs are not recovered: no clean shutdown
            self._storage.close()


def _write_digest(writing: DigestWriting) -> None:
    """Runs in a worker thread, slowly, so that the loop is not delayed."""
    for _ in writing.steps():
        time.sleep(DIGEST_PAUSE_S)


def _resolve(point: "asyncio.Future[None]") -> None:
    if not point.done():
        point.set_result(None)


def _log_change(effect: Changed) -> None:
    line = f"{effect.what}: {effect.to}{f' ({effect.why})' if effect.why else ''}"
    logger.info("%s", line.translate(ONE_LINE), extra={CHANGE: effect})
