"""Changes of the voters that a leader refuses, as they come over the wire."""

from typing import Any
from uuid import UUID

from brokers.effects import Reply
from brokers.errors import KafkaError
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum_voters import (
    AddRaftVoterRequest,
    KRaftVersionFeature,
    UpdateRaftVoterRequest,
    VoterListener,
)
from tests.unit.brokers.quorum.quorums import Member, appended, directory, log

HERE = VoterListener(name="CONTROLLER", host="elsewhere", port=9093)


def leader() -> Member:
    """Of three voters whose disks are on record."""
    member = Member(of=log((1, 0), end=10)).elect()
    for _ in range(2):
        member.sync()
        assert member.raft.log is not None
        for replica in (2, 3):
            member.fetch(member.raft.log.log_end_offset, member.raft.leader_epoch, replica=replica)
    assert member.raft.voters.kraft_version == 1
    assert member.raft.voters.latest_offset < member.raft.high_watermark
    return member


def error_of(effects: list[Any]) -> int:
    (reply,) = [each for each in effects if isinstance(each, Reply)]
    return reply.message.error_code


def update(member: Member, listeners: list[VoterListener]) -> list[Any]:
    request = UpdateRaftVoterRequest(
        cluster_id="region-one",
        current_leader_epoch=member.raft.leader_epoch,
        voter_id=2,
        voter_directory_id=directory(2),
        listeners=listeners,
        kraft_version_feature=KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
    )
    return member.request(ApiKey.UPDATE_RAFT_VOTER, request)


def add(member: Member, disk: UUID) -> list[Any]:
    request = AddRaftVoterRequest(
        cluster_id="region-one",
        timeout_ms=600_000,
        voter_id=9,
        voter_directory_id=disk,
        listeners=[HERE],
    )
    return member.request(ApiKey.ADD_RAFT_VOTER, request)


def test_a_voter_may_move_but_not_be_nowhere() -> None:
    member = leader()
    before = member.raft.voters.latest
    effects = update(member, [])
    assert error_of(effects) == KafkaError.INVALID_REQUEST and appended(effects) == []
    assert member.raft.voters.latest == before
    assert appended(update(member, [HERE])) != []


def test_a_new_voter_without_a_disk_of_its_own_is_refused_and_holds_up_nobody() -> None:
    """It would be waited for: whoever is added later is told that another change is under way."""
    member = leader()
    assert error_of(add(member, UUID(int=0))) == KafkaError.INVALID_REQUEST
    assert [each for each in add(member, directory(9)) if isinstance(each, Reply)] == []
