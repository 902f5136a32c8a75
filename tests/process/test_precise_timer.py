"""The timer of the wide area: each callback once, in order, none long before its time."""

import asyncio
import time
from functools import partial

import pytest
import uvloop

from tests.process.precise_timer import HAS_TIMERFD, LATE_MAX, PreciseTimer

DELAYS_S = (0.02, 0.005, 0.03, 0.0051, -1.0)


BOTH = pytest.mark.parametrize(
    "has_timerfd", sorted({HAS_TIMERFD, False}), ids=lambda has: "timerfd" if has else "loop"
)


def hold_up(until: float) -> None:
    while time.monotonic() < until:
        pass


@BOTH
@pytest.mark.parametrize("held_up", range(len(DELAYS_S) + 1))
def test_each_comes_once_in_order_and_not_before(has_timerfd: bool, held_up: int) -> None:
    """However long the process does not run before one of them is asked for, or after the last one."""
    came: list[tuple[float, float]] = []

    async def act() -> None:
        timer, all_came = PreciseTimer(has_timerfd=has_timerfd), asyncio.Event()

        def note(due: float) -> None:
            came.append((due, time.monotonic()))
            if len(came) == len(DELAYS_S):
                all_came.set()

        now = time.monotonic()
        for number, delay in enumerate((*DELAYS_S, None)):
            if number == held_up:
                hold_up(now + DELAYS_S[0])
            if delay is not None:
                timer.call_at(now + delay, partial(note, now + delay))
        await asyncio.wait_for(all_came.wait(), 20)
        await asyncio.sleep(0.005)
        timer.close()

    uvloop.run(act())
    dues = [due for due, _ in came]
    assert dues == sorted(dues) and len(dues) == len(DELAYS_S)
    # What is due within half a tick comes with what is due.
    assert all(at > due - LATE_MAX for due, at in came)


@BOTH
def test_a_callback_may_ask_for_the_next_one(has_timerfd: bool) -> None:
    left = [3]

    async def act() -> None:
        timer, done = PreciseTimer(has_timerfd=has_timerfd), asyncio.Event()

        def again() -> None:
            left[0] -= 1
            if left[0]:
                timer.call_at(time.monotonic() + 0.002, again)
            else:
                done.set()

        timer.call_at(time.monotonic() + 0.002, again)
        await asyncio.wait_for(done.wait(), 20)
        timer.close()

    uvloop.run(act())
    assert left == [0]
