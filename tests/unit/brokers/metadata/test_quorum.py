"""Votes, epochs and what is committed: for one voter, and already for more."""

import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.batches import LEADER_CHANGE, read_batches
from brokers.metadata.quorum import NOBODY, Quorum, QuorumState, Role
from brokers.metadata.records import MetadataLogError

DIRECTORY = UUID(int=77)


def leader(epoch_start: int = 10) -> Quorum:
    quorum = Quorum(1, DIRECTORY, voters=(1,))
    quorum.campaign(QuorumState(leader_epoch=4), 2)
    quorum.lead(epoch_start)
    return quorum


@given(
    st.builds(
        QuorumState,
        leader_id=st.integers(-1, 9),
        leader_epoch=st.integers(0, 2**31 - 1),
        voted_id=st.integers(-1, 9),
        voted_directory=st.uuids(),
    )
)
def test_the_file_is_kafkas_and_survives(state: QuorumState) -> None:
    assert QuorumState.decode(state.encode()) == state
    fields = json.loads(state.encode())
    assert list(fields) == [
        "leaderId",
        "leaderEpoch",
        "votedId",
        "votedDirectoryId",
        "data_version",
    ]
    assert len(fields["votedDirectoryId"]) == 22


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"null",
        b'{"leaderId":1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"AAAA","data_version":1}',
        b'{"leaderId":1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":7,"data_version":1}',
        b'{"leaderId":"1","leaderEpoch":2,"votedId":1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
        b'{"leaderId":1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":9}',
    ],
)
def test_a_file_that_is_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(MetadataLogError):
        QuorumState.decode(data)


@pytest.mark.parametrize(("stored", "in_log", "epoch"), [(0, -1, 1), (4, 2, 5), (2, 6, 7)])
def test_a_campaign_is_above_every_epoch_that_was_ever_seen(
    stored: int, in_log: int, epoch: int
) -> None:
    quorum = Quorum(1, DIRECTORY, voters=(1,))
    state = quorum.campaign(QuorumState(leader_epoch=stored), in_log)
    assert state == QuorumState(1, epoch, 1, DIRECTORY)
    assert quorum.role is Role.CANDIDATE
    quorum.resign()
    assert quorum.campaign(QuorumState(), -1).leader_epoch == epoch + 1


def test_one_vote_of_three_elects_nobody() -> None:
    quorum = Quorum(1, DIRECTORY, voters=(1, 2, 3))
    assert quorum.campaign(QuorumState(), -1).leader_id == NOBODY


def test_an_epoch_begins_with_its_leader_change() -> None:
    quorum = leader()
    ((header, kind),) = read_batches(quorum.leader_change(5))
    assert (header.base_offset, header.leader_epoch, kind) == (10, 5, LEADER_CHANGE)
    assert quorum.role is Role.LEADER


def test_nothing_is_committed_before_the_epochs_first_record() -> None:
    quorum = leader(epoch_start=10)
    quorum.flushed(1, 10)
    assert quorum.high_watermark == 0
    quorum.flushed(1, 11)
    assert quorum.high_watermark == 11
    quorum.flushed(1, 5)
    assert quorum.high_watermark == 11


def test_a_majority_commits() -> None:
    quorum = Quorum(1, DIRECTORY, voters=(1, 2, 3, 4, 5))
    quorum.role, quorum._flushed = Role.LEADER, dict.fromkeys(quorum.voters, 0)
    for voter, offset, committed in ((1, 9, 0), (2, 7, 0), (3, 8, 7), (4, 9, 8), (2, 9, 9)):
        quorum.flushed(voter, offset)
        assert quorum.high_watermark == committed


def test_who_does_not_lead_commits_nothing() -> None:
    quorum = leader()
    quorum.resign()
    quorum.flushed(1, 50)
    assert quorum.high_watermark == 0
