"""How far the others are, as their leader sees it: what a member asks for is what it has."""

from dataclasses import dataclass

from brokers.ids import Instant, Offset
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.voters import Voter, VoterSet

OBSERVERS_MAX = 1_000
OBSERVER_FORGOTTEN_MS = 300_000  # Kafka's
_NOBODY = VoterSet(())


@dataclass(slots=True)
class ReplicaProgress:
    """Of one member: it has everything below `next_offset`. Instants are -1 until it has asked."""

    next_offset: Offset = -1
    fetched_at: Instant = -1
    caught_up_at: Instant = -1


class ProgressTracker:
    """Of all members that ask: voters, observers, and whoever becomes one or the other."""

    def __init__(self) -> None:
        self._of: dict[ReplicaKey, ReplicaProgress] = {}

    def fetched(
        self, key: ReplicaKey, next_offset: Offset, log_end_offset: Offset, now: Instant
    ) -> None:
        """A member asks for what comes after `next_offset`, which is on its disk if it may vote."""
        progress = self._remembered(key, now)
        progress.next_offset, progress.fetched_at = next_offset, now
        if next_offset >= log_end_offset:
            progress.caught_up_at = now

    def touched(self, key: ReplicaKey, now: Instant) -> None:
        """A member asks for a part of a snapshot: it is there, and no further than it was."""
        self._remembered(key, now).fetched_at = now

    def of(self, voter: Voter) -> ReplicaProgress:
        """Where the directory of a voter is not known, the last one seen is taken for it."""
        if voter.directory != NO_DIRECTORY:
            return self._of.get(voter.key, ReplicaProgress())
        seen = (progress for key, progress in self._of.items() if key.id == voter.id)
        return max(seen, key=lambda each: each.fetched_at, default=ReplicaProgress())

    def key_of(self, voter: Voter) -> ReplicaKey:
        """The voter with the directory that it was seen with."""
        mine = self.of(voter)
        return next((key for key, each in self._of.items() if each is mine), voter.key)

    def get(self, key: ReplicaKey) -> ReplicaProgress | None:
        return self._of.get(key)

    def observers(self, voters: VoterSet, now: Instant) -> list[tuple[ReplicaKey, ReplicaProgress]]:
        """Who asks and does not vote. Voters are remembered, however long they have been silent."""
        self._forget(now, voters)
        return sorted((key, each) for key, each in self._of.items() if not voters.has(key))

    def _remembered(self, key: ReplicaKey, now: Instant) -> ReplicaProgress:
        if key not in self._of and len(self._of) >= OBSERVERS_MAX:
            self._forget(now)
        return self._of.setdefault(key, ReplicaProgress())

    def _forget(self, now: Instant, voters: VoterSet = _NOBODY) -> None:
        long_ago = now - OBSERVER_FORGOTTEN_MS
        self._of = {
            key: each
            for key, each in self._of.items()
            if each.fetched_at > long_ago or voters.has(key)
        }
        while len(self._of) >= OBSERVERS_MAX:
            del self._of[min(self._of, key=lambda key: self._of[key].fetched_at)]
