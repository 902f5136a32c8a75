"""Kafka's words for what a member is."""

import pytest

from brokers.ids import Peer
from brokers.quorum.roles import Follower, Leader, Resigned, Role, Unattached, role_name

FOLLOWER = Follower(Peer(1, "here", 1), until=0)


@pytest.mark.parametrize(
    ("role", "is_voter", "name"),
    [
        (FOLLOWER, True, "follower"),
        (FOLLOWER, False, "observer"),
        (Leader(1, 0, 0, 0), True, "leader"),
        (Unattached(0), False, "unattached"),
        (Resigned(0), True, "resigned"),
    ],
)
def test_a_role_has_its_name(role: Role, is_voter: bool, name: str) -> None:
    assert role_name(role, is_voter=is_voter) == name
