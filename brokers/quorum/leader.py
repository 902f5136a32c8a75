"""The leader: appends the LeaderChange of its epoch and batches, advances the high watermark, resigns (KIP-595).

Always: only what a majority has synced is committed, and only together with a record of the leader's own epoch (a later
leader may truncate a record of an earlier epoch although a majority holds it: Raft 5.4.2). The leader, too, counts only
what it has synced.
"""

from brokers.effects import Effect
from brokers.ids import Instant, Offset
from brokers.quorum.config import LOG_CONFIG
from brokers.quorum.control_records import control_batch
from brokers.quorum.epoch_states import CandidateState, LeaderState
from brokers.quorum.ids import ReplicaKey
from brokers.quorum.quorum_epochs import QuorumEpochs
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voters import Voter, VoterSet
from brokers.records.batch import parse_header
from brokers.wire.message import Message
from brokers.wire.messages.control_records import LeaderChangeMessage
from brokers.wire.messages.control_records import Voter as ChangeVoter


class MetadataLeader:
    def __init__(self, quorum: QuorumState, epochs: QuorumEpochs) -> None:
        self._quorum = quorum
        self._epochs = epochs

    @property
    def deadline(self) -> Instant | None:
        leader_state = self._quorum.leader_state
        return leader_state.until if leader_state is not None and self._fetches_needed else None

    def begin(self, now: Instant) -> list[Effect]:
        """Won the election: append the LeaderChange and send BeginQuorumEpoch."""
        state = self._quorum.state
        assert isinstance(state, CandidateState)
        granting = state.election.granting
        effects = self._quorum.become_leader(now)
        effects += self.append_control([self._leader_change(granting)], now)
        return effects + self._epochs.begin(now)

    def _leader_change(self, granting: tuple[int, ...]) -> LeaderChangeMessage:
        quorum = self._quorum
        voters = quorum.voters.latest
        return LeaderChangeMessage(
            version=quorum.voters.kraft_version,
            leader_id=quorum.config.node_id,
            voters=[_named(voter) for voter in voters],
            granting_voters=[_named(voter) for voter in voters if voter.id in granting],
        )

    # --- appending ---

    def append_control(self, messages: list[Message], now: Instant) -> list[Effect]:
        quorum = self._quorum
        assert quorum.log is not None
        batch = control_batch(
            messages,
            base_offset=quorum.log.log_end_offset,
            leader_epoch=quorum.leader_epoch,
            now=now,
        )
        return self.append(batch, now)

    def append(self, batch: bytearray, now: Instant) -> list[Effect]:
        """Append a batch whose base offset is the log end offset, with this epoch."""
        quorum, header = self._quorum, parse_header(batch)
        assert quorum.leader_state is not None and quorum.log is not None
        assert header.leader_epoch == quorum.leader_epoch, (header, quorum.leader_epoch)
        return [*quorum.log.append((header,), (batch,), now, config=LOG_CONFIG, sync=True)]

    # --- committing ---

    def fetched(self, key: ReplicaKey, next_offset: Offset, now: Instant) -> None:
        """A replica fetches from `next_offset`, below which its log and this one are equal."""
        leader_state, log = self._quorum.leader_state, self._quorum.log
        assert leader_state is not None and log is not None
        leader_state.tracker.fetched(key, next_offset, log.log_end_offset, now)

    def commit(self) -> None:
        """Advance the high watermark to the majority's offset, if that is in this epoch."""
        leader_state = self._quorum.leader_state
        if leader_state is None:
            return
        held = self.majority_offset(leader_state, self._quorum.voters.latest)
        if self.is_of_own_epoch(leader_state, held):
            self._quorum.high_watermark = max(self._quorum.high_watermark, held)

    def majority_offset(self, leader_state: LeaderState, voters: VoterSet) -> Offset:
        """The offset up to which a majority of the voters has the log."""
        held = sorted((self._held(leader_state, voter) for voter in voters), reverse=True)
        return held[voters.majority - 1]

    def is_of_own_epoch(self, leader_state: LeaderState, next_offset: Offset) -> bool:
        return next_offset > leader_state.epoch_start

    def _held(self, leader_state: LeaderState, voter: Voter) -> Offset:
        if voter.matches(self._quorum.config.key):
            return self.own_synced_offset()
        return leader_state.tracker.of(voter).next_offset

    def own_synced_offset(self) -> Offset:
        """The end of this leader's synced log."""
        assert self._quorum.log is not None
        return self._quorum.log.written_offset

    @property
    def is_settled(self) -> bool:
        """Whether a record of this epoch is committed: the high watermark is exact from then on."""
        leader_state = self._quorum.leader_state
        return leader_state is not None and self._quorum.high_watermark > leader_state.epoch_start

    # --- ending ---

    def on_time(self, now: Instant) -> list[Effect]:
        """Resign when no majority fetched for `check_quorum_ms`: it may have another leader by now."""
        leader_state = self._quorum.leader_state
        if leader_state is None or not self._fetches_needed or now < leader_state.until:
            return []
        leader_state.until = (
            self._majority_fetched_at(leader_state) + self._quorum.config.check_quorum_ms
        )
        if now < leader_state.until:
            return []
        return self.resign(now, "a majority of the voters does not ask")

    def resign_if_removed(self, now: Instant) -> list[Effect]:
        """A leader that is removed from the voters resigns once its removal is committed."""
        voters = self._quorum.voters
        removed = not voters.latest.has(self._quorum.config.key)
        if self.is_settled and removed and self._quorum.high_watermark > voters.latest_offset:
            return self.resign(now, "it is no voter any more")
        return []

    def resign(self, now: Instant, why: str) -> list[Effect]:
        leader_state = self._quorum.leader_state
        assert leader_state is not None
        return self._quorum.become_resigned(now, why) + self._epochs.end(leader_state)

    def has_majority(self, voters: VoterSet, now: Instant) -> bool:
        """Whether a majority of `voters` has fetched recently."""
        leader_state, own = self._quorum.leader_state, self._quorum.config.key
        assert leader_state is not None
        too_old = now - self._quorum.config.check_quorum_ms
        fetching = sum(
            voter.matches(own) or leader_state.tracker.of(voter).fetched_at > too_old
            for voter in voters
        )
        return fetching >= voters.majority

    @property
    def _fetches_needed(self) -> int:
        """How many other voters must fetch so that this leader need not resign."""
        voters = self._quorum.voters.latest
        return voters.majority - voters.has(self._quorum.config.key)

    def _majority_fetched_at(self, leader_state: LeaderState) -> Instant:
        own = self._quorum.config.key
        fetched = sorted(
            (
                max(leader_state.tracker.of(voter).fetched_at, leader_state.began_at)
                for voter in self._quorum.voters.latest
                if not voter.matches(own)
            ),
            reverse=True,
        )
        return fetched[self._fetches_needed - 1]


def _named(voter: Voter) -> ChangeVoter:
    return ChangeVoter(voter_id=voter.id, voter_directory_id=voter.directory)
