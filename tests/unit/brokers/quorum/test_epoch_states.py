"""Kafka's words for what a member is."""

import pytest

from brokers.ids import Peer
from brokers.quorum.epoch_states import (
    EpochState,
    FollowerState,
    LeaderState,
    ResignedState,
    UnattachedState,
    state_name,
)

FOLLOWER = FollowerState(Peer(1, "here", 1), until=0)


@pytest.mark.parametrize(
    ("state", "is_voter", "name"),
    [
        (FOLLOWER, True, "follower"),
        (FOLLOWER, False, "observer"),
        (LeaderState(1, 0, 0, 0), True, "leader"),
        (UnattachedState(0), False, "unattached"),
        (ResignedState(0), True, "resigned"),
    ],
)
def test_a_role_has_its_name(state: EpochState, is_voter: bool, name: str) -> None:
    assert state_name(state, is_voter=is_voter) == name
