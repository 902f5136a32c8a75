"""Where the leader is, for those who ask somebody else: in the versions that have a place for it."""

from uuid import UUID

import pytest

from brokers.effects import Reply
from brokers.quorum.messages import (
    BEGIN_EPOCH,
    DESCRIBE,
    END_EPOCH,
    FETCH,
    FETCH_SNAPSHOT,
    TOPIC,
    VOTE,
)
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages import fetch, quorum, quorum_snapshots
from tests.unit.brokers.quorum.quorums import Member, directory

LONG_AGO = 1  # a leader epoch
ASKED = {
    VOTE: quorum.VoteRequest(
        topics=[
            quorum.VoteRequestTopic(
                topic_name=TOPIC,
                partitions=[quorum.VoteRequestPartition(replica_id=3, replica_epoch=LONG_AGO)],
            )
        ]
    ),
    BEGIN_EPOCH: quorum.BeginQuorumEpochRequest(
        topics=[
            quorum.BeginQuorumEpochRequestTopic(
                topic_name=TOPIC,
                partitions=[
                    quorum.BeginQuorumEpochRequestPartition(leader_id=3, leader_epoch=LONG_AGO)
                ],
            )
        ]
    ),
    END_EPOCH: quorum.EndQuorumEpochRequest(
        topics=[
            quorum.EndQuorumEpochRequestTopic(
                topic_name=TOPIC,
                partitions=[
                    quorum.EndQuorumEpochRequestPartition(leader_id=3, leader_epoch=LONG_AGO)
                ],
            )
        ]
    ),
    FETCH: fetch.FetchRequest(
        topics=[
            fetch.FetchTopic(
                topic=TOPIC, partitions=[fetch.FetchPartition(current_leader_epoch=LONG_AGO)]
            )
        ]
    ),
    FETCH_SNAPSHOT: quorum_snapshots.FetchSnapshotRequest(
        topics=[
            quorum_snapshots.FetchSnapshotRequestTopic(
                name=TOPIC,
                partitions=[
                    quorum_snapshots.FetchSnapshotRequestPartition(current_leader_epoch=LONG_AGO)
                ],
            )
        ]
    ),
}


def answer(key: int, version: int) -> Message:
    """Of a follower of node 2, as who asked reads it."""
    member = Member()
    member.hear_begin(3)
    member.save()
    effects = member.request(key, ASKED[key], version)
    (reply,) = [each for each in effects if isinstance(each, Reply)]
    frame = b"".join(map(bytes, codec.encode_response(key, version, reply.message)))
    return codec.decode_response(key, version, frame, 0)


@pytest.mark.parametrize(
    ("key", "version", "is_told"),
    [
        (VOTE, 0, False),
        (VOTE, 1, True),
        (VOTE, 2, True),
        (BEGIN_EPOCH, 0, False),
        (BEGIN_EPOCH, 1, True),
        (END_EPOCH, 0, False),
        (END_EPOCH, 1, True),
        (FETCH, 12, False),
        (FETCH, 15, False),
        (FETCH, 16, True),
        (FETCH, 18, True),
        (FETCH_SNAPSHOT, 0, False),
        (FETCH_SNAPSHOT, 1, True),
    ],
)
def test_an_old_version_is_answered_without_it(key: int, version: int, is_told: bool) -> None:
    told = [each.node_id for each in answer(key, version).node_endpoints]  # type: ignore[attr-defined]
    assert told == ([2] if is_told else [])


@pytest.mark.parametrize("version", range(3))
def test_the_quorum_is_described_in_every_version_with_disks_where_there_is_a_place(
    version: int,
) -> None:
    member = Member().elect()
    member.sync()
    member.fetch(1, 1, replica=2)
    member.fetch(1, 1, replica=9)
    partitions = [quorum.DescribeQuorumRequestPartition(partition_index=0)]
    topics = [quorum.DescribeQuorumRequestTopic(topic_name=TOPIC, partitions=partitions)]
    request = quorum.DescribeQuorumRequest(topics=topics)
    (reply,) = [
        each for each in member.request(DESCRIBE, request, version) if isinstance(each, Reply)
    ]
    frame = b"".join(map(bytes, codec.encode_response(DESCRIBE, version, reply.message)))
    read = codec.decode_response(DESCRIBE, version, frame, 0)
    (told,) = read.topics[0].partitions  # type: ignore[attr-defined]
    assert [each.log_end_offset for each in told.current_voters] == [1, 1, -1]
    disks = [each.replica_directory_id for each in (*told.current_voters[:2], *told.observers)]
    assert disks == [directory(each) if version >= 2 else UUID(int=0) for each in (1, 2, 9)]
