"""Whatever anyone sends, in whatever role a member is: it is answered, and the member goes on."""

import sys
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.api.quorum_requests import FETCH_METADATA, FOR_NODES
from brokers.effects import Reply
from brokers.ids import METADATA_PARTITION
from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.ids import METADATA_TOPIC_ID
from brokers.wire import codec
from brokers.wire.messages import fetch, quorum, quorum_snapshots, quorum_voters
from brokers.wire.messages.api_keys import ApiKey
from tests.quick import examples
from tests.unit.brokers.quorum.quorums import Member, directory, log

VERSIONS = {each.KEY: each.VERSIONS for each in (FETCH_METADATA, *FOR_NODES)}
numbers = st.sampled_from([-(2**31), -1, 0, 1, 2, 3, 5, 9, 10, 11, 2**31 - 1])
ids = st.sampled_from([-1, 1, 2, 3, 9])
directories = st.sampled_from([UUID(int=0), directory(1), directory(2), UUID(int=5)])
topics = st.sampled_from([METADATA_PARTITION.topic, "t"])
clusters = st.sampled_from([None, "region-one", "another"])


def many(strategy: Any) -> Any:
    """Mostly the one that there should be."""
    return st.one_of(strategy.map(lambda one: [one]), st.lists(strategy, max_size=2))


def about(
    kind: Any, of_request: dict[str, Any], of_topic: dict[str, Any], **of_partition: Any
) -> Any:
    """Requests of a kind about partitions of topics; the classes of both go by the name of the request."""
    module, name = sys.modules[kind.__module__], kind.__name__
    topic, partition = (getattr(module, f"{name}{part}") for part in ("Topic", "Partition"))
    partitions = many(st.builds(partition, **of_partition))
    return st.builds(
        kind, topics=many(st.builds(topic, partitions=partitions, **of_topic)), **of_request
    )


votes = about(
    quorum.VoteRequest,
    {"cluster_id": clusters, "voter_id": ids},
    {"topic_name": topics},
    partition_index=st.sampled_from([0, 0, 1]),
    replica_epoch=numbers,
    replica_id=ids,
    replica_directory_id=directories,
    voter_directory_id=directories,
    last_offset_epoch=numbers,
    last_offset=numbers,
    pre_vote=st.booleans(),
)
listeners = st.lists(
    st.builds(
        quorum.LeaderEndpoint, name=st.just("X"), host=st.just("h"), port=st.sampled_from([0, 9])
    ),
    max_size=2,
)
begins = about(
    quorum.BeginQuorumEpochRequest,
    {"cluster_id": clusters, "voter_id": ids, "leader_endpoints": listeners},
    {"topic_name": topics},
    voter_directory_id=directories,
    leader_id=ids,
    leader_epoch=numbers,
)
ends = about(
    quorum.EndQuorumEpochRequest,
    {"cluster_id": clusters},
    {"topic_name": topics},
    leader_id=ids,
    leader_epoch=numbers,
    preferred_successors=st.lists(ids, max_size=3),
)
fetches = st.builds(
    fetch.FetchRequest,
    cluster_id=clusters,
    replica_state=st.none() | st.builds(fetch.ReplicaState, replica_id=ids),
    max_wait_ms=numbers,
    max_bytes=numbers,
    session_epoch=st.sampled_from([-1, -1, 0, 3]),
    topics=many(
        st.builds(
            fetch.FetchTopic,
            topic_id=st.sampled_from([METADATA_TOPIC_ID, UUID(int=7)]),
            partitions=many(
                st.builds(
                    fetch.FetchPartition,
                    partition=st.sampled_from([0, 0, 1]),
                    current_leader_epoch=numbers,
                    fetch_offset=numbers,
                    last_fetched_epoch=numbers,
                    partition_max_bytes=numbers,
                    replica_directory_id=directories,
                    high_watermark=numbers,
                )
            ),
        )
    ),
)
snapshots = about(
    quorum_snapshots.FetchSnapshotRequest,
    {"cluster_id": clusters, "replica_id": ids, "max_bytes": numbers},
    {"name": topics},
    current_leader_epoch=numbers,
    snapshot_id=st.builds(quorum_snapshots.SnapshotId, end_offset=numbers, epoch=numbers),
    position=numbers,
)
places = st.lists(
    st.builds(quorum_voters.VoterListener, name=st.just("X"), host=st.just("h"), port=st.just(1)),
    max_size=2,
)
adds = st.builds(
    quorum_voters.AddRaftVoterRequest,
    cluster_id=clusters,
    timeout_ms=numbers,
    voter_id=ids,
    voter_directory_id=directories,
    listeners=places,
    ack_when_committed=st.booleans(),
)
removals = st.builds(
    quorum_voters.RemoveRaftVoterRequest,
    cluster_id=clusters,
    voter_id=ids,
    voter_directory_id=directories,
)
updates = st.builds(
    quorum_voters.UpdateRaftVoterRequest,
    cluster_id=clusters,
    current_leader_epoch=numbers,
    voter_id=ids,
    voter_directory_id=directories,
    listeners=places,
    kraft_version_feature=st.builds(
        quorum_voters.KRaftVersionFeature,
        min_supported_version=st.integers(-1, 2),
        max_supported_version=st.integers(-1, 2),
    ),
)
descriptions = about(
    quorum.DescribeQuorumRequest, {}, {"topic_name": topics}, partition_index=numbers
)
requests = st.one_of(
    st.tuples(st.just(ApiKey.VOTE), votes),
    st.tuples(st.just(ApiKey.BEGIN_QUORUM_EPOCH), begins),
    st.tuples(st.just(ApiKey.END_QUORUM_EPOCH), ends),
    st.tuples(st.just(ApiKey.FETCH), fetches),
    st.tuples(st.just(ApiKey.FETCH_SNAPSHOT), snapshots),
    st.tuples(st.just(ApiKey.ADD_RAFT_VOTER), adds),
    st.tuples(st.just(ApiKey.REMOVE_RAFT_VOTER), removals),
    st.tuples(st.just(ApiKey.UPDATE_RAFT_VOTER), updates),
    st.tuples(st.just(ApiKey.DESCRIBE_QUORUM), descriptions),
)


