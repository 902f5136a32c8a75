"""The end of an epoch: who is to lead next, as the others hear it over the wire."""

from uuid import UUID

import pytest

from brokers.quorum.messages import TOPIC, VERSIONS
from brokers.wire import codec
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.quorum import (
    EndQuorumEpochRequest,
    EndQuorumEpochRequestPartition,
    EndQuorumEpochRequestTopic,
    ReplicaInfo,
)
from tests.unit.brokers.quorum.quorums import NOW, Member, directory, log


def over_the_wire(message: EndQuorumEpochRequest, version: int) -> EndQuorumEpochRequest:
    """As the one who is told reads it: a version has no place for the fields of another."""
    frame = b"".join(map(bytes, codec.encode_request(ApiKey.END_QUORUM_EPOCH, version, message)))
    read = codec.decode_request(ApiKey.END_QUORUM_EPOCH, version, frame, 0)
    assert isinstance(read, EndQuorumEpochRequest)
    return read


def end(*heirs: tuple[int, UUID]) -> EndQuorumEpochRequest:
    partition = EndQuorumEpochRequestPartition(
        leader_id=2,
        leader_epoch=3,
        preferred_successors=[heir for heir, _ in heirs],
        preferred_candidates=[
            ReplicaInfo(candidate_id=heir, candidate_directory_id=disk) for heir, disk in heirs
        ],
    )
    topics = [EndQuorumEpochRequestTopic(topic_name=TOPIC, partitions=[partition])]
    return EndQuorumEpochRequest(cluster_id="region-one", topics=topics)


def waits(message: EndQuorumEpochRequest, version: int) -> int:
    """How long member 1 waits before it stands, once the leader it follows has said this."""
    member = Member()
    member.hear_begin(3)
    member.save()
    member.request(ApiKey.END_QUORUM_EPOCH, over_the_wire(message, version), version)
    assert member.raft.leader is None and member.raft.deadline is not None
    return member.raft.deadline - NOW


OTHER = (3, directory(3))


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("disk", [UUID(int=0), directory(1)])
def test_the_first_heir_stands_at_once_and_the_second_a_moment_later(
    version: int, disk: UUID
) -> None:
    assert waits(end((1, disk), OTHER), version) == 0
    assert waits(end(OTHER, (1, disk)), version) == 50


def test_an_heir_that_had_this_id_and_another_disk_is_somebody_else() -> None:
    assert waits(end((1, directory(7)), OTHER), 1) > 50


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize("is_heir", [True, False])
def test_nobody_waits_for_more_heirs_than_an_election_takes(version: int, is_heir: bool) -> None:
    heirs = [OTHER] * 10_000 + [(1, directory(1))] * is_heir
    assert waits(end(*heirs), version) <= 1_000 + 50


def test_a_leader_that_leaves_names_those_first_that_hold_the_most() -> None:
    leader = Member(of=log((1, 0), end=10)).elect()
    leader.sync()
    leader.fetch(9, 1, replica=2)
    leader.fetch(11, 2, replica=3)
    (ask, _) = leader.asked(ApiKey.END_QUORUM_EPOCH, leader.take(leader.raft.leave(leader.now)))
    assert ask.api_version == VERSIONS[ApiKey.END_QUORUM_EPOCH]
    heard = over_the_wire(ask.message, ask.api_version).topics[0].partitions[0]
    assert [each.candidate_id for each in heard.preferred_candidates] == [3, 2]
