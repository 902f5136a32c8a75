"""The tables are total and agree with the drawing above them."""

import re

import pytest

from brokers.errors import KafkaError
from brokers.groups import states
from brokers.groups.states import ANSWERS, NEXT, Question, State


def test_every_state_says_where_it_may_lead() -> None:
    assert set(NEXT) == set(State)
    assert all(set(reachable) <= set(State) for reachable in NEXT.values())


@pytest.mark.parametrize("question", Question)
def test_every_state_answers_every_question(question: Question) -> None:
    assert set(ANSWERS[question]) == set(State)


def test_a_dead_group_stays_dead_and_everyone_else_can_die() -> None:
    assert NEXT[State.DEAD] == ()
    assert all(State.DEAD in NEXT[state] for state in State if state is not State.DEAD)


def test_dead_groups_send_everybody_to_look_for_the_coordinator() -> None:
    assert {answers[State.DEAD] for answers in ANSWERS.values()} == {
        KafkaError.COORDINATOR_NOT_AVAILABLE
    }


def test_the_drawing_names_every_state() -> None:
    drawn = set(re.findall(r"[A-Z][A-Za-z]+", states.__doc__ or ""))
    assert {state.value for state in State} <= drawn
