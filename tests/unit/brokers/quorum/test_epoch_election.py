"""Counting votes."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.voters import Voter, VoterSet


def ballot(size: int) -> EpochElection:
    return EpochElection(VoterSet(Voter(each) for each in range(1, size + 1)), leader_epoch=3)


def test_a_majority_wins_and_so_many_against_lose() -> None:
    votes = ballot(3)
    votes.count(1, granted=True)
    assert not votes.is_won and not votes.is_lost
    votes.count(2, granted=False)
    assert not votes.is_lost
    votes.count(3, granted=True)
    assert votes.is_won and votes.granting == (1, 3)


def test_a_voter_counts_once_and_others_not_at_all() -> None:
    votes = ballot(3)
    for _ in range(3):
        votes.count(2, granted=True)
        votes.count(9, granted=True)
    votes.count(2, granted=False)
    assert not votes.is_won and votes.granting == (2,)
    assert votes.has_answered(2) and not votes.has_answered(1)


@given(st.integers(1, 7), st.lists(st.tuples(st.integers(1, 7), st.booleans()), max_size=12))
def test_it_is_never_both(size: int, counted: list[tuple[int, bool]]) -> None:
    votes = ballot(size)
    for voter, granted in counted:
        votes.count(voter, granted=granted)
    assert not (votes.is_won and votes.is_lost)
