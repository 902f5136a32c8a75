"""A leader's own work: the first record of its epoch, what is appended to it, what of that is committed (KIP-595).

Always: only what a majority has on its disks is committed, and nothing before a record of the leader's own epoch is
(that a majority holds a record of an earlier one does not keep a later leader from cutting it off). The leader's own
disk counts once it has synced, like any other's.
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
    def __init__(self, member: QuorumState, announcing: QuorumEpochs) -> None:
        self._member = member
        self._announcing = announcing

    @property
    def deadline(self) -> Instant | None:
        leading = self._member.leading
        return leading.until if leading is not None and self._asks_needed else None

    def begin(self, now: Instant) -> list[Effect]:
        """Elected: the epoch begins with a record that says so, and the others hear of it."""
        role = self._member.role
        assert isinstance(role, CandidateState)
        granting = role.ballot.granting
        effects = self._member.lead(now)
        effects += self.append_control([self._leader_change(granting)], now)
        return effects + self._announcing.begin(now)

    def _leader_change(self, granting: tuple[int, ...]) -> LeaderChangeMessage:
        member = self._member
        voters = member.voters.latest
        return LeaderChangeMessage(
            version=member.voters.kraft_version,
            leader_id=member.config.node_id,
            voters=[_named(voter) for voter in voters],
            granting_voters=[_named(voter) for voter in voters if voter.id in granting],
        )

    # --- appending ---

    def append_control(self, messages: list[Message], now: Instant) -> list[Effect]:
        """Control records, as one batch."""
        member = self._member
        assert member.log is not None
        batch = control_batch(
            messages,
            base_offset=member.log.log_end_offset,
            leader_epoch=member.leader_epoch,
            now=now,
        )
        return self.append(batch, now)

    def append(self, batch: bytearray, now: Instant) -> list[Effect]:
        """A batch that is stamped with the log's end and this epoch."""
        member, header = self._member, parse_header(batch)
        assert member.leading is not None and member.log is not None
        assert header.leader_epoch == member.leader_epoch, (header, member.leader_epoch)
        return [*member.log.append((header,), (batch,), now, config=LOG_CONFIG, sync=True)]

    # --- committing ---

    def fetched(self, key: ReplicaKey, next_offset: Offset, now: Instant) -> None:
        """A member asks for what comes after `next_offset`, and its history is this one up to there."""
        leading, log = self._member.leading, self._member.log
        assert leading is not None and log is not None
        leading.progresses.fetched(key, next_offset, log.log_end_offset, now)

    def commit(self) -> None:
        """Move the high watermark to where a majority is, if that is of this epoch."""
        leading = self._member.leading
        if leading is None:
            return
        held = self.held_by_majority(leading, self._member.voters.latest)
        if self.is_of_own_epoch(leading, held):
            self._member.high_watermark = max(self._member.high_watermark, held)

    def held_by_majority(self, leading: LeaderState, voters: VoterSet) -> Offset:
        """What so many voters have on their disks that every majority has one of them."""
        held = sorted((self._held(leading, voter) for voter in voters), reverse=True)
        return held[voters.majority - 1]

    def is_of_own_epoch(self, leading: LeaderState, next_offset: Offset) -> bool:
        return next_offset > leading.epoch_start

    def _held(self, leading: LeaderState, voter: Voter) -> Offset:
        if voter.is_known_as(self._member.config.key):
            return self.own_offset()
        return leading.progresses.of(voter).next_offset

    def own_offset(self) -> Offset:
        """What this member has on its own disk."""
        assert self._member.log is not None
        return self._member.log.written_offset

    @property
    def is_settled(self) -> bool:
        """A record of this epoch is committed: what is committed is known."""
        leading = self._member.leading
        return leading is not None and self._member.high_watermark > leading.epoch_start

    # --- ending ---

    def on_time(self, now: Instant) -> list[Effect]:
        """Resign when a majority has not asked for so long that it may have another leader by now."""
        leading = self._member.leading
        if leading is None or not self._asks_needed or now < leading.until:
            return []
        leading.until = self._heard_from_majority(leading) + self._member.config.check_quorum_ms
        if now < leading.until:
            return []
        return self.resign(now, "a majority of the voters does not ask")

    def leave_if_removed(self, now: Instant) -> list[Effect]:
        """A leader that is no voter any more leads until that is committed."""
        voters = self._member.voters
        removed = not voters.latest.has(self._member.config.key)
        if self.is_settled and removed and self._member.high_watermark > voters.latest_offset:
            return self.resign(now, "it is no voter any more")
        return []

    def resign(self, now: Instant, why: str) -> list[Effect]:
        leading = self._member.leading
        assert leading is not None
        return self._member.resign(now, why) + self._announcing.end(leading)

    def hears_majority(self, voters: VoterSet, now: Instant) -> bool:
        """Whether these voters, if they were the ones, would keep a leader."""
        leading, own = self._member.leading, self._member.config.key
        assert leading is not None
        long_ago = now - self._member.config.check_quorum_ms
        heard = sum(
            voter.is_known_as(own) or leading.progresses.of(voter).fetched_at > long_ago
            for voter in voters
        )
        return heard >= voters.majority

    @property
    def _asks_needed(self) -> int:
        """How many voters must ask for this member to lead on."""
        voters = self._member.voters.latest
        return voters.majority - voters.has(self._member.config.key)

    def _heard_from_majority(self, leading: LeaderState) -> Instant:
        own = self._member.config.key
        asked = sorted(
            (
                max(leading.progresses.of(voter).fetched_at, leading.began_at)
                for voter in self._member.voters.latest
                if not voter.is_known_as(own)
            ),
            reverse=True,
        )
        return asked[self._asks_needed - 1]


def _named(voter: Voter) -> ChangeVoter:
    return ChangeVoter(voter_id=voter.id, voter_directory_id=voter.directory)
