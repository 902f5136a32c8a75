"""The votes of one election, or of its pre-vote (Kafka's EpochElection; KIP-996)."""

from brokers.ids import BrokerId, LeaderEpoch
from brokers.quorum.voters import VoterSet


class EpochElection:
    """Counts each voter once. Won when a majority granted its vote, lost when no majority can grant it any more."""

    __slots__ = ("_against", "_for", "leader_epoch", "voters")

    def __init__(self, voters: VoterSet, leader_epoch: LeaderEpoch) -> None:
        self.voters = voters
        self.leader_epoch = leader_epoch
        self._for: set[BrokerId] = set()
        self._against: set[BrokerId] = set()

    def count(self, voter_id: BrokerId, *, granted: bool) -> None:
        if voter_id in self._for or voter_id in self._against or voter_id not in self.voters.ids:
            return
        (self._for if granted else self._against).add(voter_id)

    @property
    def granting(self) -> tuple[BrokerId, ...]:
        return tuple(sorted(self._for))

    @property
    def is_won(self) -> bool:
        return len(self._for) >= self.voters.majority

    @property
    def is_lost(self) -> bool:
        return len(self.voters) - len(self._against) < self.voters.majority

    def has_answered(self, voter_id: BrokerId) -> bool:
        return voter_id in self._for or voter_id in self._against
