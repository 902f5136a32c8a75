"""What every room of a member stands on: its state, its log, who votes, and the changes from one role to another.

Always: the epoch never goes down; one vote an epoch; one leader an epoch; the high watermark never goes down, and
nothing below it is ever cut off.
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
from brokers.quorum.ids import LEADER_EPOCH_MAX, NOBODY, ReplicaKey, SnapshotId
from brokers.quorum.voters import VoterSetHistory

# Far below those that a node counts down from -1, so that the two never meet.
FIRST_TICKET: Ticket = -(1 << 62)


class QuorumState:
    """`log` is None while it is being cut or made anew: then the member neither votes nor asks."""

    def __init__(
        self,
        config: QuorumConfig,
        rng: Rng,
        *,
        log: Log,
        state: ElectionState,
        voters: VoterSetHistory,
        snapshot: SnapshotId,
    ) -> None:
        self.config = config
        self.rng = rng
        self.log: Log | None = log
        self.state = _at_least(state, max(log.epochs.latest, snapshot.leader_epoch), config.key)
        self.snapshot = snapshot  # the newest one on the disk; (0, 0) if there is none
        self.voters = voters
        self.high_watermark: Offset = snapshot.end_offset
        self.role: EpochState = UnattachedState(until=0)
        self.failures = 0  # elections in a row that came to nothing
        self.is_leaving = False
        self._addresses: dict[BrokerId, Peer] = {}
        self._missed: dict[BrokerId, int] = {}  # how often nobody answered there
        self.last_ticket = FIRST_TICKET

    # --- what it is ---

    @property
    def leader_epoch(self) -> LeaderEpoch:
        return self.state.leader_epoch

    @property
    def is_voter(self) -> bool:
        return self.config.may_vote and self.voters.latest.has(self.config.key)

    @property
    def may_stand(self) -> bool:
        """Whether it may be elected: by the newest voters, and while it is not known to be removed for good.

        That its own removal is in its log doesn't mean that a majority has it, and without this member none may get it.
        """
        sets = self.voters.possible(self.high_watermark)
        is_voter = any(each.has(self.config.key) for each in sets)
        return self.config.may_vote and not self.is_leaving and is_voter

    @property
    def leader(self) -> Peer | None:
        """Who leads, as far as this member knows and believes."""
        if isinstance(self.role, LeaderState):
            return self.peer(self.config.node_id) or Peer(self.config.node_id, "", 0)
        return self.role.leader if isinstance(self.role, FollowerState) else None

    @property
    def leading(self) -> LeaderState | None:
        return self.role if isinstance(self.role, LeaderState) else None

    @property
    def last_epoch(self) -> LeaderEpoch:
        """That of the last record; 0 where there never was one."""
        assert self.log is not None
        is_bare = self.log.log_end_offset == self.snapshot.end_offset
        return self.snapshot.leader_epoch if is_bare else self.log.epochs.latest

    def is_up_to_date(self, last_epoch: LeaderEpoch, last_offset: Offset) -> bool:
        """Whether a log that ends so holds all that this one holds."""
        assert self.log is not None
        return (last_epoch, last_offset) >= (self.last_epoch, self.log.log_end_offset)

    def is_first_in(self, leader_epoch: LeaderEpoch, leader_id: BrokerId) -> bool:
        """Whether `leader_id` may lead an epoch, for all this member knows."""
        if leader_id == self.config.node_id or leader_epoch > LEADER_EPOCH_MAX:
            return False  # it would know; nobody can
        if leader_epoch != self.leader_epoch:
            return leader_epoch > self.leader_epoch
        return self.state.leader_id in (NOBODY, leader_id)

    def peer(self, member_id: BrokerId) -> Peer | None:
        """Where a member listens: as the voters' record says, as it said itself, or as the settings say.

        One after another, while nobody answers: all members may have moved since the record was written.
        """
        sets = (self.voters.latest, self.config.voters)
        recorded, configured = (each.get(member_id) for each in sets)
        told = (
            None if recorded is None else recorded.peer,
            self._addresses.get(member_id),
            None if configured is None else configured.peer,
        )
        places = [*dict.fromkeys(peer for peer in told if peer is not None)]
        return places[self._missed.get(member_id, 0) % len(places)] if places else None

    def missed(self, member_id: BrokerId) -> None:
        """Nobody answered where a member was looked for."""
        self._missed[member_id] = self._missed.get(member_id, 0) + 1

    def found_leader(self) -> None:
        """A leader answers: the next search begins with the record, which it keeps right."""
        self._missed.clear()

    def met(self, peer: Peer) -> None:
        """A leader told where it, or another, listens."""
        self._addresses[peer.node_id] = peer

    def other_voters(self) -> list[Peer]:
        peers = (self.peer(each) for each in self.voters.latest.ids if each != self.config.node_id)
        return [peer for peer in peers if peer is not None]

    def new_ticket(self) -> Ticket:
        self.last_ticket += 1
        return self.last_ticket

    # --- time ---

    def election_timeout(self) -> int:
        """From once to twice the setting, by chance, so that members rarely try together."""
        base = self.config.election_timeout_ms
        return base + self.rng.randrange(0, base)

    def turn(self) -> int:
        """How long to wait before trying when all others, too, just heard that nobody leads."""
        slot = self.config.election_slot_ms
        others = [each for each in self.voters.latest.ids if each != self.state.leader_id]
        place = others.index(self.config.node_id) if self.config.node_id in others else len(others)
        return place * slot + self.rng.randrange(0, slot // 2)

    def backoff(self) -> int:
        """Longer with each attempt that came to nothing."""
        longest = self.config.election_slot_ms << min(self.failures, 10)
        longest = min(longest, self.config.election_backoff_max_ms)
        return longest // 2 + self.rng.randrange(0, longest // 2 + 1)

    # --- changes of role ---

    def unattach(self, leader_epoch: LeaderEpoch, until: Instant) -> list[Effect]:
        """Know an epoch, and nobody who leads in it any more or yet."""
        assert leader_epoch >= self.leader_epoch, (leader_epoch, self.leader_epoch)
        effects: list[Effect] = []
        if leader_epoch > self.leader_epoch:
            effects = self._save(ElectionState(leader_epoch=leader_epoch))
        self.role = UnattachedState(until)
        return effects

    def vote(self, candidate: ReplicaKey) -> list[Effect]:
        """For the first that asks in this epoch, and whoever it is that asks again."""
        assert self.state.voted in (None, candidate) and self.state.leader_id == NOBODY
        if self.state.voted == candidate:
            return []
        voted = replace(self.state, voted_id=candidate.id, voted_directory=candidate.directory)
        return self._save(voted)

    def consider(self, now: Instant) -> EpochElection:
        """Begin to ask the others whether they would vote for this member."""
        assert self.may_stand
        ballot = EpochElection(self.voters.latest, self.leader_epoch)
        ballot.count(self.config.node_id, granted=True)
        self.role = ProspectiveState(ballot, now + self.election_timeout())
        return ballot

    def stand(self, now: Instant) -> list[Effect]:
        """Vote for itself in a new epoch; the vote counts once it is durable."""
        assert self.may_stand
        key = self.config.key
        state = ElectionState(
            leader_epoch=self.leader_epoch + 1, voted_id=key.id, voted_directory=key.directory
        )
        ballot = EpochElection(self.voters.latest, state.leader_epoch)
        self.role = CandidateState(ballot, now + self.election_timeout())
        return self._save(state)

    def lead(self, now: Instant) -> list[Effect]:
        """Its epoch begins at the end of its log."""
        assert (
            isinstance(self.role, CandidateState)
            and self.role.ballot.is_won
            and self.log is not None
        )
        self.state = replace(self.state, leader_id=self.config.node_id)
        self.failures = 0
        role = LeaderState(
            self.leader_epoch, self.log.log_end_offset, now + self.config.check_quorum_ms, now
        )
        return self._become(role, "leader", f"of epoch {self.leader_epoch}")

    def follow(self, leader: Peer, leader_epoch: LeaderEpoch, now: Instant) -> list[Effect]:
        assert self.is_first_in(leader_epoch, leader.node_id), (leader, leader_epoch, self.state)
        effects: list[Effect] = []
        if leader_epoch > self.leader_epoch:
            effects = self._save(ElectionState(leader.node_id, leader_epoch))
        elif self.state.leader_id == NOBODY:
            effects = self._save(replace(self.state, leader_id=leader.node_id))
        role = FollowerState(leader, now + self.config.fetch_timeout_ms)
        return effects + self._become(role, "follower", f"of {leader.node_id} in {leader_epoch}")

    def resign(self, now: Instant, why: str) -> list[Effect]:
        assert isinstance(self.role, LeaderState)
        return self._become(ResignedState(now + self.election_timeout()), "resigned", why)

    def hear_of(self, leader_epoch: LeaderEpoch, leader_id: BrokerId, now: Instant) -> list[Effect]:
        """Someone told which epoch it is, and who leads it if it knew."""
        peer = self.peer(leader_id) if leader_id >= 0 else None
        is_lost = not isinstance(self.role, FollowerState | LeaderState)
        if peer is not None and self.is_first_in(leader_epoch, leader_id):
            if leader_epoch > self.leader_epoch or is_lost:
                return self.follow(peer, leader_epoch, now)
        elif self.leader_epoch < leader_epoch <= LEADER_EPOCH_MAX:
            return self.unattach(leader_epoch, now + self.election_timeout())
        return []

    def _become(self, role: EpochState, name: str, why: str) -> list[Effect]:
        self.role = role
        return [Changed("quorum member", name, why)]

    def _save(self, state: ElectionState) -> list[Effect]:
        self.state = state
        return [SaveState(STATE_NAME, state.encode())]


def _at_least(state: ElectionState, leader_epoch: LeaderEpoch, own: ReplicaKey) -> ElectionState:
    """A log that is ahead of the state has lost it: whom this member voted for in that epoch nobody knows any more."""
    if state.leader_epoch >= leader_epoch:
        return state
    return ElectionState(leader_epoch=leader_epoch, voted_id=own.id, voted_directory=own.directory)
