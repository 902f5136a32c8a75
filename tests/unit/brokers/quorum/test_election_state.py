"""The file that a vote lies in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.quorum.control_records import MetadataLogError
from brokers.quorum.election_state import ElectionState
from brokers.quorum.ids import ReplicaKey


@given(
    st.builds(
        ElectionState,
        leader_id=st.integers(-1, 9),
        leader_epoch=st.integers(0, 2**31 - 1),
        voted_id=st.integers(-1, 9),
        voted_directory=st.uuids(),
    )
)
def test_the_file_is_kafkas_and_survives(state: ElectionState) -> None:
    assert ElectionState.decode(state.encode()) == state
    fields = json.loads(state.encode())
    assert list(fields) == [
        "leaderId",
        "leaderEpoch",
        "votedId",
        "votedDirectoryId",
        "data_version",
    ]
    assert len(fields["votedDirectoryId"]) == 22
    expected = None if state.voted_id < 0 else ReplicaKey(state.voted_id, state.voted_directory)
    assert state.voted == expected


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
        ElectionState.decode(data)
