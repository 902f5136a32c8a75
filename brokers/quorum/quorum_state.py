"""The state that the modules of a replica share: epoch state, log, voters; and the transitions (Kafka's QuorumState).

Always: the epoch never decreases; one vote an epoch; one leader an epoch; the high watermark never decreases, and
nothing below it is truncated.
"""

from dataclasses import replace

from brokers.effects import Changed, Effect, SaveState
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset, Peer, Ticket
from brokers.log.log import Log
from brokers.ports import Rng
from brokers.quorum.config import QuorumConfig
from brokers.quorum.election_state import STATE_NAME, ElectionState
from brokers.quorum.epoch_election import EpochElection
from brokers.quorum.epoch_states import (
    CandidateState,
    EpochState,
    FollowerState,
    LeaderState,
    ProspectiveState,
    ResignedState,
    UnattachedState,
)
from brokers.quorum.ids import LEADER_EPOCH_MAX, NO_NODE, ReplicaKey, SnapshotId
from brokers.quorum.voters import VoterSetHistory

# Far below the tickets that a node counts down from -1, so that the two never collide.
FIRST_TICKET: Ticket = -(1 << 62)


class QuorumState:
    """`log` is None while it is truncated or replaced: the replica then neither votes nor fetches."""

    def __init__(
        self,
        config: QuorumConfig,
        rng: Rng,
        *,
        log: Log,
        election_state: ElectionState,
        voters: VoterSetHistory,
        snapshot: SnapshotId,
    ) -> None:
        self.config = config
        self.rng = rng
        self.log: Log | None = log
        last_epoch = max(log.epochs.latest, snapshot.leader_epoch)
        self.election_state = _at_least(election_state, last_epoch, config.key)
        self.snapshot = snapshot  # the newest one on disk, or (0, 0)
        self.voters = voters
        self.high_watermark: Offset = snapshot.end_offset
        self.state: EpochState = UnattachedState(until=0)
        self.failures = 0  # elections in a row that were not won
        self.is_shutting_down = False
        self._endpoints: dict[BrokerId, Peer] = {}
        self._endpoint_failures: dict[BrokerId, int] = {}  # by voter
        self.last_ticket = FIRST_TICKET

    # --- state ---

    @property
    def leader_epoch(self) -> LeaderEpoch:
        return self.election_state.leader_epoch

    @property
    def is_voter(self) -> bool:
        return self.config.may_vote and self.voters.latest.has(self.config.key)

    @property
    def is_electable(self) -> bool:
        """Whether it may start an election: a voter in the latest voter set, or in one that may still be in force.

        The record of its own removal may be uncommitted, and without this voter no majority may ever commit it.
        """
        sets = self.voters.possible(self.high_watermark)
        is_voter = any(each.has(self.config.key) for each in sets)
        return self.config.may_vote and not self.is_shutting_down and is_voter

    @property
    def leader(self) -> Peer | None:
        """The leader, as far as this replica knows."""
        if isinstance(self.state, LeaderState):
            return self.peer(self.config.node_id) or Peer(self.config.node_id, "", 0)
        return self.state.leader if isinstance(self.state, FollowerState) else None

    @property
    def leader_state(self) -> LeaderState | None:
        return self.state if isinstance(self.state, LeaderState) else None

    @property
    def last_epoch(self) -> LeaderEpoch:
        """The epoch of the last record; 0 if there never was one."""
        assert self.log is not None
        is_bare = self.log.log_end_offset == self.snapshot.end_offset
        return self.snapshot.leader_epoch if is_bare else self.log.epochs.latest

    def is_up_to_date(self, last_epoch: LeaderEpoch, last_offset: Offset) -> bool:
        """Whether a log that ends at these is at least as up to date as this one (Raft 5.4.1)."""
        assert self.log is not None
        return (last_epoch, last_offset) >= (self.last_epoch, self.log.log_end_offset)

    def has_consistent_leader(self, leader_epoch: LeaderEpoch, leader_id: BrokerId) -> bool:
        """Whether `leader_id` may be the leader of the epoch, as far as this replica knows."""
        if leader_id == self.config.node_id or leader_epoch > LEADER_EPOCH_MAX:
            return False  # this node would know that it leads; no epoch is so large
        if leader_epoch != self.leader_epoch:
            return leader_epoch > self.leader_epoch
        return self.election_state.leader_id in (NO_NODE, leader_id)

    def peer(self, voter_id: BrokerId) -> Peer | None:
        """The endpoint of a voter: from the VotersRecord, from a response or request of a leader, or from the settings.

        Each in turn while requests fail: all voters may have moved since the record was written.
        """
        sets = (self.voters.latest, self.config.voters)
        recorded, configured = (each.get(voter_id) for each in sets)
        found = (
            None if recorded is None else recorded.peer,
            self._endpoints.get(voter_id),
            None if configured is None else configured.peer,
        )
        endpoints = [*dict.fromkeys(peer for peer in found if peer is not None)]
        return (
            endpoints[self._endpoint_failures.get(voter_id, 0) % len(endpoints)]
            if endpoints
            else None
        )

    def endpoint_failed(self, voter_id: BrokerId) -> None:
        """A request to the endpoint that `peer` returns got no response."""
        self._endpoint_failures[voter_id] = self._endpoint_failures.get(voter_id, 0) + 1

    def leader_answered(self) -> None:
        """A leader answered: begin with the VotersRecord again, which the leader keeps current."""
        self._endpoint_failures.clear()

    def update_endpoint(self, peer: Peer) -> None:
        """A leader sent this endpoint, of itself or another node."""
        self._endpoints[peer.node_id] = peer

    def other_voters(self) -> list[Peer]:
        peers = (self.peer(each) for each in self.voters.latest.ids if each != self.config.node_id)
        return [peer for peer in peers if peer is not None]

    def new_ticket(self) -> Ticket:
        self.last_ticket += 1
        return self.last_ticket

    # --- time ---

    def election_timeout(self) -> int:
        """A random time of 1 to 2 times the setting, so that voters rarely start elections together."""
        base = self.config.election_timeout_ms
        return base + self.rng.randrange(0, base)

    def staggered_delay(self) -> int:
        """The delay of this voter's election when all voters have just lost the leader."""
        slot = self.config.election_slot_ms
        others = [each for each in self.voters.latest.ids if each != self.election_state.leader_id]
        place = others.index(self.config.node_id) if self.config.node_id in others else len(others)
        return place * slot + self.rng.randrange(0, slot // 2)

    def backoff(self) -> int:
        """Random; doubles with each failed election."""
        longest = self.config.election_slot_ms << min(self.failures, 10)
        longest = min(longest, self.config.election_backoff_max_ms)
        return longest // 2 + self.rng.randrange(0, longest // 2 + 1)

    # --- transitions ---

    def become_unattached(self, leader_epoch: LeaderEpoch, until: Instant) -> list[Effect]:
        """In `leader_epoch`, with no leader."""
        assert leader_epoch >= self.leader_epoch, (leader_epoch, self.leader_epoch)
        effects: list[Effect] = []
        if leader_epoch > self.leader_epoch:
            effects = self._save(ElectionState(leader_epoch=leader_epoch))
        self.state = UnattachedState(until)
        return effects

    def add_voted_state(self, candidate: ReplicaKey) -> list[Effect]:
        """Vote for the first candidate of this epoch; a repeated request of the same one changes nothing."""
        saved = self.election_state
        assert saved.voted in (None, candidate) and saved.leader_id == NO_NODE
        if saved.voted == candidate:
            return []
        voted = replace(saved, voted_id=candidate.id, voted_directory=candidate.directory)
        return self._save(voted)

    def become_prospective(self, now: Instant) -> EpochElection:
        """Begin a pre-vote (KIP-996)."""
        assert self.is_electable
        election = EpochElection(self.voters.latest, self.leader_epoch)
        election.count(self.config.node_id, granted=True)
        self.state = ProspectiveState(election, now + self.election_timeout())
        return election

    def become_candidate(self, now: Instant) -> list[Effect]:
        """Vote for this replica in a new epoch; the vote counts once it is durable."""
        assert self.is_electable
        key = self.config.key
        leader_epoch = self.leader_epoch + 1
        election = EpochElection(self.voters.latest, leader_epoch)
        self.state = CandidateState(election, now + self.election_timeout())
        return self._save(ElectionState(NO_NODE, leader_epoch, key.id, key.directory))

    def become_leader(self, now: Instant) -> list[Effect]:
        """The epoch begins at the log end offset."""
        assert (
            isinstance(self.state, CandidateState)
            and self.state.election.is_won
            and self.log is not None
        )
        self.election_state = replace(self.election_state, leader_id=self.config.node_id)
        self.failures = 0
        state = LeaderState(
            self.leader_epoch, self.log.log_end_offset, now + self.config.check_quorum_ms, now
        )
        return self._enter(state, "leader", f"of epoch {self.leader_epoch}")

    def become_follower(
        self, leader: Peer, leader_epoch: LeaderEpoch, now: Instant
    ) -> list[Effect]:
        assert self.has_consistent_leader(leader_epoch, leader.node_id), (leader, leader_epoch)
        effects: list[Effect] = []
        if leader_epoch > self.leader_epoch:
            effects = self._save(ElectionState(leader.node_id, leader_epoch))
        elif self.election_state.leader_id == NO_NODE:
            effects = self._save(replace(self.election_state, leader_id=leader.node_id))
        state = FollowerState(leader, now + self.config.fetch_timeout_ms)
        return effects + self._enter(state, "follower", f"of {leader.node_id} in {leader_epoch}")

    def become_resigned(self, now: Instant, why: str) -> list[Effect]:
        assert isinstance(self.state, LeaderState)
        return self._enter(ResignedState(now + self.election_timeout()), "resigned", why)

    def maybe_transition(
        self, leader_epoch: LeaderEpoch, leader_id: BrokerId, now: Instant
    ) -> list[Effect]:
        """Another node sent its epoch and leader (-1 if it knows none): follow a newer epoch or an unknown leader."""
        peer = self.peer(leader_id) if leader_id >= 0 else None
        has_no_leader = not isinstance(self.state, FollowerState | LeaderState)
        if peer is not None and self.has_consistent_leader(leader_epoch, leader_id):
            if leader_epoch > self.leader_epoch or has_no_leader:
                return self.become_follower(peer, leader_epoch, now)
        elif self.leader_epoch < leader_epoch <= LEADER_EPOCH_MAX:
            return self.become_unattached(leader_epoch, now + self.election_timeout())
        return []

    def _enter(self, state: EpochState, name: str, why: str) -> list[Effect]:
        self.state = state
        return [Changed("quorum member", name, why)]

    def _save(self, election_state: ElectionState) -> list[Effect]:
        self.election_state = election_state
        return [SaveState(STATE_NAME, election_state.encode())]


def _at_least(saved: ElectionState, leader_epoch: LeaderEpoch, own: ReplicaKey) -> ElectionState:
    """A log that is ahead of the saved state: the vote in that epoch is lost, so none other may be given."""
    if saved.leader_epoch >= leader_epoch:
        return saved
    return ElectionState(leader_epoch=leader_epoch, voted_id=own.id, voted_directory=own.directory)