def leader() -> Member:
    member = Member(of=log((1, 0), (2, 5), end=10)).elect()
    member.sync()
    member.fetch(11, 3)
    return member


def follower() -> Member:
    member = Member(of=log((1, 0), (2, 5), end=10))
    member.hear_begin(3)
    member.save()
    return member


MEMBERS = {
    "lone": lambda: Member(voters=1),
    "unattached": lambda: Member(of=log((1, 0), end=10)),
    "leader": leader,
    "follower": follower,
    "observer": lambda: Member(node_id=9, may_vote=False),
}


@pytest.mark.parametrize("role", MEMBERS)
@given(asked=st.lists(requests, min_size=1, max_size=4), late=st.booleans())
@examples(150)
def test_every_request_is_answered_in_its_time(
    role: str, asked: list[tuple[int, object]], late: bool
) -> None:
    member = MEMBERS[role]()
    before = sum(isinstance(each, Reply) for each in member.effects)
    epoch = member.raft.leader_epoch
    versions: dict[int, tuple[int, int]] = {}
    for key, message in asked:
        first, last = VERSIONS[key]
        versions[member.next_ticket] = key, first + (last - first) * late
        member.request(key, message, versions[member.next_ticket][1])
        assert member.raft.leader_epoch >= epoch
        led_by = member.raft.leader
        own_id = 9 if role == "observer" else 1
        assert led_by is None or led_by.node_id != own_id or member.raft.leading_epoch is not None
        epoch = member.raft.leader_epoch
    for _ in range(20):
        member.save_all()
        member.wait(40_000)
    answers = [each for each in member.effects if isinstance(each, Reply)][before:]
    for each in answers:
        codec.encode_response(*versions[each.ticket], each.message)
    replies = [each.ticket for each in answers]
    reads = sum(type(each).__name__ in ("ReadRange", "LoadState") for each in member.effects)
    assert len(set(replies)) == len(replies), "nobody is answered twice"
    assert len(replies) + reads >= len(asked)


responses = st.one_of(
    st.none(),
    st.builds(
        fetch.FetchResponse,
        error_code=st.sampled_from([0, 0, 104]),
        responses=many(
            st.builds(
                fetch.FetchableTopicResponse,
                topic_id=st.just(METADATA_TOPIC_ID),
                partitions=many(
                    st.builds(
                        fetch.PartitionData,
                        error_code=st.sampled_from([0, 0, 0, 6, 74, 75, 999]),
                        high_watermark=numbers,
                        diverging_epoch=st.none()
                        | st.builds(fetch.EpochEndOffset, epoch=numbers, end_offset=numbers),
                        current_leader=st.none()
                        | st.builds(fetch.LeaderIdAndEpoch, leader_id=ids, leader_epoch=numbers),
                        snapshot_id=st.none()
                        | st.builds(fetch.SnapshotId, end_offset=numbers, epoch=numbers),
                        records=st.sampled_from([None, b"", b"x" * 80]),
                    )
                ),
            )
        ),
    ),
)


@given(st.lists(responses, min_size=1, max_size=5))
@examples(400)
def test_a_leader_that_talks_nonsense_is_not_followed_into_it(answers: list[object]) -> None:
    """It may be that the node must stop: it says so, and has cut nothing that is committed."""
    member = follower()
    for answer in answers:
        committed = member.raft.high_watermark
        asks = member.asked(ApiKey.FETCH)
        try:
            member.answer(asks[-1], answer)
            member.save_all()
            member.wait(20)
        except MetadataLogError:
            return
        if member.raft.log is None:
            member.take(member.raft.on_opened(log((1, 0), end=3), member.now))
        assert member.raft.high_watermark >= committed
