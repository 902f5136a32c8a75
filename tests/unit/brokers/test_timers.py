"""Timers fire once, in order, unless cancelled."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.timers import DeadlineTimer, Timers


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=30), st.integers(0, 60))
def test_what_is_due_fires_once_in_order_of_its_time(
    plan: list[tuple[int, bool]], now: int
) -> None:
    timers, fired = Timers(), []
    for index, (due, cancelled) in enumerate(plan):
        timer = timers.set(due, lambda at, index=index: fired.append(index) or [])
        if cancelled:
            timers.cancel(timer)
    for act in timers.due(now):
        act(now)
    live = [(due, index) for index, (due, cancelled) in enumerate(plan) if not cancelled]
    assert fired == [index for due, index in sorted(live) if due <= now]
    assert list(timers.due(now)) == []
    assert timers.deadline == min((due for due, _ in live if due > now), default=None)


def test_cancelling_what_has_fired_is_fine() -> None:
    timers = Timers()
    timer = timers.set(1, lambda now: [])
    assert len(list(timers.due(1))) == 1
    timers.cancel(timer)
    assert timers.deadline is None


def test_what_is_due_with_it_can_still_be_cancelled() -> None:
    """A connection that is closed in the step in which it would have dialed does not dial."""
    timers, fired = Timers(), []
    timers.set(1, lambda now: timers.cancel(second) or fired.append("first") or [])
    second = timers.set(2, lambda now: fired.append("second") or [])
    timers.set(2, lambda now: fired.append(timers.set(2, lambda _: [])) or [])
    for act in timers.due(2):
        act(2)
    assert fired == ["first", 4]
    assert timers.deadline == 2


def test_a_deadline_that_moves_is_met_once() -> None:
    timers, met = Timers(), []
    deadline = DeadlineTimer(timers, lambda now: met.append(now) or [])
    for due in (5, 3, None, 4, 4):
        deadline.set(due)
    assert timers.deadline == 4
    for now in (3, 4, 5):
        for act in timers.due(now):
            act(now)
    assert met == [4]
    deadline.set(4)
    assert timers.deadline == 4, "the same deadline may be set again once it was met"
