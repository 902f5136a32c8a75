"""How far each replica has fetched from the leader: it holds everything below its fetch offset."""

from dataclasses import dataclass

from brokers.ids import Instant, Offset
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.voters import Voter, VoterSet

OBSERVERS_MAX = 1_000
OBSERVER_FORGOTTEN_MS = 300_000  # Kafka's
_NO_VOTERS = VoterSet(())


@dataclass(slots=True)
class ReplicaProgress:
    """A replica holds everything below `next_offset`. Instants are -1 until its first fetch."""

    next_offset: Offset = -1
    fetched_at: Instant = -1
    caught_up_at: Instant = -1


class ProgressTracker:
    """The progress of all replicas that fetch, voters and observers."""

    def __init__(self) -> None:
        self._progress: dict[ReplicaKey, ReplicaProgress] = {}

    def fetched(
        self, key: ReplicaKey, next_offset: Offset, log_end_offset: Offset, now: Instant
    ) -> None:
        """A replica fetches from `next_offset`; a voter has synced everything below."""
        progress = self._get_or_add(key, now)
        progress.next_offset, progress.fetched_at = next_offset, now
        if next_offset >= log_end_offset:
            progress.caught_up_at = now

    def update_fetch_time(self, key: ReplicaKey, now: Instant) -> None:
        """A replica sent a request that does not change its offset, such as FetchSnapshot."""
        self._get_or_add(key, now).fetched_at = now

    def of(self, voter: Voter) -> ReplicaProgress:
        """For a voter whose directory id is not known: that of its id that fetched last."""
        if voter.directory != NO_DIRECTORY:
            return self._progress.get(voter.key, ReplicaProgress())
        seen = (progress for key, progress in self._progress.items() if key.id == voter.id)
        return max(seen, key=lambda each: each.fetched_at, default=ReplicaProgress())

    def key_of(self, voter: Voter) -> ReplicaKey:
        """The key of the voter, with the directory id from its fetches."""
        mine = self.of(voter)
        return next((key for key, each in self._progress.items() if each is mine), voter.key)

    def get(self, key: ReplicaKey) -> ReplicaProgress | None:
        return self._progress.get(key)

    def observers(self, voters: VoterSet, now: Instant) -> list[tuple[ReplicaKey, ReplicaProgress]]:
        """The replicas that fetch and are no voters. Only observers expire, after `OBSERVER_FORGOTTEN_MS`."""
        self._expire(now, voters)
        return sorted((key, each) for key, each in self._progress.items() if not voters.has(key))

    def _get_or_add(self, key: ReplicaKey, now: Instant) -> ReplicaProgress:
        if key not in self._progress and len(self._progress) >= OBSERVERS_MAX:
            self._expire(now)
        return self._progress.setdefault(key, ReplicaProgress())

    def _expire(self, now: Instant, voters: VoterSet = _NO_VOTERS) -> None:
        long_ago = now - OBSERVER_FORGOTTEN_MS
        self._progress = {
            key: each
            for key, each in self._progress.items()
            if each.fetched_at > long_ago or voters.has(key)
        }
        while len(self._progress) >= OBSERVERS_MAX:
            del self._progress[min(self._progress, key=lambda key: self._progress[key].fetched_at)]
