"""How far others are."""

from uuid import UUID

from brokers.quorum.ids import ReplicaKey
from brokers.quorum.progress_tracker import (
    OBSERVER_FORGOTTEN_MS,
    OBSERVERS_MAX,
    ProgressTracker,
    ReplicaProgress,
)
from brokers.quorum.voters import Voter, VoterSet

NOW = 1_000_000
KNOWN = ReplicaKey(1, UUID(int=7))


def test_what_is_asked_for_is_what_is_there() -> None:
    progresses = ProgressTracker()
    progresses.fetched(KNOWN, 5, 8, NOW)
    assert progresses.get(KNOWN) == ReplicaProgress(5, NOW, -1)
    progresses.fetched(KNOWN, 8, 8, NOW + 1)
    assert progresses.get(KNOWN) == ReplicaProgress(8, NOW + 1, NOW + 1)
    progresses.update_fetch_time(KNOWN, NOW + 2)
    assert progresses.get(KNOWN) == ReplicaProgress(8, NOW + 2, NOW + 1)


def test_a_voter_is_found_by_its_disk_or_by_its_id_as_last_seen() -> None:
    progresses = ProgressTracker()
    progresses.fetched(KNOWN, 5, 8, NOW)
    progresses.fetched(ReplicaKey(1, UUID(int=8)), 2, 8, NOW + 1)
    assert progresses.of(Voter(1, UUID(int=7))).next_offset == 5
    assert progresses.of(Voter(1)).next_offset == 2
    assert progresses.key_of(Voter(1)).directory == UUID(int=8)
    assert progresses.of(Voter(2)) == ReplicaProgress() and progresses.key_of(
        Voter(2)
    ) == ReplicaKey(2)
    observers = progresses.observers(VoterSet([Voter(1, UUID(int=7))]), NOW)
    assert [key for key, _ in observers] == [ReplicaKey(1, UUID(int=8))]


def test_who_has_not_asked_for_long_is_forgotten_and_there_is_a_bound() -> None:
    progresses = ProgressTracker()
    progresses.fetched(KNOWN, 5, 8, NOW)
    assert progresses.observers(VoterSet([]), NOW + OBSERVER_FORGOTTEN_MS) == []
    for node_id in range(OBSERVERS_MAX + 5):
        progresses.fetched(ReplicaKey(node_id), 5, 8, NOW + node_id)
    assert len(progresses.observers(VoterSet([]), NOW)) <= OBSERVERS_MAX


def test_who_only_takes_parts_of_a_snapshot_is_within_the_bound_too() -> None:
    progresses = ProgressTracker()
    for node_id in range(OBSERVERS_MAX + 5):
        progresses.update_fetch_time(ReplicaKey(node_id), NOW + node_id)
    assert len(vars(progresses)["_progress"]) <= OBSERVERS_MAX


def test_how_far_a_voter_came_is_known_however_long_it_is_down() -> None:
    """Whoever describes the quorum is told, and telling it changes nothing."""
    progresses, voters = ProgressTracker(), VoterSet([Voter(1, UUID(int=7))])
    progresses.fetched(KNOWN, 5, 8, NOW)
    progresses.fetched(ReplicaKey(9), 5, 8, NOW)
    assert progresses.observers(voters, NOW + OBSERVER_FORGOTTEN_MS) == []
    assert progresses.get(KNOWN) == ReplicaProgress(5, NOW, -1)
    assert progresses.get(ReplicaKey(9)) is None
