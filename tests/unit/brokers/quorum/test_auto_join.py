"""What a controller makes of the answers to what it asks for."""

import random

import pytest

from brokers.effects import Ask, Changed
from brokers.errors import KafkaError
from brokers.events import Answered
from brokers.quorum.auto_join import EVERY_MS, AutoJoin
from brokers.quorum.config import QuorumConfig
from brokers.quorum.election_state import ElectionState
from brokers.quorum.ids import SnapshotId
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voters import QuorumEndpoint, VoterSetHistory
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum_voters import AddRaftVoterResponse
from tests.unit.brokers.quorum.quorums import NOW, directory, log, voter_set


def applicant(*, joins: bool = False) -> tuple[AutoJoin, Ask]:
    """A controller that the settings name or tell to join, which is not among the voters, and its question."""
    config = QuorumConfig(
        node_id=3,
        cluster_id="region-one",
        voters=voter_set() if joins else voter_set(1, 2, 3),
        joins=joins,
        directory=directory(3),
        endpoints=(QuorumEndpoint("CONTROLLER", "host-3", 9093),),
    )
    voters = VoterSetHistory(config.voters)
    voters.restore(voter_set(1, 2))
    member = QuorumState(
        config,
        random.Random(1),
        log=log(),
        election_state=ElectionState(),
        voters=voters,
        snapshot=SnapshotId(0, 0),
    )
    peer = member.peer(1)
    assert peer is not None
    member.become_follower(peer, 1, NOW)
    member.state.has_fetched = True
    joining = AutoJoin(member, was_voter=False)
    (ask,) = joining.settle(NOW)
    assert isinstance(ask, Ask) and ask.api_key == ApiKey.ADD_RAFT_VOTER
    return joining, ask


@pytest.mark.parametrize(
    ("code", "why"), [(7, KafkaError(7).name), (32_000, KafkaError.UNKNOWN_SERVER_ERROR.name)]
)
def test_a_refusal_without_words_is_told_whatever_its_code(code: int, why: str) -> None:
    """A leader of a later release may have more error codes."""
    joining, ask = applicant()
    message = AddRaftVoterResponse(error_code=code, error_message=None)
    effects = joining.on_answer(Answered(ask.ticket, message), NOW)
    assert effects == [Changed("quorum member", "not a voter yet", why)]


def test_one_that_is_a_voter_already_waits_for_the_record_and_does_not_ask_on_and_on() -> None:
    """Its disk may be busy for a while, and it fetches nothing until what it has is on it."""
    joining, ask = applicant()
    answer = AddRaftVoterResponse(error_code=KafkaError.DUPLICATE_VOTER)
    assert joining.on_answer(Answered(ask.ticket, answer), NOW + 1) == []
    assert joining.settle(NOW + 1) == [] and joining.deadline == NOW + EVERY_MS
    assert len(joining.settle(NOW + EVERY_MS)) == 1


def test_one_that_is_told_to_join_need_not_be_named_as_a_voter() -> None:
    _, ask = applicant(joins=True)
    assert (ask.message.voter_id, ask.message.voter_directory_id) == (3, directory(3))
