"""Logs are opened and closed a slice at a time, in order, and none that is not wanted any more."""

import asyncio
from collections.abc import Callable

from brokers.effects import CloseLog, ConfigureLog, OpenLog
from brokers.ids import TopicPartition
from brokers.shell.backlog import SLICE_S, Backlog, LogEffect


def opening(number: int) -> OpenLog:
    return OpenLog(TopicPartition("t", number), bytes(16))


def closing(number: int) -> CloseLog:
    return CloseLog(TopicPartition("t", number), delete=True)


class Loop(asyncio.SelectorEventLoop):
    """Its time passes only when a test says so."""

    now = 0.0

    def time(self) -> float:
        return self.now


def with_backlog(
    act: Callable[[Backlog, Loop, list[LogEffect]], None], *, takes_s: float = 0.0
) -> list[LogEffect]:
    loop, done = Loop(), list[LogEffect]()

    def perform(effect: LogEffect) -> None:
        loop.now += takes_s
        done.append(effect)

    act(Backlog(perform, loop), loop, done)
    loop.close()
    return done


def turn(loop: Loop) -> None:
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_what_takes_long_leaves_the_loop_to_others_in_between() -> None:
    done_after: list[int] = []

    def act(backlog: Backlog, loop: Loop, done: list[LogEffect]) -> None:
        for number in range(10):
            backlog.put(opening(number))
        while len(done) < 10:
            turn(loop)
            done_after.append(len(done))

    done = with_backlog(act, takes_s=SLICE_S / 4)
    assert done == [opening(number) for number in range(10)]
    assert done_after == [4, 8, 10]


def test_a_log_that_is_closed_before_its_turn_is_not_opened() -> None:
    def act(backlog: Backlog, loop: Loop, done: list[LogEffect]) -> None:
        for effect in (opening(1), opening(2), closing(1), opening(1)):
            backlog.put(effect)
        turn(loop)

    assert with_backlog(act) == [opening(2), closing(1), opening(1)]


def test_a_setting_of_a_log_that_is_opened_later_is_changed_after_that() -> None:
    setting = ConfigureLog(TopicPartition("t", 1), 5)

    def act(backlog: Backlog, loop: Loop, done: list[LogEffect]) -> None:
        backlog.put(opening(1))
        backlog.put(setting)
        turn(loop)

    assert with_backlog(act) == [opening(1), setting]


def test_at_the_end_what_is_to_go_goes_and_nothing_is_opened() -> None:
    def act(backlog: Backlog, loop: Loop, done: list[LogEffect]) -> None:
        for effect in (opening(1), closing(2), opening(3), closing(4)):
            backlog.put(effect)
        backlog.end()
        turn(loop)

    assert with_backlog(act) == [closing(2), closing(4)]
