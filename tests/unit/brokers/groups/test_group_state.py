"""The tables are total and agree with the drawing above them."""

import re

import pytest

from brokers.errors import KafkaError
from brokers.groups import group_state
from brokers.groups.group_state import MEMBER_API_ERRORS, VALID_TRANSITIONS, GroupState, MemberApi


def test_every_state_says_where_it_may_lead() -> None:
    assert set(VALID_TRANSITIONS) == set(GroupState)
    assert all(set(reachable) <= set(GroupState) for reachable in VALID_TRANSITIONS.values())


@pytest.mark.parametrize("question", MemberApi)
def test_every_state_answers_every_question(question: MemberApi) -> None:
    assert set(MEMBER_API_ERRORS[question]) == set(GroupState)


def test_a_dead_group_stays_dead_and_everyone_else_can_die() -> None:
    assert VALID_TRANSITIONS[GroupState.DEAD] == ()
    assert all(
        GroupState.DEAD in VALID_TRANSITIONS[state]
        for state in GroupState
        if state is not GroupState.DEAD
    )


def test_dead_groups_send_everybody_to_look_for_the_coordinator() -> None:
    assert {answers[GroupState.DEAD] for answers in MEMBER_API_ERRORS.values()} == {
        KafkaError.COORDINATOR_NOT_AVAILABLE
    }


def test_the_drawing_names_every_state() -> None:
    drawn = set(re.findall(r"[A-Z][A-Za-z]+", group_state.__doc__ or ""))
    assert {state.value for state in GroupState} <= drawn
