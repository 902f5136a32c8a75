"""Requests are given up when their clients' time is up, and those that were answered cost next to nothing."""

from brokers.effects import Effect
from brokers.purgatory import Purgatory
from brokers.timers import Timers

NOW = 1_000


class Waiting:
    """A request; `given_up` is when."""

    def __init__(self) -> None:
        self.is_done = False
        self.given_up: int | None = None

    def expire(self, now: int) -> list[Effect]:
        self.is_done, self.given_up = True, now
        return []


def reach(timers: Timers, end: int) -> None:
    while timers.deadline is not None and timers.deadline <= end:
        now = timers.deadline
        for act in timers.due(now):
            act(now)


def test_each_is_given_up_when_its_time_is_up() -> None:
    timers = Timers()
    expiry = Purgatory(timers)
    requests = [Waiting() for _ in range(3)]
    for number, request in enumerate(requests):
        expiry.put(request, 500, NOW + 100 * number)
    slow = Waiting()
    expiry.put(slow, 5_000, NOW)
    requests[1].is_done = True
    reach(timers, NOW + 10_000)
    assert [request.given_up for request in requests] == [1_500, None, 1_700]
    assert slow.given_up == NOW + 5_000
    assert timers.deadline is None


def test_those_that_were_answered_do_not_pile_up() -> None:
    timers = Timers()
    expiry = Purgatory(timers)
    for number in range(1_000):
        request = Waiting()
        expiry.put(request, 30_000, NOW + number)
        request.is_done = True
    assert sum(map(len, expiry._queues.values())) == 1
    reach(timers, NOW + 31_000)
    assert expiry._queues == {}
