"""One life of a member: its raft, the host that performs its effects one after another, and a client that writes."""

import json
import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from brokers.effects import (
    Append,
    Ask,
    Changed,
    LoadState,
    ReadRange,
    Reply,
    SaveEpochs,
    SaveState,
    TrimLog,
    TruncateLog,
)
from brokers.events import Answered, Request
from brokers.quorum.config import QuorumConfig
from brokers.quorum.control_records import control_messages
from brokers.quorum.election_state import STATE_NAME, VOTER_NAME, ElectionState
from brokers.quorum.ids import ReplicaKey, SnapshotId, snapshot_id
from brokers.quorum.raft_client import RaftClient
from brokers.quorum.voters import QuorumEndpoint, Voter, VoterSet, VoterSetHistory
from brokers.records.batch import HEADER_SIZE
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsResponse
from tests.kernel.timeline import Alarm
from tests.playbooks.quorum.disk import Disk

POINTER = "pointer"


class BrokerState:
    """`world` is what it lives in: its time, its network, its checker."""

    def __init__(
        self, world: Any, config: QuorumConfig, disk: Disk, make: type[RaftClient]
    ) -> None:
        self.world, self.config, self.disk = world, config, disk
        self.id = config.node_id
        self.key: ReplicaKey = config.key
        self.rng: random.Random = world.rng
        self.is_over = False
        self.changes: list[Changed] = []
        self._requests: dict[int, Request] = {}
        self._log_generation = 0
        self._syncing = False
        self._saves_until = 0
        self._alarm = Alarm(world, self._on_time)
        self._waiting: dict[int, tuple[int, bytes]] = {}  # client's writes by next offset
        self.history: list[
            tuple[int, bytes]
        ] = []  # the committed batches, as a state machine has them
        self._applied = 0
        self._keeping: SnapshotId | None = None  # a snapshot that has arrived
        self.high_watermark = 0
        self.raft = self._open(make)
        self.high_watermark = self.raft.high_watermark
        self.do(self.raft.start(self.now))

    @property
    def now(self) -> int:
        return self.world.clock_of(self.id)

    def _open(self, make: type[RaftClient]) -> RaftClient:
        disk = self.disk
        voters = VoterSetHistory(self.config.voters)
        snapshot = SnapshotId(0, 0)
        if POINTER in disk.states:
            found = snapshot_id(disk.states[POINTER].decode())
            assert found is not None
            snapshot = found
            self.history, recorded = unpack(disk.states[snapshot.file_name])
            self._applied = snapshot.end_offset
            voters.restore(recorded)
        for header, batch in disk.batches:
            if header.is_control and header.base_offset >= snapshot.end_offset:
                voters.add_records(header.base_offset, control_messages(batch))
        state = disk.states.get(STATE_NAME)
        return make(
            self.config,
            self.rng,
            log=disk.open(),
            election_state=ElectionState() if state is None else ElectionState.decode(state),
            voters=voters,
            snapshot=snapshot,
            was_voter=VOTER_NAME in disk.states,
        )

    # --- events in ---

    def _later(self, delay: int, act: Callable[[], list[Any]]) -> None:
        """Unless this life has ended by then."""
        self.world.after(delay, lambda: None if self.is_over else self.do(act()))

    def take_request(self, request: Request) -> None:
        if not self.is_over:
            self._requests[request.ticket] = request
            if request.api_key == ApiKey.API_VERSIONS:
                self.do([Reply(request.ticket, ApiVersionsResponse())])
                return
            self.do(self.raft.on_request(request, self.now))

    def take_answer(self, answered: Answered) -> None:
        if not self.is_over:
            self.do(self.raft.on_answer(answered, self.now))

    # --- effects out ---

    def do(self, effects: list[Any]) -> None:
        for effect in effects:
            self._perform(effect)
        self.world.checker.saw(self)
        self._apply()
        self._take_snapshot_in()
        self._arm()

    def _perform(self, effect: Any) -> None:
        match effect:
            case Ask():
                self.world.network.ask(self, effect)
            case Reply(ticket):
                self.world.network.reply(self, effect, self._requests.pop(ticket))
            case Append():
                self.disk.append(effect)
                self._sync()
            case TruncateLog(_, offset):
                self._log_generation += 1
                self._syncing = False
                self.disk.cut(offset)
                self._later(0, lambda: self.raft.on_opened(self.disk.open(), self.now))
            case TrimLog(_, offset):
                self.disk.trim(offset)
            case SaveEpochs(_, entries):
                self.disk.epochs = entries
            case SaveState():
                self._save(effect)
            case ReadRange():
                read = self.disk.read(effect)
                self._later(self.rng.randint(0, 2), lambda: self.raft.on_read(read, self.now))
            case LoadState():
                loaded = self.disk.load(effect)
                self._later(1, lambda: self.raft.on_loaded(loaded, self.now))
            case Changed():
                self.changes.append(effect)

    def _sync(self) -> None:
        """One sync at a time; what comes meanwhile shares the next one."""
        if self._syncing:
            return
        self._syncing = True
        end, generation = self.disk.end, self._log_generation
        self._later(self.world.disk_delay(), lambda: self._synced(end, generation))

    def _synced(self, end: int, generation: int) -> list[Any]:
        if generation != self._log_generation:
            return []
        self._syncing = False
        self.disk.synced_offset = max(self.disk.synced_offset, end)
        if self.disk.end > end:
            self._sync()
        return self.raft.on_written(end, self.now)

    def _save(self, effect: SaveState) -> None:
        """States are saved one after another."""
        due = max(self._saves_until, self.world.now + self.world.disk_delay())
        self._saves_until = due
        self._later(due - self.world.now, lambda: self._saved(effect))

    def _saved(self, effect: SaveState) -> list[Any]:
        assert effect.data is not None
        self.disk.states[effect.name] = bytes(effect.data)
        return self.raft.on_saved(self.now) if effect.name == STATE_NAME else []

    def _arm(self) -> None:
        if (due := self.raft.deadline) is not None:
            self._alarm.set(due, self.world.until_clock(self.id, due))

    def _on_time(self) -> None:
        if not self.is_over:
            is_due = self.raft.deadline is not None and self.now >= self.raft.deadline
            self.do(self.raft.on_time(self.now) if is_due else [])

    # --- the state machine, and who writes to it ---

    def _apply(self) -> None:
        bound = self.raft.high_watermark
        for header, batch in self.disk.batches:
            if self._applied < header.next_offset <= bound:
                self.history.append((header.base_offset, bytes(batch[HEADER_SIZE:])))
                self._applied = header.next_offset
                self._acknowledge(header.next_offset, header.leader_epoch)

    def _acknowledge(self, next_offset: int, leader_epoch: int) -> None:
        epoch, payload = self._waiting.pop(next_offset, (-1, b""))
        if epoch == leader_epoch:
            self.world.checker.acknowledge(payload)

    def write(self, payload: bytes) -> bool:
        """A client asks the leader to write."""
        raft = self.raft
        if self.is_over or not raft.is_settled or raft.leading_epoch is None or raft.log is None:
            return False
        batch = build_batch(
            [NewRecord(None, payload)],
            timestamp=self.now,
            base_offset=raft.log.log_end_offset,
            leader_epoch=raft.leading_epoch,
        )
        self._waiting[raft.log.log_end_offset + 1] = (raft.leading_epoch, payload)
        self.do(raft.append(batch, self.now))
        return True

    # --- snapshots ---

    def take_snapshot(self) -> None:
        """Of everything applied; the log is trimmed to the one before."""
        raft, disk = self.raft, self.disk
        if raft.log is None or self._applied <= raft.snapshot.end_offset or raft.fetched_snapshot:
            return
        epoch = raft.log.epochs.epoch_at(self._applied - 1)
        taken, before = SnapshotId(self._applied, epoch), raft.snapshot
        disk.states[taken.file_name] = pack(self.history, raft.voters.as_of(self._applied))
        disk.states[POINTER] = taken.file_name.encode()
        raft.snapshot_taken(taken)
        if before.end_offset > raft.log.log_start_offset:
            self.do(raft.trim(before.end_offset))

    def _take_snapshot_in(self) -> None:
        if self.raft.fetched_snapshot is None or self.is_over:
            return
        found, data = self.raft.fetched_snapshot
        if found == self._keeping:
            return
        self._keeping = found
        self.disk.states[found.file_name] = data
        self._later(self.world.disk_delay(), lambda: self._install(found, data))

    def _install(self, found: SnapshotId, data: bytes) -> list[Any]:
        self.disk.states[POINTER] = found.file_name.encode()
        self.history, voters = unpack(data)
        self._applied = found.end_offset
        self.world.checker.installed(self, self.history)
        self.high_watermark = max(self.high_watermark, found.end_offset)
        return self.raft.install(found, voters, self.now)


def pack(history: list[tuple[int, bytes]], voters: VoterSet | None) -> bytes:
    told = None if voters is None else [
        [each.id, each.directory.hex, [list(where) for where in each.endpoints]] for each in voters
    ]  # fmt: skip
    entries = [[base_offset, batch.hex()] for base_offset, batch in history]
    return json.dumps([entries, told]).encode()


def unpack(data: bytes) -> tuple[list[tuple[int, bytes]], VoterSet | None]:
    entries, told = json.loads(data)
    history = [(base_offset, bytes.fromhex(batch)) for base_offset, batch in entries]
    if told is None:
        return history, None
    return history, VoterSet(
        Voter(voter_id, UUID(hex=directory), tuple(QuorumEndpoint(*where) for where in endpoints))
        for voter_id, directory, endpoints in told
    )
