"""The processes that clean a node's logs, each one log at a time; a new one starts when all are busy.

A process needs a fifth of a second to start, as long as it then needs for 200 MB: so one is started when a log may soon
be cleaned. While it waits it has 22 MB of memory of its own.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any, Final

from brokers.ids import TopicPartition
from brokers.shell.cleaner_jobs import job_line, parse_result
from brokers.shell.files import DiskFiles
from brokers.storage.cleaning.cleaning_plan import CleanedSegment, CleaningDone, CleaningFailed
from brokers.storage.cleaning.cleanings import Cleaning, Cleanings
from brokers.storage.cleaning.swapping import Swap
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage

IDLE_S: Final = 30.0  # then a process without work ends
_MODULE: Final = "brokers.shell.cleaner_process"
_LINE_BYTES_MAX: Final = 1 << 20
_ENVIRONMENT: Final = {
    "PYTHONHASHSEED": "random",  # nobody may be able to choose keys with equal hashes
    "OPENBLAS_NUM_THREADS": "1",  # numpy's, which would begin one for each core and use none
    # glibc's. The buffers of a cleaning are freed and made again: not by the kernel, page by page.
    "MALLOC_MMAP_THRESHOLD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(32 << 20),
    "MALLOC_ARENA_MAX": "1",
}

FeedResult = Callable[[Callable[[], list[Any]]], None]


class Cleaners:
    """`begin` when the storage has logs to clean. `feed_result` feeds the events of a storage's operation; syncs are
    done in `threads`."""

    def __init__(
        self, storage: Storage | LogManager, feed_result: FeedResult, threads: Executor
    ) -> None:
        self._storage = storage
        self._threads = threads
        self._feed_result = feed_result
        self._idle: list[tuple[asyncio.subprocess.Process, asyncio.TimerHandle]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    def begin(self) -> None:
        """Begin every cleaning that waits."""
        for partition in [] if self._is_stopped else list(self._storage.uncleaned):
            cleanings = self._storage.cleanings_of(partition)
            task = asyncio.ensure_future(
                self._clean(partition, cleanings, cleanings.begin(partition))
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def expect(self, for_s: float) -> None:
        """There may soon be something to clean: a process is ready, for so long at least."""
        if self._is_stopped or self._tasks:
            return
        if (process := self._take_idle()) is not None:
            self._rest(process, for_s)
            return
        task = asyncio.ensure_future(self._prepare(for_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _prepare(self, for_s: float) -> None:
        with suppress(OSError):  # a cleaning that fails for it says so
            self._rest(await self._start(), for_s)

    async def _clean(
        self, partition: TopicPartition, cleanings: Cleanings, cleaning: Cleaning
    ) -> None:
        outcome: CleaningDone | CleaningFailed | None
        try:
            outcome = await self._outcome(partition, cleanings, cleaning)
        except (OSError, ValueError, RuntimeError) as error:
            # uvloop's pipes raise RuntimeError where the process has ended.
            outcome = CleaningFailed(f"the cleaner's process: {error}", is_final=False)
        if not self._is_stopped:
            self._feed_result(partial(cleanings.end, partition, cleaning, outcome))

    async def _outcome(
        self, partition: TopicPartition, cleanings: Cleanings, cleaning: Cleaning
    ) -> CleaningDone | CleaningFailed | None:
        process = self._take_idle() or await self._start()
        assert process.stdin is not None and process.stdout is not None
        cleaning.on_give_up = partial(_kill, process)
        try:
            if cleaning.is_given_up:
                return None
            assert isinstance(cleanings.files, DiskFiles)
            process.stdin.write(job_line(cleanings.files.root, cleaning.plan))
            await process.stdin.drain()
            while line := await process.stdout.readline():
                result = parse_result(line)
                if not isinstance(result, CleanedSegment):
                    self._rest(process)
                    return result
                await self._swap(cleanings.begin_swap(partition, cleaning, result))
        finally:
            cleaning.on_give_up = lambda: None
            if all(each is not process for each, _ in self._idle):
                _kill(process)
                await process.wait()
        return CleaningFailed("the cleaner's process has ended", is_final=False)

    async def _swap(self, swap: Swap) -> None:
        """The changes in the loop, what makes them durable in a thread."""
        while not swap.is_over and not self._is_stopped:
            self._feed_result(swap.advance)
            if not swap.is_over:
                await asyncio.get_running_loop().run_in_executor(self._threads, swap.sync)

    def _take_idle(self) -> asyncio.subprocess.Process | None:
        """One that waits, if any does."""
        while self._idle:
            process, timer = self._idle.pop()
            timer.cancel()
            if _is_alive(process):
                return process
        return None

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _MODULE,
            str(os.getpid()),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES_MAX,
            start_new_session=True,  # signals of a terminal are the node's
            env={**os.environ, **_ENVIRONMENT},
        )

    def _rest(self, process: asyncio.subprocess.Process, for_s: float = IDLE_S) -> None:
        delay = max(for_s, IDLE_S)
        timer = asyncio.get_running_loop().call_later(delay, self._retire, process)
        self._idle.append((process, timer))

    def _retire(self, process: asyncio.subprocess.Process) -> None:
        self._idle = [(each, timer) for each, timer in self._idle if each is not process]
        assert process.stdin is not None
        process.stdin.close()

    async def stop(self) -> None:
        """End all processes; cleanings under way are given up."""
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for process, timer in self._idle:
            timer.cancel()
            _kill(process)
            await process.wait()
        self._idle.clear()


def _is_alive(process: asyncio.subprocess.Process) -> bool:
    """Another one may have killed it, or the kernel for want of memory."""
    assert process.stdin is not None
    return process.returncode is None and not process.stdin.is_closing()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
