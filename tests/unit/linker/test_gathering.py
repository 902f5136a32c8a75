"""What is proposed together, and when."""

from collections.abc import Callable, Hashable
from typing import Any

from brokers.timers import Act, Timers
from linker.gathering import GATHER_MS, TOGETHER_MAX, Gathering


class Proposals:
    """`made` are those so far; `answer` answers the oldest that is not."""

    def __init__(
        self,
        key: Callable[[int], Hashable] | None = None,
        weight: Callable[[int], int] = lambda _: 1,
    ) -> None:
        self.made: list[list[int]] = []
        self.timers = Timers()
        self.gathering = Gathering(self.timers, self._propose, key, weight)
        self._unanswered: list[Act] = []

    def _propose(self, changes: list[int], answered: Act) -> list[Any]:
        self.made.append(changes)
        self._unanswered.append(answered)
        return []

    def answer(self, now: int) -> None:
        self._unanswered.pop(0)(now)

    def run(self, now: int) -> None:
        for act in self.timers.due(now):
            act(now)

    def ask(self, *changes: int) -> None:
        for change in changes:
            self.gathering.add(change)


def test_what_is_asked_for_while_something_is_under_way_is_proposed_together_once_it_is_answered() -> (
    None
):
    proposals = Proposals()
    proposals.ask(1, 2)
    proposals.run(1_000)
    proposals.ask(3)
    proposals.run(1_000)
    proposals.ask(4)
    assert proposals.made == [[1, 2]]
    proposals.answer(1_010)
    assert proposals.made == [[1, 2], [3, 4]]
    proposals.answer(1_020)
    proposals.ask(5)
    proposals.run(1_020)
    assert proposals.made == [[1, 2], [3, 4], [5]]


def test_an_answer_that_is_late_holds_nothing_up_for_long() -> None:
    proposals = Proposals()
    proposals.ask(1)
    proposals.run(1_000)
    proposals.ask(2)
    proposals.run(1_000 + GATHER_MS - 1)
    assert proposals.made == [[1]]
    proposals.run(1_000 + GATHER_MS)
    assert proposals.made == [[1], [2]]
    proposals.answer(1_200)
    proposals.answer(1_200)
    assert proposals.timers.deadline is None


def test_a_proposal_has_so_many_changes_at_most() -> None:
    proposals = Proposals()
    proposals.ask(*range(TOGETHER_MAX + 1))
    proposals.run(0)
    assert [len(made) for made in proposals.made] == [TOGETHER_MAX, 1]


def test_changes_of_one_key_follow_each_other() -> None:
    proposals = Proposals(key=lambda change: change % 10)
    proposals.ask(1, 11, 2, 21)
    proposals.run(0)
    assert proposals.made == [[1, 2]]
    proposals.answer(1)
    assert proposals.made == [[1, 2], [11]]
    proposals.answer(2)
    assert proposals.made == [[1, 2], [11], [21]]


def test_heavy_changes_are_proposed_fewer_at_once() -> None:
    proposals = Proposals(weight=lambda change: change)
    half = TOGETHER_MAX // 2
    proposals.ask(half, half, 1, 10 * TOGETHER_MAX, 2, 3)
    proposals.run(0)
    assert proposals.made == [[half, half], [1], [10 * TOGETHER_MAX], [2, 3]]
