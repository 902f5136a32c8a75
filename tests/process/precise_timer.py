"""A timer that comes to some tens of microseconds at its time: uvloop's have whole milliseconds, and come late.

Linux' timerfd, by ctypes: the standard library has it since Python 3.13. Another system has the loop's own timers.
"""

import asyncio
import ctypes
import os
import sys
import time
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from typing import Final

TICK_SECONDS: Final = 0.001
LATE_MAX: Final = TICK_SECONDS / 2  # what comes due within it comes with what is due
LATE_SHARE: Final = 1 / 16  # of each time in what is expected of the next
CLOCK_MONOTONIC, TFD_TIMER_ABSTIME = 1, 1
HAS_TIMERFD: Final = sys.platform == "linux"

Callback = Callable[[], None]


class TimerSpec(ctypes.Structure):
    """`struct itimerspec`: no interval, and when it expires."""

    _fields_ = tuple((name, ctypes.c_long) for name in ("every_s", "every_ns", "s", "ns"))


class TimerDescriptor:
    """A file that can be read once its time has come."""

    def __init__(self, loop: asyncio.AbstractEventLoop, expired: Callback) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self._number = self._done(self._libc.timerfd_create(CLOCK_MONOTONIC, flags))
        self._loop, self._expired = loop, expired
        loop.add_reader(self._number, self._read)

    @staticmethod
    def _done(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    def set(self, when: float) -> None:
        seconds, nanoseconds = divmod(max(1, int(when * 1e9)), 10**9)
        spec = TimerSpec(0, 0, seconds, nanoseconds)
        self._done(
            self._libc.timerfd_settime(self._number, TFD_TIMER_ABSTIME, ctypes.byref(spec), None)
        )

    def _read(self) -> None:
        try:
            os.read(self._number, 8)
        except BlockingIOError:  # it was set anew after it had come
            return
        self._expired()

    def close(self) -> None:
        self._loop.remove_reader(self._number)
        os.close(self._number)


class LoopTimer:
    """The loop's own, of which one is set at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, expired: Callback) -> None:
        self._loop, self._expired = loop, expired
        self._handle: asyncio.TimerHandle | None = None

    def set(self, when: float) -> None:
        self.close()
        self._handle = self._loop.call_later(max(0, when - time.monotonic()), self._expired)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()


class PreciseTimer:
    """Of one loop. Times are those of `time.monotonic`; callbacks come in their order, whatever holds up the process.

    A process is woken some 0.2 ms after its timer's time, and a callback takes time itself. How late the first one
    ends is measured, and the timer is set so much earlier. What comes due within half a tick comes at once: few turns
    of the loop cost less than many.
    """

    def __init__(self, *, has_timerfd: bool = HAS_TIMERFD) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: list[tuple[float, int, Callback]] = []
        self._order = count()
        self._late = 0.0
        self._is_set_for = float("inf")
        self._timer = (TimerDescriptor if has_timerfd else LoopTimer)(self._loop, self._expire)

    def call_at(self, when: float, callback: Callback) -> None:
        """Once. It cannot be taken back."""
        heappush(self._waiting, (when, next(self._order), callback))
        if when <= time.monotonic():
            self._loop.call_soon(self._run_due)
        else:
            self._set()

    def _set(self) -> None:
        first = self._waiting[0][0]
        if first < self._is_set_for:
            self._is_set_for = first
            self._timer.set(first - self._late)

    def _expire(self) -> None:
        set_for = self._is_set_for - self._late
        self._is_set_for = float("inf")
        until = time.monotonic() + LATE_MAX
        if self._waiting and self._waiting[0][0] < until:
            heappop(self._waiting)[2]()
            late = min(time.monotonic() - set_for, LATE_MAX)
            self._late += LATE_SHARE * (late - self._late)
        self._run_until(until)

    def _run_due(self) -> None:
        self._run_until(time.monotonic() + LATE_MAX)

    def _run_until(self, until: float) -> None:
        while self._waiting and self._waiting[0][0] < until:
            heappop(self._waiting)[2]()
        if self._waiting:
            self._set()

    def close(self) -> None:
        self._waiting.clear()
        self._timer.close()
