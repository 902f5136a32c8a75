"""Where the leader is, for those who ask somebody else: in the versions that have a place for it."""

import pytest

from brokers.effects import Reply
from brokers.quorum.messages import BEGIN_EPOCH, END_EPOCH, FETCH, FETCH_SNAPSHOT, TOPIC, VOTE
from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages import fetch, quorum, quorum_snapshots
from tests.unit.brokers.quorum.quorums import Member

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
