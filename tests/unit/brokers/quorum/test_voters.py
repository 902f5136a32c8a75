"""Who votes, as of each offset."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from brokers.ids import Peer
from brokers.quorum.control_records import control_batch, control_messages
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.voters import (
    QuorumEndpoint,
    Voter,
    VoterSet,
    VoterSetHistory,
    voters_of,
    with_directories,
)

WHERE = QuorumEndpoint("CONTROLLER", "here", 9093)
voters = st.builds(
    Voter,
    st.integers(0, 9),
    st.uuids(),
    st.lists(
        st.builds(QuorumEndpoint, st.text(max_size=5), st.text(max_size=5), st.integers(0, 65_535)),
        max_size=2,
    ).map(tuple),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)


def of(*ids: int) -> VoterSet:
    return VoterSet(Voter(each, UUID(int=each + 100)) for each in ids)


@given(st.lists(voters, max_size=5).map(VoterSet))
def test_a_set_survives_its_record(voted: VoterSet) -> None:
    batch = control_batch([voted.record()], base_offset=3, leader_epoch=2, now=5)
    (record,) = control_messages(batch)
    assert voters_of(record) == voted


def test_a_majority_has_a_member_in_common_with_every_other() -> None:
    assert [of(*range(size)).majority for size in range(1, 7)] == [1, 2, 2, 3, 3, 4]


def test_a_voter_is_known_by_its_disk_once_that_is_known() -> None:
    known, unknown = Voter(1, UUID(int=7)), Voter(1)
    assert known.matches(ReplicaKey(1, UUID(int=7)))
    assert not known.matches(ReplicaKey(1, UUID(int=8)))
    assert not known.matches(ReplicaKey(1)), "a disk that is not told may be any"
    assert unknown.matches(ReplicaKey(1, UUID(int=8))) and not unknown.matches(ReplicaKey(2))


def test_sets_change_one_member_at_a_time() -> None:
    one = of(1, 2)
    assert one.with_voter(Voter(3, UUID(int=103))) == of(1, 2, 3)
    assert one.without(1) == of(2) and one.ids == (1, 2)
    moved = one.with_voter(Voter(2, UUID(int=102), (WHERE,)))
    assert moved.get(2).peer == Peer(2, "here", 9093) and moved.get(1).peer is None
    assert moved.get(9) is None and len(moved) == 2


def test_a_set_is_in_force_from_its_record_until_that_is_cut_off() -> None:
    history = VoterSetHistory(of(1))
    assert history.kraft_version == 0 and history.as_of(100) is None
    history.add_records(10, [of(1, 2).record()])
    history.add_at(20, of(1, 2, 3))
    assert history.latest == of(1, 2, 3) and history.latest_offset == 20
    assert [history.as_of(offset) for offset in (10, 11, 20, 21)] == [
        None,
        of(1, 2),
        of(1, 2),
        of(1, 2, 3),
    ]
    assert history.possible(10) == [of(1), of(1, 2), of(1, 2, 3)]
    assert history.possible(21) == [of(1, 2, 3)]
    history.truncate_new_entries(20)
    assert history.latest == of(1, 2) and history.kraft_version == 1
    history.truncate_new_entries(0)
    assert history.latest == of(1) and history.kraft_version == 0


def test_what_a_snapshot_holds_need_not_be_remembered_by_offset() -> None:
    history = VoterSetHistory(of(1))
    history.add_at(10, of(1, 2))
    history.add_at(20, of(1, 2, 3))
    history.truncate_old_entries(15)
    assert history.as_of(15) == of(1, 2) and history.latest == of(1, 2, 3)
    history.truncate_new_entries(0)
    assert history.latest == of(1, 2) and history.kraft_version == 1


def test_a_snapshot_says_who_votes_or_that_nothing_was_said() -> None:
    history = VoterSetHistory(of(1))
    history.add_at(10, of(1, 2))
    history.restore(of(4, 5))
    assert history.latest == of(4, 5) and history.kraft_version == 1
    other = VoterSetHistory(of(1))
    other.add_at(10, of(1, 2))
    other.restore(None)
    assert other.latest == of(1) and other.kraft_version == 0


def test_directories_are_all_known_or_the_set_is_not() -> None:
    configured = VoterSet([Voter(1), Voter(2)])
    seen = {1: UUID(int=101), 2: UUID(int=102)}
    assert with_directories(configured, seen) == of(1, 2)
    assert with_directories(configured, {1: UUID(int=101)}) is None
    assert with_directories(configured, seen | {2: NO_DIRECTORY}) is None
