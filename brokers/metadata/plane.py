"""The metadata of a region behind one door: the quorum, the controller, and the image they agree on.

A node starts by reading what it knows (quorum state, snapshot, log), takes the lead of a new epoch, replays the log up
to it, registers its broker, and then decides. There are two images: `image`, which is committed and which everyone
reads, and the one ahead of it, on which decisions are made while earlier ones are still on their way to the disk.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias
from uuid import UUID

from brokers.config import BrokerConfig
from brokers.effects import Changed, ReadRange, SaveState, StorageEffect
from brokers.errors import KafkaError, Refusal
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded, StateSaved, Written
from brokers.ids import (
    METADATA_PARTITION,
    BrokerId,
    Instant,
    LeaderEpoch,
    Offset,
    Peer,
    Ticket,
)
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.metadata.batches import data_batch, read_batches
from brokers.metadata.broker_commands import RegisterBroker
from brokers.metadata.checkpoints import Checkpoints
from brokers.metadata.commands import NO_ID, Command
from brokers.metadata.controller import Controller
from brokers.metadata.image import Image, ImageDelta
from brokers.metadata.opening import Opening
from brokers.metadata.producer_ids import ProducerIds
from brokers.metadata.quorum import STATE_NAME, Quorum
from brokers.metadata.records import MetadataLogError
from brokers.metadata.registration import FEATURES, Feature
from brokers.metadata.replay import replay
from brokers.ports import Rng
from brokers.records.batch import parse_header
from brokers.wire.message import Message

# Segments are smaller than what lies between two snapshots, so that trimming has whole ones to drop.
LOG_CONFIG = LogConfig(segment_bytes=8 << 20, delete_expired=False, flush_messages=1)
READ_BYTES = 4 << 20
RETRY_MS = 1_000  # how often a disk that refused is tried again
READ_TICKET: Ticket = -1  # there is at most one read, and nobody else reads this log


@dataclass(frozen=True, slots=True)
class Decided:
    """The command with this token is committed, or refused."""

    token: Ticket
    result: object | Refusal


@dataclass(frozen=True, slots=True)
class ImageChanged:
    """`plane.image` has become another. The first one lists everything there is."""

    delta: ImageDelta


@dataclass(frozen=True, slots=True)
class PlaneReady:
    """The image is up to date and this node is registered in it: commands are decided from now on."""


PlaneEffect: TypeAlias = StorageEffect | Decided | ImageChanged | PlaneReady | Changed
PlaneEvent: TypeAlias = LogOpened | LogFailed | Written | RangeRead | StateSaved | StateLoaded


class _Phase(Enum):
    OFFLINE = "offline"
    LOADING = "loading"  # the quorum state, the snapshot and the log are being opened
    ELECTING = "electing"  # the vote goes to disk
    BEGINNING = "beginning"  # the epoch's first record goes to disk
    REPLAYING = "replaying"  # the log up to the epoch is read
    REGISTERING = "registering"
    SERVING = "serving"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A decision on its way to the disk; committed when everything below `next_offset` is."""

    next_offset: Offset
    records: tuple[Message, ...] = field(repr=False)
    token: Ticket | None
    result: object | Refusal


