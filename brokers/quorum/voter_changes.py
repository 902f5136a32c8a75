"""Changes of the voter set (AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter; KIP-853). Only a leader makes them.

Always: one at a time; none before the leader knows what is committed; a new voter has the log already; a set is in
force once it is appended, and two sets that follow one another differ in one member, so that a majority of one and a
majority of the other have a member in common.

Configured voters have no directory ids. Once all of them have fetched with theirs, the leader records the set with the
directory ids; from then on a disk that comes back empty is another voter.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError
from brokers.events import Answered
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset, Ticket
from brokers.quorum.ids import NO_DIRECTORY, ReplicaKey
from brokers.quorum.leader import MetadataLeader
from brokers.quorum.messages import PROBE_CHANNEL, ask
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.voters import Voter, VoterSet, with_directories
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from brokers.wire.messages.control_records import KRaftVersionRecord

Tell = Callable[[KafkaError, str], list[Effect]]
FEATURE = "kraft.version"
_NOWHERE = "a voter needs an endpoint"


@dataclass(slots=True)
class _Change:
    """A change under way: `then` runs once `is_ready`. `tell` answers the request."""

    leader_epoch: LeaderEpoch
    until: Instant
    tell: Tell
    is_ready: Callable[[], bool]
    then: Callable[[Instant], list[Effect]]


class VoterChanges:
    """`settle` goes on with the change under way; it is called after everything that happens."""

    def __init__(self, member: QuorumState, leading: MetadataLeader) -> None:
        self._member = member
        self._leading = leading
        self._change: _Change | None = None
        self._probe: Ticket | None = None
        self._found: ApiVersionsResponse | None = None

    @property
    def deadline(self) -> Instant | None:
        return None if self._change is None else self._change.until

    # --- what is asked ---

    def add(
        self, voter: Voter, until: Instant, tell: Tell, *, early: bool, now: Instant
    ) -> list[Effect]:
        """`early`: tell once the record is appended, not once it is committed."""
        voters = self._member.voters.latest
        error, because = self.why_not_now()
        if error is KafkaError.NONE and voters.get(voter.id) is not None:
            error, because = KafkaError.DUPLICATE_VOTER, f"node {voter.id} is a voter already"
        if error is KafkaError.NONE and voter.peer is None:
            error, because = KafkaError.INVALID_REQUEST, _NOWHERE
        if error is KafkaError.NONE and voter.directory == NO_DIRECTORY:
            error, because = KafkaError.INVALID_REQUEST, "a voter needs the id of its directory"
        if error is not KafkaError.NONE:
            return tell(error, because)
        change = self._begin(until, tell)
        return self._recorded(change, lambda at: self._look(change, voter, early, at), now)

    def remove(self, key: ReplicaKey, until: Instant, tell: Tell, now: Instant) -> list[Effect]:
        voters = self._member.voters.latest
        error, because = self.why_not_now()
        if error is KafkaError.NONE and not self._is_exactly(key):
            error, because = KafkaError.VOTER_NOT_FOUND, f"{key} is no voter"
        if error is KafkaError.NONE and len(voters) == 1:
            error, because = (
                KafkaError.INVALID_REQUEST,
                "it is the last voter; add another one first",
            )
        if error is KafkaError.NONE and not self._leading.hears_majority(
            voters.without(key.id), now
        ):
            because = (
                "without it too few voters are heard of; bring back, or remove, those that are not"
            )
            error = KafkaError.REQUEST_TIMED_OUT
        if error is not KafkaError.NONE:
            return tell(error, because)
        change = self._begin(until, tell)
        return self._recorded(
            change, lambda at: self._propose(change, self._latest.without(key.id), at), now
        )

    def update(self, voter: Voter, until: Instant, tell: Tell, now: Instant) -> list[Effect]:
        """Where a voter listens, and what it supports."""
        if not self._latest.has(voter.key):
            return tell(KafkaError.VOTER_NOT_FOUND, f"{voter.key} is no voter")
        if self._member.voters.kraft_version == 0:
            if voter.peer is not None:
                self._member.met(voter.peer)
            return tell(KafkaError.NONE, "")
        if self._latest.get(voter.id) == voter:
            return tell(KafkaError.NONE, "")
        if voter.peer is None:
            return tell(KafkaError.INVALID_REQUEST, _NOWHERE)
        error, because = self.why_not_now()
        if error is not KafkaError.NONE:
            return tell(error, because)
        change = self._begin(until, tell)
        return self._propose(change, self._latest.with_voter(voter), now)

    def why_not_now(self) -> tuple[KafkaError, str]:
        member = self._member
        if member.leading is None:
            return KafkaError.NOT_LEADER_OR_FOLLOWER, "another node leads the quorum"
        if not self._leading.is_settled:
            because = "the leader is new and does not know yet what is committed; try again"
            return KafkaError.REQUEST_TIMED_OUT, because
        if self._change is not None or member.voters.latest_offset >= member.high_watermark:
            because = "another change of the voters is under way; try again when it is done"
            return KafkaError.REQUEST_TIMED_OUT, because
        if member.voters.kraft_version == 0 and self._with_directories() is None:
            because = "some voter's directory is not known yet: start all of them, then try again"
            return KafkaError.UNSUPPORTED_VERSION, because
        return KafkaError.NONE, ""

    def _is_exactly(self, key: ReplicaKey) -> bool:
        """By id and directory, also while the set was not recorded yet."""
        voter = (self._with_directories() or self._latest).get(key.id)
        return voter is not None and voter.key == key

    # --- its steps ---

    def _begin(self, until: Instant, tell: Tell) -> _Change:
        epoch = self._member.leader_epoch
        self._change = _Change(epoch, until, tell, lambda: False, lambda _: [])
        return self._change

    def _recorded(
        self, change: _Change, then: Callable[[Instant], list[Effect]], now: Instant
    ) -> list[Effect]:
        """First the set as it is, with directories; a change of it only once that is committed."""
        voters = self._with_directories()
        if self._member.voters.kraft_version > 0 or voters is None:
            return then(now)
        effects, offset = self._append(voters, now)
        change.is_ready, change.then = lambda: self._is_committed(offset), then
        return effects

    def _look(self, change: _Change, voter: Voter, early: bool, now: Instant) -> list[Effect]:
        """Does it listen where it says, and does it know what a voter has to know?"""
        assert voter.peer is not None
        self._probe, self._found = self._member.new_ticket(), None
        timeout_ms = self._member.config.request_timeout_ms
        question = ApiVersionsRequest(
            client_software_name="causeway", client_software_version="quorum"
        )
        change.is_ready = lambda: self._probe is None
        change.then = lambda at: self._seen(change, voter, early, at)
        return [
            ask(self._probe, voter.peer, PROBE_CHANNEL, ApiKey.API_VERSIONS, question, timeout_ms)
        ]

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None for an answer to something else."""
        if self._probe is None or answered.ticket != self._probe:
            return None
        self._probe = None
        if isinstance(answered.message, ApiVersionsResponse):
            self._found = answered.message
        return []

    def _seen(self, change: _Change, voter: Voter, early: bool, now: Instant) -> list[Effect]:
        found = self._found
        if found is None or found.error_code:
            because = f"node {voter.id} does not answer at {voter.peer}; correct its endpoint, or start it"
            return self._end(change, KafkaError.REQUEST_TIMED_OUT, because)
        if _highest_version(found) < 1:
            because = f"node {voter.id} does not support {FEATURE} 1; upgrade it first"
            return self._end(change, KafkaError.INVALID_REQUEST, because)
        assert self._member.log is not None
        caught_up = self._member.log.log_end_offset
        change.is_ready = lambda: self._holds(voter.key, caught_up)
        change.then = lambda at: self._enrol(change, voter, early, at)
        return []

    def _enrol(self, change: _Change, voter: Voter, early: bool, now: Instant) -> list[Effect]:
        effects = self._propose(change, self._latest.with_voter(voter), now)
        if early:
            effects += change.tell(KafkaError.NONE, "")
            change.tell = _nobody
        return effects

    def _propose(self, change: _Change, voters: VoterSet, now: Instant) -> list[Effect]:
        effects, offset = self._append(voters, now)
        change.is_ready = lambda: self._is_committed(offset)
        change.then = lambda _: self._end(change, KafkaError.NONE, "")
        return effects

    def _append(self, voters: VoterSet, now: Instant) -> tuple[list[Effect], Offset]:
        member = self._member
        assert member.log is not None
        offset = member.log.log_end_offset
        messages: list[Message] = [voters.record()]
        if member.voters.kraft_version == 0:
            messages.insert(0, KRaftVersionRecord(version=0, kraft_version=1))
        effects = self._leading.append_control(messages, now)
        member.voters.append(offset, voters)
        return [
            *effects,
            Changed("quorum", "voters", ", ".join(str(each.key) for each in voters)),
        ], offset

    def _end(self, change: _Change, error: KafkaError, because: str) -> list[Effect]:
        if self._change is change:
            self._change = self._probe = None
        return change.tell(error, because)

    # --- going on ---

    def settle(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        while (change := self._change) is not None:
            if not self._still_leads(change):
                because = "another node leads the quorum; whether the change was made is not known"
                return effects + self._end(change, KafkaError.NOT_LEADER_OR_FOLLOWER, because)
            if now >= change.until:
                because = "the change took too long; it may still be made"
                return effects + self._end(change, KafkaError.REQUEST_TIMED_OUT, because)
            if not change.is_ready():
                return effects
            change.is_ready = lambda: False
            effects += change.then(now)
        return effects + self._of_own_accord(now)

    def _of_own_accord(self, now: Instant) -> list[Effect]:
        """Record the configured voters, once all have shown their disks, and where this one listens."""
        member = self._member
        if member.leading is None or len(self._latest) < 2:
            return []
        if self.why_not_now()[0] is not KafkaError.NONE:
            return []
        until = now + member.config.check_quorum_ms
        if member.voters.kraft_version == 0:
            change = self._begin(until, _nobody)
            return self._recorded(change, lambda _: self._end(change, KafkaError.NONE, ""), now)
        own = self._latest.get(member.config.node_id)
        endpoints = member.config.endpoints
        if own is None or not endpoints or own.endpoints == endpoints:
            return []
        return self.update(replace(own, endpoints=endpoints), until, _nobody, now)

    def _still_leads(self, change: _Change) -> bool:
        member = self._member
        return member.leading is not None and member.leader_epoch == change.leader_epoch

    def _is_committed(self, offset: Offset) -> bool:
        return self._member.high_watermark > offset

    def _holds(self, key: ReplicaKey, next_offset: Offset) -> bool:
        leading = self._member.leading
        progress = None if leading is None else leading.progresses.get(key)
        return progress is not None and progress.next_offset >= next_offset

    @property
    def _latest(self) -> VoterSet:
        return self._member.voters.latest

    def _with_directories(self) -> VoterSet | None:
        """The configured voters with the disks that they fetch with; None while one has not been seen."""
        member, leading = self._member, self._member.leading
        if leading is None:
            return None
        seen: dict[BrokerId, Any] = {
            voter.id: leading.progresses.key_of(voter).directory for voter in self._latest
        }
        seen[member.config.node_id] = member.config.directory
        return with_directories(self._latest, seen)


def _highest_version(found: ApiVersionsResponse) -> int:
    """Of kraft.version; a node that doesn't list it is taken at its word that it would vote."""
    for feature in found.supported_features:
        if feature.name == FEATURE:
            return int(feature.max_version)
    return 1


def _nobody(error: KafkaError, because: str) -> list[Effect]:
    """Nobody asked, or has been answered."""
    return []
