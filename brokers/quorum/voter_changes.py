"""Changes of the voter set (AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter; KIP-853). Only a leader makes them.

Always: one at a time; none before the leader has committed a record of its epoch; a new voter has caught up; a set is
in force once it is appended, and consecutive sets differ in one voter, so that any two majorities of them overlap.

Configured voters have no directory ids. Once all of them have fetched with theirs, the leader records the set with the
directory ids; from then on a node with an empty directory is another voter.
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

Respond = Callable[[KafkaError, str], list[Effect]]
FEATURE = "kraft.version"
_NO_ENDPOINT = "a voter needs an endpoint"


@dataclass(slots=True)
class _Change:
    """A change under way: `then` runs once `is_ready`. `respond` answers the request."""

    leader_epoch: LeaderEpoch
    until: Instant
    respond: Respond
    is_ready: Callable[[], bool]
    then: Callable[[Instant], list[Effect]]


class VoterChanges:
    """`settle` continues the change under way; it is called after every step."""

    def __init__(self, quorum: QuorumState, leader: MetadataLeader) -> None:
        self._quorum = quorum
        self._leader = leader
        self._change: _Change | None = None
        self._probe: Ticket | None = None
        self._found: ApiVersionsResponse | None = None

    @property
    def deadline(self) -> Instant | None:
        return None if self._change is None else self._change.until

    # --- requests ---

    def add(
        self, voter: Voter, until: Instant, respond: Respond, *, early: bool, now: Instant
    ) -> list[Effect]:
        """`early`: respond once the record is appended, not committed."""
        voters = self._quorum.voters.latest
        error, because = self.why_not_now()
        if error is KafkaError.NONE and voters.get(voter.id) is not None:
            error, because = KafkaError.DUPLICATE_VOTER, f"node {voter.id} is a voter already"
        if error is KafkaError.NONE and voter.peer is None:
            error, because = KafkaError.INVALID_REQUEST, _NO_ENDPOINT
        if error is KafkaError.NONE and voter.directory == NO_DIRECTORY:
            error, because = KafkaError.INVALID_REQUEST, "a voter needs the id of its directory"
        if error is not KafkaError.NONE:
            return respond(error, because)
        change = self._begin(until, respond)
        return self._recorded(change, lambda at: self._probe_voter(change, voter, early, at), now)

    def remove(
        self, key: ReplicaKey, until: Instant, respond: Respond, now: Instant
    ) -> list[Effect]:
        voters = self._quorum.voters.latest
        error, because = self.why_not_now()
        if error is KafkaError.NONE and not self._is_exactly(key):
            error, because = KafkaError.VOTER_NOT_FOUND, f"{key} is no voter"
        if error is KafkaError.NONE and len(voters) == 1:
            error, because = (
                KafkaError.INVALID_REQUEST,
                "it is the last voter; add another one first",
            )
        if error is KafkaError.NONE and not self._leader.has_majority(voters.without(key.id), now):
            because = (
                "without it too few voters are heard of; bring back, or remove, those that are not"
            )
            error = KafkaError.REQUEST_TIMED_OUT
        if error is not KafkaError.NONE:
            return respond(error, because)
        change = self._begin(until, respond)
        return self._recorded(
            change, lambda at: self._append_voters(change, self._latest.without(key.id), at), now
        )

    def update(self, voter: Voter, until: Instant, respond: Respond, now: Instant) -> list[Effect]:
        """Replace a voter's endpoints and supported versions."""
        if not self._latest.has(voter.key):
            return respond(KafkaError.VOTER_NOT_FOUND, f"{voter.key} is no voter")
        if self._quorum.voters.kraft_version == 0:
            if voter.peer is not None:
                self._quorum.update_endpoint(voter.peer)
            return respond(KafkaError.NONE, "")
        if self._latest.get(voter.id) == voter:
            return respond(KafkaError.NONE, "")
        if voter.peer is None:
            return respond(KafkaError.INVALID_REQUEST, _NO_ENDPOINT)
        error, because = self.why_not_now()
        if error is not KafkaError.NONE:
            return respond(error, because)
        change = self._begin(until, respond)
        return self._append_voters(change, self._latest.with_voter(voter), now)

    def why_not_now(self) -> tuple[KafkaError, str]:
        quorum = self._quorum
        if quorum.leader_state is None:
            return KafkaError.NOT_LEADER_OR_FOLLOWER, "another node leads the quorum"
        if not self._leader.is_settled:
            because = "the leader is new and does not know yet what is committed; try again"
            return KafkaError.REQUEST_TIMED_OUT, because
        if self._change is not None or quorum.voters.latest_offset >= quorum.high_watermark:
            because = "another change of the voters is under way; try again when it is done"
            return KafkaError.REQUEST_TIMED_OUT, because
        if quorum.voters.kraft_version == 0 and self._with_directories() is None:
            because = "some voter's directory is not known yet: start all of them, then try again"
            return KafkaError.UNSUPPORTED_VERSION, because
        return KafkaError.NONE, ""

    def _is_exactly(self, key: ReplicaKey) -> bool:
        """Whether `key` is a voter, by id and directory id, also before the set is recorded."""
        voter = (self._with_directories() or self._latest).get(key.id)
        return voter is not None and voter.key == key

    # --- steps ---

    def _begin(self, until: Instant, respond: Respond) -> _Change:
        epoch = self._quorum.leader_epoch
        self._change = _Change(epoch, until, respond, lambda: False, lambda _: [])
        return self._change

    def _recorded(
        self, change: _Change, then: Callable[[Instant], list[Effect]], now: Instant
    ) -> list[Effect]:
        """Before the first change, record the configured set with directory ids; `then` runs once that is committed."""
        voters = self._with_directories()
        if self._quorum.voters.kraft_version > 0 or voters is None:
            return then(now)
        effects, offset = self._append(voters, now)
        change.is_ready, change.then = lambda: self._is_committed(offset), then
        return effects

    def _probe_voter(
        self, change: _Change, voter: Voter, early: bool, now: Instant
    ) -> list[Effect]:
        """Check that the voter listens at its endpoint, and which kraft.version it supports."""
        assert voter.peer is not None
        self._probe, self._found = self._quorum.new_ticket(), None
        timeout_ms = self._quorum.config.request_timeout_ms
        request = ApiVersionsRequest(
            client_software_name="causeway", client_software_version="quorum"
        )
        change.is_ready = lambda: self._probe is None
        change.then = lambda at: self._on_probed(change, voter, early, at)
        return [
            ask(self._probe, voter.peer, PROBE_CHANNEL, ApiKey.API_VERSIONS, request, timeout_ms)
        ]

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect] | None:
        """None if this module did not send the request."""
        if self._probe is None or answered.ticket != self._probe:
            return None
        self._probe = None
        if isinstance(answered.message, ApiVersionsResponse):
            self._found = answered.message
        return []

    def _on_probed(self, change: _Change, voter: Voter, early: bool, now: Instant) -> list[Effect]:
        found = self._found
        if found is None or found.error_code:
            because = f"node {voter.id} does not answer at {voter.peer}; correct its endpoint, or start it"
            return self._end(change, KafkaError.REQUEST_TIMED_OUT, because)
        if _highest_version(found) < 1:
            because = f"node {voter.id} does not support {FEATURE} 1; upgrade it first"
            return self._end(change, KafkaError.INVALID_REQUEST, because)
        assert self._quorum.log is not None
        caught_up = self._quorum.log.log_end_offset
        change.is_ready = lambda: self._holds(voter.key, caught_up)
        change.then = lambda at: self._add_voter(change, voter, early, at)
        return []

    def _add_voter(self, change: _Change, voter: Voter, early: bool, now: Instant) -> list[Effect]:
        effects = self._append_voters(change, self._latest.with_voter(voter), now)
        if early:
            effects += change.respond(KafkaError.NONE, "")
            change.respond = _no_response
        return effects

    def _append_voters(self, change: _Change, voters: VoterSet, now: Instant) -> list[Effect]:
        effects, offset = self._append(voters, now)
        change.is_ready = lambda: self._is_committed(offset)
        change.then = lambda _: self._end(change, KafkaError.NONE, "")
        return effects

    def _append(self, voters: VoterSet, now: Instant) -> tuple[list[Effect], Offset]:
        quorum = self._quorum
        assert quorum.log is not None
        offset = quorum.log.log_end_offset
        messages: list[Message] = [voters.record()]
        if quorum.voters.kraft_version == 0:
            messages.insert(0, KRaftVersionRecord(version=0, kraft_version=1))
        effects = self._leader.append_control(messages, now)
        quorum.voters.add_at(offset, voters)
        return [
            *effects,
            Changed("quorum", "voters", ", ".join(str(each.key) for each in voters)),
        ], offset

    def _end(self, change: _Change, error: KafkaError, because: str) -> list[Effect]:
        if self._change is change:
            self._change = self._probe = None
        return change.respond(error, because)

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
        return effects + self._maybe_update_voters(now)

    def _maybe_update_voters(self, now: Instant) -> list[Effect]:
        """Record the configured voters once all directory ids are known, then this leader's new endpoints."""
        quorum = self._quorum
        if quorum.leader_state is None or len(self._latest) < 2:
            return []
        if self.why_not_now()[0] is not KafkaError.NONE:
            return []
        until = now + quorum.config.check_quorum_ms
        if quorum.voters.kraft_version == 0:
            change = self._begin(until, _no_response)
            return self._recorded(change, lambda _: self._end(change, KafkaError.NONE, ""), now)
        own = self._latest.get(quorum.config.node_id)
        endpoints = quorum.config.endpoints
        if own is None or not endpoints or own.endpoints == endpoints:
            return []
        return self.update(replace(own, endpoints=endpoints), until, _no_response, now)

    def _still_leads(self, change: _Change) -> bool:
        quorum = self._quorum
        return quorum.leader_state is not None and quorum.leader_epoch == change.leader_epoch

    def _is_committed(self, offset: Offset) -> bool:
        return self._quorum.high_watermark > offset

    def _holds(self, key: ReplicaKey, next_offset: Offset) -> bool:
        leader_state = self._quorum.leader_state
        progress = None if leader_state is None else leader_state.tracker.get(key)
        return progress is not None and progress.next_offset >= next_offset

    @property
    def _latest(self) -> VoterSet:
        return self._quorum.voters.latest

    def _with_directories(self) -> VoterSet | None:
        """The latest voters with the directory ids of their fetches; None while one is not known."""
        quorum, leader_state = self._quorum, self._quorum.leader_state
        if leader_state is None:
            return None
        seen: dict[BrokerId, Any] = {
            voter.id: leader_state.tracker.key_of(voter).directory for voter in self._latest
        }
        seen[quorum.config.node_id] = quorum.config.directory
        return with_directories(self._latest, seen)


def _highest_version(found: ApiVersionsResponse) -> int:
    """The highest kraft.version of a node; 1 for a node that does not list the feature."""
    for feature in found.supported_features:
        if feature.name == FEATURE:
            return int(feature.max_version)
    return 1


def _no_response(error: KafkaError, because: str) -> list[Effect]:
    """For a change without a request, or whose request has been answered."""
    return []