class MetadataPlane:
    """`image` is the committed state; `propose` changes it, `on_event` hears from the disk."""

    def __init__(
        self, config: BrokerConfig, cluster_id: str, rng: Rng, *, directory: UUID = NO_ID
    ) -> None:
        self.image = Image(cluster_id)
        self.deadline: Instant | None = None
        self.producer_ids = ProducerIds()
        self._config = config
        self._directory = directory
        self._incarnation = UUID(bytes=rng.randbytes(16), version=4)
        self._controller = Controller(config, rng)
        self._quorum = Quorum(config.node_id, directory, voters=(config.node_id,))
        self._checkpoints = Checkpoints(config.metadata_log_max_record_bytes_between_snapshots)
        self._phase = _Phase.OFFLINE
        self._why_offline = "the node is starting"
        self._has_served = False
        self._ahead = self.image
        self._entries: deque[_Entry] = deque()
        self._log: Log | None = None
        self._epoch_start: Offset = 0
        self._opening = Opening(self.image, wants_snapshot=True)

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller. A lone one always is, though its disk may refuse to decide."""
        return True

    @property
    def controller(self) -> Peer | None:
        """The active controller, as far as it is known here."""
        return self._config.voters[0]

    @property
    def committed_offset(self) -> Offset:
        """The last offset of the metadata log that is in `image`."""
        return self.image.next_offset - 1

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """That of the metadata log."""
        return self._quorum.leader_epoch

    @property
    def log_end_offset(self) -> Offset:
        """That of the metadata log; what is committed while the log is offline."""
        return self.image.next_offset if self._log is None else self._log.log_end_offset

    @property
    def voters(self) -> Sequence[BrokerId]:
        """Nodes whose disks decide what is committed."""
        return self._quorum.voters

    @property
    def supported_features(self) -> Sequence[Feature]:
        return FEATURES

    # --- in ---

    def on_started(self, now: Instant) -> list[PlaneEffect]:
        """Ask for everything that is on the disk."""
        return self._load()

    def on_time(self, now: Instant) -> list[PlaneEffect]:
        if self.deadline is None or now < self.deadline:
            return []
        self.deadline = None
        return self._load()

    def propose(self, command: Command, token: Ticket, now: Instant) -> list[PlaneEffect]:
        """Decide `command`; `Decided` with this token comes once the decision is committed."""
        if self._phase is not _Phase.SERVING:
            return [Decided(token, Refusal(KafkaError.KAFKA_STORAGE_ERROR, self._why_offline))]
        return self._decide(command, token, now)

    def checkpoint(self, now: Instant) -> list[PlaneEffect]:
        """Write a snapshot now and trim the log to it."""
        log = self._log
        if self._phase is not _Phase.SERVING or log is None or self._is_trimmed(log):
            return []
        last_epoch = log.epochs.epoch_at(self.committed_offset)
        return [*self._checkpoints.begin(self.image, last_epoch, now)]

    def _is_trimmed(self, log: Log) -> bool:
        """The last snapshot holds everything that is committed."""
        return log.log_start_offset == self.image.next_offset

    def on_event(self, event: PlaneEvent, now: Instant) -> list[PlaneEffect]:
        """Raises `MetadataLogError` where the disk holds what cannot be read: the node must not go on."""
        match event:
            case LogOpened() | StateLoaded() if self._phase is _Phase.LOADING:
                return self._on_loaded(event)
            case StateSaved(name):
                return self._on_saved(name, now)
            case Written(_, next_offset) if self._log is not None:
                return self._on_written(next_offset, now)
            case RangeRead() if self._phase is _Phase.REPLAYING:
                return self._on_read(event, now)
            case LogFailed(_, reason):
                return self._on_failed(reason, now)
            case _:
                return []  # an answer to something that was given up meanwhile

    # --- start ---

    def _load(self) -> list[PlaneEffect]:
        self._phase, self._log = _Phase.LOADING, None
        self._opening = Opening(self.image, wants_snapshot=not self._has_served)
        return [*self._opening.begin()]

    def _on_loaded(self, event: LogOpened | StateLoaded) -> list[PlaneEffect]:
        effects: list[PlaneEffect] = [*self._opening.take(event)]
        if isinstance(event, LogOpened):
            effects += [Changed("metadata log", "repaired", line) for line in event.repairs]
        return effects + self._campaign() if self._opening.is_complete else effects

    def _campaign(self) -> list[PlaneEffect]:
        self._phase, opening = _Phase.ELECTING, self._opening
        self._log, self.image = opening.log, opening.image
        if opening.snapshot_name is not None:
            self._checkpoints.found(opening.snapshot_name)
        state = self._quorum.campaign(opening.quorum_state, self._log.epochs.latest)
        return [SaveState(STATE_NAME, state.encode())]

    def _on_saved(self, name: str, now: Instant) -> list[PlaneEffect]:
        if name == STATE_NAME:
            return self._begin_epoch(now) if self._phase is _Phase.ELECTING else []
        effects, trim_to = self._checkpoints.saved(name)
        if trim_to is not None and self._log is not None:
            effects = [*self._log.trim(trim_to), *effects]
        return [*effects]

    def _begin_epoch(self, now: Instant) -> list[PlaneEffect]:
        self._phase = _Phase.BEGINNING
        self._epoch_start = self._require_log().log_end_offset
        self._quorum.lead(self._epoch_start)
        return self._append(self._quorum.leader_change(now), now)

    def _on_written(self, next_offset: Offset, now: Instant) -> list[PlaneEffect]:
        self._require_log().on_written(next_offset)
        self._quorum.flushed(self._config.node_id, next_offset)
        if self._phase is not _Phase.BEGINNING:
            return self._commit(now)
        if self._quorum.high_watermark <= self._epoch_start:
            return []
        self._phase = _Phase.REPLAYING
        return self._read_on(now)

    def _read_on(self, now: Instant) -> list[PlaneEffect]:
        position, bound = self.image.next_offset, self._epoch_start
        if position < bound:
            return [
                ReadRange(
                    READ_TICKET, METADATA_PARTITION, position, bound, READ_BYTES, at_least_one=True
                )
            ]
        replay(self.image, (), self._require_log().log_end_offset)  # the leader change itself
        self._ahead = self.image.copy()
        return self._rejoin() if self._has_served else self._register(now)

    def _on_read(self, read: RangeRead, now: Instant) -> list[PlaneEffect]:
        if read.error:
            return self._on_failed(f"the metadata log cannot be read: {read.error.name}", now)
        effects: list[PlaneEffect] = []
        for header, content in read_batches(read.data):
            records = () if isinstance(content, int) else content
            delta = replay(self.image, records, header.next_offset)
            if self._has_served and delta != ImageDelta():
                effects.append(ImageChanged(delta))
        if not len(read.data):
            raise MetadataLogError(f"the metadata log has nothing at {self.image.next_offset}")
        self._checkpoints.appended(len(read.data))
        return effects + self._read_on(now)

    def _register(self, now: Instant) -> list[PlaneEffect]:
        self._phase = _Phase.REGISTERING
        host, port = self._config.advertised_address
        command = RegisterBroker(
            broker_id=self._config.node_id,
            incarnation=self._incarnation,
            directory=self._directory,
            host=host,
            port=port,
            rack=self._config.broker_rack,
        )
        return self._decide(command, None, now)

    def _registered(self) -> list[PlaneEffect]:
        self._phase, self._has_served = _Phase.SERVING, True
        return [ImageChanged(self.image.everything()), PlaneReady()]

    def _rejoin(self) -> list[PlaneEffect]:
        self._phase = _Phase.SERVING
        return [Changed("metadata log", "online", "the disk takes writes again")]

    # --- decisions ---

    def _decide(self, command: Command, token: Ticket | None, now: Instant) -> list[PlaneEffect]:
        log = self._require_log()
        effects: list[PlaneEffect] = []
        records: tuple[Message, ...] = ()
        result: object | Refusal
        try:
            decision = self._controller.decide(self._ahead, command, log.log_end_offset, now)
            records, result = decision.records, decision.result
        except Refusal as refusal:
            result = refusal
        if records:
            effects = self._append(self._batch(records, log.log_end_offset, now), now)
            replay(self._ahead, records, log.log_end_offset)
        # Even what writes nothing waits its turn: it may go by a decision that is not committed yet.
        self._entries.append(_Entry(log.log_end_offset, records, token, result))
        return effects + self._commit(now)

    def _batch(self, records: Sequence[Message], base_offset: Offset, now: Instant) -> bytearray:
        leader_epoch = self._quorum.leader_epoch
        return data_batch(records, base_offset=base_offset, leader_epoch=leader_epoch, now=now)

    def _append(self, batch: bytearray, now: Instant) -> list[PlaneEffect]:
        header = parse_header(batch)
        self._checkpoints.appended(header.length)
        log = self._require_log()
        return [*log.append((header,), (batch,), now, config=LOG_CONFIG, sync=True)]

    def _commit(self, now: Instant) -> list[PlaneEffect]:
        effects: list[PlaneEffect] = []
        while self._entries and self._entries[0].next_offset <= self._quorum.high_watermark:
            effects += self._apply(self._entries.popleft())
        if self._phase is _Phase.REGISTERING and not self._entries:
            effects += self._registered()
        if self._checkpoints.is_due:
            effects += self.checkpoint(now)
        return effects

    def _apply(self, entry: _Entry) -> list[PlaneEffect]:
        effects: list[PlaneEffect] = []
        if entry.records:
            delta = replay(self.image, entry.records, entry.next_offset)
            if self._has_served and delta != ImageDelta():
                effects.append(ImageChanged(delta))
        if entry.token is not None:
            effects.append(Decided(entry.token, entry.result))
        return effects

    # --- failure ---

    def _on_failed(self, reason: str, now: Instant) -> list[PlaneEffect]:
        """Whoever waits hears that the outcome is unknown; the image stays readable."""
        if self._phase is _Phase.OFFLINE:
            return []
        waiting, self._entries = self._entries, deque()
        self._phase, self._log, self._why_offline = _Phase.OFFLINE, None, reason
        self._quorum.resign()
        self._checkpoints.given_up()
        self.deadline = now + RETRY_MS
        refusal = Refusal(KafkaError.KAFKA_STORAGE_ERROR, reason)
        told = [Decided(entry.token, refusal) for entry in waiting if entry.token is not None]
        return [Changed("metadata log", "offline", reason), *told]

    def _require_log(self) -> Log:
        assert self._log is not None, self._phase
        return self._log
