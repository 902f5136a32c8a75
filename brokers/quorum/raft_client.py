"""A member of the quorum behind one door: routes what comes in to the room that owns the rule, and owns none itself.

Always: what leaves after a change of the member's state leaves once that state is on the disk, so nobody hears of a
vote or an epoch that a crash could take back.

The host performs effects and tells what became of them; it asks `high_watermark`, `leading_epoch` and `arrived` after
each step.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from brokers.effects import Ask, Effect, Reply, SaveState
from brokers.events import Answered, RangeRead, Request, StateLoaded
from brokers.ids import Instant, LeaderEpoch, Offset, Peer, Ticket
from brokers.log.log import Log
from brokers.ports import Rng
from brokers.quorum.auto_join import AutoJoin
from brokers.quorum.config import QuorumConfig
from brokers.quorum.describe_quorum import DescribeQuorumRequests
from brokers.quorum.election_state import STATE_NAME, ElectionState
from brokers.quorum.elections import QuorumElections
from brokers.quorum.epoch_states import FollowerState, state_name
from brokers.quorum.fetch_requests import FetchRequests
from brokers.quorum.fetch_snapshot_requests import FetchSnapshotRequests
from brokers.quorum.ids import SnapshotId
from brokers.quorum.leader import MetadataLeader
from brokers.quorum.log_fetcher import LogFetcher
from brokers.quorum.quorum_epochs import QuorumEpochs
from brokers.quorum.quorum_state import QuorumState
from brokers.quorum.snapshot_fetcher import SnapshotFetcher
from brokers.quorum.voter_changes import VoterChanges
from brokers.quorum.voter_requests import VoterRequests
from brokers.quorum.voters import VoterSet, VoterSetHistory
from brokers.timers import earliest
from brokers.wire.messages.api_keys import ApiKey

Answer: TypeAlias = Callable[[Request, Instant], list[Effect]]


class RaftClient:
    """`deadline` is when it wants `on_time`. Made from what the disk holds; over when the disk refuses."""

    voting: type[QuorumElections] = QuorumElections
    leading: type[MetadataLeader] = MetadataLeader
    following: type[LogFetcher] = LogFetcher
    serving: type[FetchRequests] = FetchRequests

    def __init__(
        self,
        config: QuorumConfig,
        rng: Rng,
        *,
        log: Log,
        state: ElectionState,
        voters: VoterSetHistory,
        snapshot: SnapshotId,
        was_voter: bool = False,
        last_ticket: Ticket | None = None,
    ) -> None:
        member = self._member = QuorumState(
            config, rng, log=log, state=state, voters=voters, snapshot=snapshot
        )
        if last_ticket is not None:
            member.last_ticket = last_ticket
        self._announcing = QuorumEpochs(member)
        self._leading = self.leading(member, self._announcing)
        self._voting = self.voting(member, self._leading.begin)
        self._downloading = SnapshotFetcher(member)
        self._following = self.following(member, self._downloading)
        self._serving = self.serving(member, self._leading)
        self._handing_out = FetchSnapshotRequests(member)
        self._changes = VoterChanges(member, self._leading)
        self._joining = AutoJoin(member, was_voter=was_voter)
        voter_requests = VoterRequests(member, self._changes)
        self._answers: Mapping[int, Answer] = {
            ApiKey.FETCH: self._serving.on_request,
            ApiKey.VOTE: self._voting.on_request,
            ApiKey.BEGIN_QUORUM_EPOCH: self._announcing.on_begin,
            ApiKey.END_QUORUM_EPOCH: self._announcing.on_end,
            ApiKey.DESCRIBE_QUORUM: DescribeQuorumRequests(member).on_request,
            ApiKey.FETCH_SNAPSHOT: self._handing_out.on_request,
            ApiKey.ADD_RAFT_VOTER: voter_requests.on_add,
            ApiKey.REMOVE_RAFT_VOTER: voter_requests.on_remove,
            ApiKey.UPDATE_RAFT_VOTER: voter_requests.on_update,
        }
        self._saves_asked = 0
        self._saves_done = 0
        self._held: deque[tuple[int, Effect]] = deque()  # until so many saves are done
        self._postponed: list[Callable[[Instant], list[Effect]]] = []  # until there is a log
        self._installing: tuple[SnapshotId, VoterSet | None] | None = None
        self.deadline: Instant | None = None

    # --- what it is ---

    @property
    def leader_epoch(self) -> LeaderEpoch:
        return self._member.leader_epoch

    @property
    def state(self) -> str:
        """What it is now, as Kafka's metrics say it."""
        return state_name(self._member.role, is_voter=self._member.is_voter)

    @property
    def leading_epoch(self) -> LeaderEpoch | None:
        """The epoch that this member leads."""
        leading = self._member.leading
        return None if leading is None else leading.leader_epoch

    @property
    def epoch_start(self) -> Offset:
        """Of the epoch that this member leads: everything from here on it has appended itself."""
        leading = self._member.leading
        assert leading is not None
        return leading.epoch_start

    @property
    def is_settled(self) -> bool:
        """It leads, and knows what is committed."""
        return self._leading.is_settled

    @property
    def has_heard(self) -> bool:
        """What a leader of this life says is committed is committed here."""
        role = self._member.role
        if not isinstance(role, FollowerState) or not role.has_fetched:
            return self.is_settled
        return self.high_watermark >= role.told_committed

    @property
    def leader(self) -> Peer | None:
        return self._member.leader

    @property
    def high_watermark(self) -> Offset:
        return self._member.high_watermark

    @property
    def log(self) -> Log | None:
        """None while it is being cut."""
        return self._member.log

    @property
    def voters(self) -> VoterSetHistory:
        return self._member.voters

    @property
    def snapshot(self) -> SnapshotId:
        return self._member.snapshot

    @property
    def arrived(self) -> tuple[SnapshotId, bytes] | None:
        """A snapshot that was fetched: keep it durably, then `install` it; or `refuse` it."""
        return self._downloading.arrived

    @property
    def last_ticket(self) -> Ticket:
        """For the next one of the same process: answers to this one's questions may still come."""
        return self._member.last_ticket

    @property
    def has_handed_over(self) -> bool:
        """After `leave`: nobody need wait for this member any more."""
        return self._member.leading is None and self._announcing.is_heard

    # --- in ---

    def start(self, now: Instant) -> list[Effect]:
        """Begin to ask. A lone voter is elected by nobody else; others wait a moment for one another."""
        member = self._member
        member.role.until = now + member.turn()
        effects = self._step(self._restart_log(now), now)
        if member.is_voter and len(member.voters.latest) == 1:
            effects += self._with_log(self._voting.consider, now)
        return effects

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        """One of the quorum's requests, of the keys in `messages`; the reply may come later."""
        return self._with_log(lambda at: self._answers[request.api_key](request, at), now)

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        return self._with_log(lambda at: self._take_answer(answered, at), now)

    def on_time(self, now: Instant) -> list[Effect]:
        if self.deadline is None or now < self.deadline or self._member.log is None:
            return []
        rooms = (
            self._leading, self._announcing, self._voting, self._following, self._downloading,
            self._handing_out,
        )  # fmt: skip
        effects: list[Effect] = []
        for room in rooms:
            effects += room.on_time(now)
        return self._step(effects, now)

    def on_written(self, next_offset: Offset, now: Instant) -> list[Effect]:
        """Everything below is on the disk."""
        if self._member.log is None:
            return []  # of the log that has been cut
        self._member.log.on_written(next_offset)
        return self._step([], now)

    def on_read(self, read: RangeRead, now: Instant) -> list[Effect]:
        return self._step(self._serving.on_read(read, now) or [], now)

    def on_loaded(self, event: StateLoaded, now: Instant) -> list[Effect]:
        return self._with_log(lambda at: self._handing_out.on_loaded(event, at), now)

    def on_saved(self, now: Instant) -> list[Effect]:
        """One more quorum state is durable."""
        self._saves_done += 1
        released: list[Effect] = []
        while self._held and self._held[0][0] <= self._saves_done:
            released.append(self._held.popleft()[1])
        if self._saves_done < self._saves_asked:
            return released
        return released + self._step(self._voting.on_saved(now), now)

    def on_opened(self, log: Log, now: Instant) -> list[Effect]:
        """What is left of a log that has been cut."""
        self._member.log = log
        self._member.voters.cut(log.log_end_offset)
        effects = self._install(now) if self._installing else []
        postponed, self._postponed = self._postponed, []
        for act in postponed:
            effects += self._with_log(act, now)
        return self._step(effects, now)

    # --- what its host does ---

    def append(self, batch: bytearray, now: Instant) -> list[Effect]:
        """A batch of the leader's host, stamped with the log's end and this epoch."""
        return self._step(self._leading.append(batch, now), now)

    def snapshot_taken(self, snapshot: SnapshotId) -> None:
        """The host has made a snapshot of what is committed, and it is durable."""
        self._member.snapshot = max(self._member.snapshot, snapshot)

    def trim(self, log_start_offset: Offset) -> list[Effect]:
        """Drop what a snapshot holds."""
        log = self._member.log
        assert log_start_offset <= self._member.snapshot.end_offset
        if log is None or log_start_offset > log.log_end_offset:
            return []
        self._member.voters.forget_below(log_start_offset)
        return [*log.trim(log_start_offset)]

    def install(self, snapshot: SnapshotId, voters: VoterSet | None, now: Instant) -> list[Effect]:
        """A snapshot that arrived is durable: the log begins anew behind it."""
        self._installing = (snapshot, voters)
        return self._step(self._install(now), now)

    def refuse(self, now: Instant) -> list[Effect]:
        """A snapshot that arrived is damaged: it is asked for again."""
        self._downloading.refused(now)
        return self._step([], now)

    def leave(self, now: Instant) -> list[Effect]:
        """An orderly stop: hand the lead over, and stand for it no more."""
        self._member.is_leaving = True
        if self._member.leading is None:
            return []
        return self._step(self._leading.resign(now, "the node stops"), now)

    # --- inside ---

    def _take_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        for room in (
            self._following, self._voting, self._announcing, self._downloading, self._changes,
            self._joining,
        ):  # fmt: skip
            effects = room.on_answer(answered, now)
            if effects is not None:
                return effects
        return []  # nobody cares any more

    def _with_log(self, act: Callable[[Instant], list[Effect]], now: Instant) -> list[Effect]:
        if self._member.log is None:
            self._postponed.append(act)
            return []
        return self._step(act(now), now)

    def _step(self, effects: list[Effect], now: Instant) -> list[Effect]:
        """After everything that happens: commit, go on with what waited for it, and ask for what is next."""
        if self._member.log is not None:
            self._leading.commit()
            effects += self._changes.settle(now)
            effects += self._leading.leave_if_removed(now)
            effects += self._serving.settle(now)
            effects += self._following.settle(now)
            effects += self._joining.settle(now)
        self.deadline = self._next_deadline()
        return self.held_back(effects)

    def _next_deadline(self) -> Instant | None:
        if self._member.log is None:
            return None
        rooms = (
            self._leading, self._announcing, self._voting, self._following, self._downloading,
            self._handing_out, self._serving, self._changes, self._joining,
        )  # fmt: skip
        return earliest(*(room.deadline for room in rooms))

    def held_back(self, effects: Iterable[Effect]) -> list[Effect]:
        """What others would hear waits for the states that were saved before it."""
        now_free: list[Effect] = []
        for effect in _with_last_state(effects):
            if isinstance(effect, SaveState) and effect.name == STATE_NAME:
                self._saves_asked += 1
            elif self._saves_done < self._saves_asked and isinstance(effect, Reply | Ask):
                self._held.append((self._saves_asked, effect))
                continue
            now_free.append(effect)
        return now_free

    def _restart_log(self, now: Instant) -> list[Effect]:
        """A crash may have come between a snapshot and the new beginning of the log behind it."""
        member, log = self._member, self._member.log
        assert log is not None
        snapshot = member.snapshot
        if log.log_end_offset >= snapshot.end_offset and not _is_stray(log, snapshot):
            return []
        self._installing = (snapshot, None)
        return self._install(now)

    def _install(self, now: Instant) -> list[Effect]:
        member, log = self._member, self._member.log
        assert self._installing is not None and log is not None
        snapshot, voters = self._installing
        member.high_watermark = max(member.high_watermark, snapshot.end_offset)
        if log.log_end_offset > max(snapshot.end_offset, log.log_start_offset):
            member.log = None
            return [log.cut(log.log_start_offset)]
        self._installing = None
        member.snapshot = max(member.snapshot, snapshot)
        if voters is not None:
            member.voters.restore(voters)
        self._downloading.installed()
        log.epochs.drop_from(0)
        effects = log.restart_at(snapshot.end_offset)
        return [*effects, *log.begin_epoch(snapshot.leader_epoch)]


def _with_last_state(effects: Iterable[Effect]) -> list[Effect]:
    """Of several states that one step saves, only the last need reach the disk."""
    kept: list[Effect] = []
    last: SaveState | None = None
    for effect in effects:
        if isinstance(effect, SaveState) and effect.name == STATE_NAME:
            last = effect
        else:
            kept.append(effect)
    return kept if last is None else [last, *kept]


def _is_stray(log: Log, snapshot: SnapshotId) -> bool:
    """The log goes beyond the snapshot, and is another history."""
    before = snapshot.end_offset - 1
    if before < log.log_start_offset:
        return False
    return log.epochs.epoch_at(before) != snapshot.leader_epoch
