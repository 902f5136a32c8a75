"""A replica of the metadata log (Kafka's KafkaRaftClient): passes each event on to the module that handles it.

Always: responses and requests that follow a change of the election state are sent once that state is durable, so no
other node sees a vote or an epoch that a crash could revert.

The host performs the effects and reports their results; after each step it reads `high_watermark`, `leading_epoch` and
`fetched_snapshot`.
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

RequestHandler: TypeAlias = Callable[[Request, Instant], list[Effect]]


class RaftClient:
    """`on_time` is due at `deadline`. Made from the recovered log and election state."""

    elections_class: type[QuorumElections] = QuorumElections
    leader_class: type[MetadataLeader] = MetadataLeader
    log_fetcher_class: type[LogFetcher] = LogFetcher
    fetch_requests_class: type[FetchRequests] = FetchRequests

    def __init__(
        self,
        config: QuorumConfig,
        rng: Rng,
        *,
        log: Log,
        election_state: ElectionState,
        voters: VoterSetHistory,
        snapshot: SnapshotId,
        was_voter: bool = False,
        last_ticket: Ticket | None = None,
    ) -> None:
        quorum = self._quorum = QuorumState(
            config, rng, log=log, election_state=election_state, voters=voters, snapshot=snapshot
        )
        if last_ticket is not None:
            quorum.last_ticket = last_ticket
        self._epochs = QuorumEpochs(quorum)
        self._leader = self.leader_class(quorum, self._epochs)
        self._elections = self.elections_class(quorum, self._leader.begin)
        self._snapshot_fetcher = SnapshotFetcher(quorum)
        self._log_fetcher = self.log_fetcher_class(quorum, self._snapshot_fetcher)
        self._fetch_requests = self.fetch_requests_class(quorum, self._leader)
        self._snapshot_requests = FetchSnapshotRequests(quorum)
        self._changes = VoterChanges(quorum, self._leader)
        self._auto_join = AutoJoin(quorum, was_voter=was_voter)
        voter_requests = VoterRequests(quorum, self._changes)
        self._handlers: Mapping[int, RequestHandler] = {
            ApiKey.FETCH: self._fetch_requests.on_request,
            ApiKey.VOTE: self._elections.on_request,
            ApiKey.BEGIN_QUORUM_EPOCH: self._epochs.on_begin,
            ApiKey.END_QUORUM_EPOCH: self._epochs.on_end,
            ApiKey.DESCRIBE_QUORUM: DescribeQuorumRequests(quorum).on_request,
            ApiKey.FETCH_SNAPSHOT: self._snapshot_requests.on_request,
            ApiKey.ADD_RAFT_VOTER: voter_requests.on_add,
            ApiKey.REMOVE_RAFT_VOTER: voter_requests.on_remove,
            ApiKey.UPDATE_RAFT_VOTER: voter_requests.on_update,
        }
        self._saves_started = 0
        self._saves_done = 0
        self._waiting_for_saves: deque[tuple[int, Effect]] = deque()  # with the number of saves
        self._postponed: list[Callable[[Instant], list[Effect]]] = []  # until `on_opened`
        self._installing: tuple[SnapshotId, VoterSet | None] | None = None
        self.deadline: Instant | None = None

    # --- state ---

    @property
    def leader_epoch(self) -> LeaderEpoch:
        return self._quorum.leader_epoch

    @property
    def state(self) -> str:
        """The name of the epoch state in Kafka's metrics."""
        return state_name(self._quorum.state, is_voter=self._quorum.is_voter)

    @property
    def leading_epoch(self) -> LeaderEpoch | None:
        """The epoch that this replica leads."""
        leader_state = self._quorum.leader_state
        return None if leader_state is None else leader_state.leader_epoch

    @property
    def epoch_start(self) -> Offset:
        """The first offset of the epoch that this replica leads: it appended everything from there on."""
        leader_state = self._quorum.leader_state
        assert leader_state is not None
        return leader_state.epoch_start

    @property
    def is_settled(self) -> bool:
        """It leads, and its high watermark is exact."""
        return self._leader.is_settled

    @property
    def is_caught_up(self) -> bool:
        """Its high watermark has reached the one in the leader's last response; for a leader: `is_settled`."""
        state = self._quorum.state
        if not isinstance(state, FollowerState) or not state.has_fetched:
            return self.is_settled
        return self.high_watermark >= state.leader_high_watermark

    @property
    def leader(self) -> Peer | None:
        return self._quorum.leader

    @property
    def high_watermark(self) -> Offset:
        return self._quorum.high_watermark

    @property
    def log(self) -> Log | None:
        """None while it is truncated."""
        return self._quorum.log

    @property
    def voters(self) -> VoterSetHistory:
        return self._quorum.voters

    @property
    def snapshot(self) -> SnapshotId:
        return self._quorum.snapshot

    @property
    def fetched_snapshot(self) -> tuple[SnapshotId, bytes] | None:
        """A fetched snapshot: the host persists it and calls `install`, or `reject`."""
        return self._snapshot_fetcher.fetched_snapshot

    @property
    def last_ticket(self) -> Ticket:
        """The next RaftClient of this process continues from it: responses to this one may still come."""
        return self._quorum.last_ticket

    @property
    def has_resigned(self) -> bool:
        """After `leave`: it leads no more, and every EndQuorumEpoch is answered or has failed."""
        return self._quorum.leader_state is None and self._epochs.has_no_requests

    # --- events ---

    def start(self, now: Instant) -> list[Effect]:
        """A lone voter starts its election at once; other voters after a delay by their order."""
        quorum = self._quorum
        quorum.state.until = now + quorum.staggered_delay()
        effects = self._step(self._restart_log(now), now)
        if quorum.is_voter and len(quorum.voters.latest) == 1:
            effects += self._with_log(self._elections.start_pre_vote, now)
        return effects

    def on_request(self, request: Request, now: Instant) -> list[Effect]:
        """A request of one of the API keys in `messages`; the reply may come later."""
        return self._with_log(lambda at: self._handlers[request.api_key](request, at), now)

    def on_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        return self._with_log(lambda at: self._route_answer(answered, at), now)

    def on_time(self, now: Instant) -> list[Effect]:
        if self.deadline is None or now < self.deadline or self._quorum.log is None:
            return []
        modules = (
            self._leader, self._epochs, self._elections, self._log_fetcher, self._snapshot_fetcher,
            self._snapshot_requests,
        )  # fmt: skip
        effects: list[Effect] = []
        for module in modules:
            effects += module.on_time(now)
        return self._step(effects, now)

    def on_written(self, next_offset: Offset, now: Instant) -> list[Effect]:
        """Everything below `next_offset` is written, by a voter also synced."""
        if self._quorum.log is None:
            return []  # from before the truncation
        self._quorum.log.on_written(next_offset)
        return self._step([], now)

    def on_read(self, read: RangeRead, now: Instant) -> list[Effect]:
        return self._step(self._fetch_requests.on_read(read, now) or [], now)

    def on_loaded(self, event: StateLoaded, now: Instant) -> list[Effect]:
        return self._with_log(lambda at: self._snapshot_requests.on_loaded(event, at), now)

    def on_saved(self, now: Instant) -> list[Effect]:
        """One more save of the election state is durable."""
        self._saves_done += 1
        released: list[Effect] = []
        while self._waiting_for_saves and self._waiting_for_saves[0][0] <= self._saves_done:
            released.append(self._waiting_for_saves.popleft()[1])
        if self._saves_done < self._saves_started:
            return released
        return released + self._step(self._elections.on_saved(now), now)

    def on_opened(self, log: Log, now: Instant) -> list[Effect]:
        """`log` is what remained after a truncation."""
        self._quorum.log = log
        self._quorum.voters.truncate_new_entries(log.log_end_offset)
        effects = self._install(now) if self._installing else []
        postponed, self._postponed = self._postponed, []
        for act in postponed:
            effects += self._with_log(act, now)
        return self._step(effects, now)

    # --- calls of the host ---

    def append(self, batch: bytearray, now: Instant) -> list[Effect]:
        """Append a batch whose base offset is the log end offset, with this epoch."""
        return self._step(self._leader.append(batch, now), now)

    def snapshot_taken(self, snapshot: SnapshotId) -> None:
        """The host has persisted a snapshot of committed records."""
        self._quorum.snapshot = max(self._quorum.snapshot, snapshot)

    def trim(self, log_start_offset: Offset) -> list[Effect]:
        """Delete segments below `log_start_offset`, which the snapshot covers."""
        log = self._quorum.log
        assert log_start_offset <= self._quorum.snapshot.end_offset
        if log is None or log_start_offset > log.log_end_offset:
            return []
        self._quorum.voters.truncate_old_entries(log_start_offset)
        return [*log.trim(log_start_offset)]

    def install(self, snapshot: SnapshotId, voters: VoterSet | None, now: Instant) -> list[Effect]:
        """The fetched snapshot is durable: restart the log at its end offset."""
        self._installing = (snapshot, voters)
        return self._step(self._install(now), now)

    def reject(self, now: Instant) -> list[Effect]:
        """The fetched snapshot is corrupt: fetch it again."""
        self._snapshot_fetcher.reject(now)
        return self._step([], now)

    def leave(self, now: Instant) -> list[Effect]:
        """Shut down: resign, and start no more elections."""
        self._quorum.is_shutting_down = True
        if self._quorum.leader_state is None:
            return []
        return self._step(self._leader.resign(now, "the node stops"), now)

    # --- private ---

    def _route_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        for module in (
            self._log_fetcher, self._elections, self._epochs, self._snapshot_fetcher, self._changes,
            self._auto_join,
        ):  # fmt: skip
            effects = module.on_answer(answered, now)
            if effects is not None:
                return effects
        return []  # to an abandoned request

    def _with_log(self, act: Callable[[Instant], list[Effect]], now: Instant) -> list[Effect]:
        if self._quorum.log is None:
            self._postponed.append(act)
            return []
        return self._step(act(now), now)

    def _step(self, effects: list[Effect], now: Instant) -> list[Effect]:
        """After each event: advance the high watermark, complete what waited for it, send the next requests."""
        if self._quorum.log is not None:
            self._leader.commit()
            effects += self._changes.settle(now)
            effects += self._leader.resign_if_removed(now)
            effects += self._fetch_requests.settle(now)
            effects += self._log_fetcher.settle(now)
            effects += self._auto_join.settle(now)
        self.deadline = self._next_deadline()
        return self.wait_for_saves(effects)

    def _next_deadline(self) -> Instant | None:
        if self._quorum.log is None:
            return None
        modules = (
            self._leader, self._epochs, self._elections, self._log_fetcher, self._snapshot_fetcher,
            self._snapshot_requests, self._fetch_requests, self._changes, self._auto_join,
        )  # fmt: skip
        return earliest(*(module.deadline for module in modules))

    def wait_for_saves(self, effects: Iterable[Effect]) -> list[Effect]:
        """Hold back responses and requests until the election states saved before them are durable."""
        now_free: list[Effect] = []
        for effect in _with_last_state(effects):
            if isinstance(effect, SaveState) and effect.name == STATE_NAME:
                self._saves_started += 1
            elif self._saves_done < self._saves_started and isinstance(effect, Reply | Ask):
                self._waiting_for_saves.append((self._saves_started, effect))
                continue
            now_free.append(effect)
        return now_free

    def _restart_log(self, now: Instant) -> list[Effect]:
        """Complete an `install` that a crash interrupted after the snapshot was persisted."""
        quorum, log = self._quorum, self._quorum.log
        assert log is not None
        snapshot = quorum.snapshot
        if log.log_end_offset >= snapshot.end_offset and not _is_stray(log, snapshot):
            return []
        self._installing = (snapshot, None)
        return self._install(now)

    def _install(self, now: Instant) -> list[Effect]:
        quorum, log = self._quorum, self._quorum.log
        assert self._installing is not None and log is not None
        snapshot, voters = self._installing
        quorum.high_watermark = max(quorum.high_watermark, snapshot.end_offset)
        if log.log_end_offset > max(snapshot.end_offset, log.log_start_offset):
            quorum.log = None
            return [log.cut(log.log_start_offset)]
        self._installing = None
        quorum.snapshot = max(quorum.snapshot, snapshot)
        if voters is not None:
            quorum.voters.restore(voters)
        self._snapshot_fetcher.installed()
        log.epochs.drop_from(0)
        effects = log.restart_at(snapshot.end_offset)
        return [*effects, *log.begin_epoch(snapshot.leader_epoch)]


def _with_last_state(effects: Iterable[Effect]) -> list[Effect]:
    """Of several election states that one step saves, only the last is written."""
    kept: list[Effect] = []
    last: SaveState | None = None
    for effect in effects:
        if isinstance(effect, SaveState) and effect.name == STATE_NAME:
            last = effect
        else:
            kept.append(effect)
    return kept if last is None else [last, *kept]


def _is_stray(log: Log, snapshot: SnapshotId) -> bool:
    """Whether the log, though longer, diverges from the snapshot."""
    before = snapshot.end_offset - 1
    if before < log.log_start_offset:
        return False
    return log.epochs.epoch_at(before) != snapshot.leader_epoch
