"""The region's metadata behind one interface: the quorum, the image, and the controller where this node leads.

A node first reads its disk (quorum state, snapshot, log) and becomes a member of the quorum. Committed records are
applied to `image`. While this node leads the quorum, and its image has every committed record, it is the active
controller.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Hangup, StorageEffect
from brokers.errors import KafkaError, Refusal
from brokers.events import (
    Answered,
    LogFailed,
    LogOpened,
    RangeRead,
    Request,
    StateLoaded,
    StateSaved,
    Written,
)
from brokers.ids import (
    METADATA_PARTITION,
    NO_ID,
    BrokerId,
    Instant,
    LeaderEpoch,
    Offset,
    Peer,
    Ticket,
)
from brokers.log.log import Log
from brokers.metadata.cluster.broker_registration import lone_registration
from brokers.metadata.commands.commands import Command
from brokers.metadata.controller.active_controller import ActiveController, CommandCompleted
from brokers.metadata.controller.controller import Controller
from brokers.metadata.controller.producer_id_control import ProducerIdManager
from brokers.metadata.image.image import Image
from brokers.metadata.log.effects import MetadataEffect, MetadataEvent
from brokers.metadata.log.metadata_loader import MetadataLoader, unreadable
from brokers.metadata.log.quorum_config import quorum_config
from brokers.metadata.log.raft_lifecycle import RaftLifecycle
from brokers.metadata.log.recovery import MetadataRecovery
from brokers.metadata.log.snapshot_generator import SnapshotGenerator
from brokers.metadata.log.snapshot_pointer import SnapshotPointer
from brokers.metadata.log.voter_operations import VoterOperations
from brokers.ports import Rng
from brokers.quorum.election_state import STATE_NAME
from brokers.quorum.raft_client import RaftClient
from brokers.security.origin import Origin
from brokers.timers import earliest


class RaftManager:
    """Kafka's KafkaRaftManager with its MetadataLoader and QuorumController.

    `image` is the committed state; `propose` changes it. `on_event` takes results of the disk, `on_answer` those of
    requests to other nodes.
    """

    def __init__(
        self,
        config: BrokerConfig,
        cluster_id: str,
        rng: Rng,
        *,
        directory: UUID = NO_ID,
        log_dirs: tuple[UUID, ...] | None = None,
    ) -> None:
        """`directory`: of the metadata log. `log_dirs`: with which a lone node registers; by default `directory`."""
        self.producer_ids = ProducerIdManager()
        self._config = config
        self._log_dirs = (directory,) if log_dirs is None else log_dirs
        self._incarnation = UUID(bytes=rng.randbytes(16), version=4)
        self._lifecycle = RaftLifecycle(quorum_config(config, cluster_id, directory), rng)
        self._pointer = SnapshotPointer(config.metadata_log_max_record_bytes_between_snapshots)
        self._snapshots = SnapshotGenerator(self._pointer)
        self._voter_operations = VoterOperations()
        self._loader = MetadataLoader(Image(cluster_id), self._pointer.appended)
        self._controller = Controller(config, rng)
        self.active_controller = ActiveController(self._controller)
        self._is_registering = False
        self._was_offline = False

    # --- state ---

    @property
    def image(self) -> Image:
        return self._loader.image

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller. A lone node always is, even while its disk is offline."""
        return self._is_alone or self.active_controller.is_active

    @property
    def controller(self) -> Peer | None:
        """The quorum's leader, as known here; it may not be active yet."""
        if self._is_alone:
            return self._config.voters[0]
        return None if self._raft is None else self._raft.leader

    @property
    def committed_offset(self) -> Offset:
        """The offset of the last record in `image`."""
        return self.image.next_offset - 1

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """The metadata log's leader epoch; 0 while the log is not open."""
        return 0 if self._raft is None else self._raft.leader_epoch

    @property
    def log_end_offset(self) -> Offset:
        """The metadata log's end; the end of `image` while the log is offline."""
        log = None if self._raft is None else self._raft.log
        return self.image.next_offset if log is None else log.log_end_offset

    def lag_ms(self, now: Instant) -> int | None:
        """Milliseconds since the last record in `image` was written; 0 on the active controller; None: unknown."""
        if self.is_active:
            return 0
        written_at = self._loader.written_at
        return None if written_at is None else max(0, now - written_at)

    @property
    def timed_out_heartbeats(self) -> int:
        """Broker sessions that have expired at this node as the active controller."""
        return self._controller.timed_out_heartbeats

    @property
    def quorum_state(self) -> str | None:
        """This node's Raft state as in Kafka's metrics; None while the log is not open."""
        return None if self._raft is None else self._raft.state

    @property
    def voters(self) -> Sequence[BrokerId]:
        """The quorum's voters."""
        return self._lifecycle.voters

    @property
    def finalized_features(self) -> Mapping[str, int]:
        """The finalized levels. The level of kraft.version is in the quorum's control records, not in the image."""
        kraft_version = 0 if self._raft is None else self._raft.voters.kraft_version
        return self.image.features | ({"kraft.version": kraft_version} if kraft_version else {})

    @property
    def deadline(self) -> Instant | None:
        raft_due = None if self._raft is None else self._raft.deadline
        return earliest(self._lifecycle.retry_at, raft_due, self.active_controller.deadline)

    @property
    def has_left(self) -> bool:
        """After `leave`: another voter leads, or this node cannot hand over as its log is not open."""
        return self._raft is None or self._raft.has_resigned

    @property
    def _raft(self) -> RaftClient | None:
        """None while the log is not open."""
        return self._lifecycle.raft

    @property
    def _is_alone(self) -> bool:
        return self._config.is_alone and len(self.voters) == 1

    def on_stop(self) -> list[StorageEffect]:
        """What a clean stop writes of the metadata log."""
        log = None if self._raft is None else self._raft.log
        return [] if log is None else log.on_stop()

    # --- events ---

    def on_started(self, now: Instant) -> list[MetadataEffect]:
        """Reads everything that is on the disk."""
        return self._load()

    def on_time(self, now: Instant) -> list[MetadataEffect]:
        if self._lifecycle.retry_at is not None and self._lifecycle.retry_at <= now:
            return self._load()
        if self._raft is None:
            return []
        effects = self._after(self._raft.on_time(now), now)
        return effects + self._own_commands(now)

    def on_request(self, request: Request, now: Instant) -> list[MetadataEffect]:
        """A request of the quorum's APIs (Vote, Fetch ...); its reply may follow later."""
        if self._raft is None:
            why = f"the metadata log is offline: {self._lifecycle.offline_reason}"
            return [Hangup(request.ticket, why)]
        self._voter_operations.asked(request)
        return self._after(self._raft.on_request(request, now), now)

    def on_answer(self, answered: Answered, now: Instant) -> list[MetadataEffect]:
        """Another member's response, or the failure of the request."""
        return [] if self._raft is None else self._after(self._raft.on_answer(answered, now), now)

    def on_event(self, event: MetadataEvent, now: Instant) -> list[MetadataEffect]:
        """Raises MetadataLogError for damaged or missing data on the disk: the node has to stop."""
        if isinstance(event, LogFailed):
            return self._on_failed(event.reason, now)
        if self._lifecycle.opening is not None:
            return self._on_loaded(self._lifecycle.opening, event, now)
        return [] if self._raft is None else self._on_disk(self._raft, event, now)

    def propose(
        self, command: Command, token: Ticket, now: Instant, origin: Origin | None = None
    ) -> list[MetadataEffect]:
        """Decides `command`, for `origin`; `CommandCompleted` follows once its records are committed."""
        if self.active_controller.is_active and not self._is_registering:
            return self._decide(command, token, now, origin)
        if self._is_alone:
            refusal = Refusal(KafkaError.KAFKA_STORAGE_ERROR, self._lifecycle.offline_reason)
        else:
            refusal = Refusal(KafkaError.NOT_CONTROLLER, "this node is not the active controller")
        return [CommandCompleted(token, refusal)]

    def checkpoint(self, now: Instant) -> list[MetadataEffect]:
        """Writes a snapshot now; the log is trimmed when the snapshot is durable."""
        raft = self._raft
        return [] if raft is None else [*self._snapshots.write(raft, self.image, now)]

    def leave(self, now: Instant) -> list[MetadataEffect]:
        """Begins a clean shutdown: another voter becomes leader, if there is one. Complete when `has_left`."""
        return [] if self._raft is None else self._after(self._raft.leave(now), now)

    # --- start ---

    def _load(self) -> list[MetadataEffect]:
        return [*self._lifecycle.open(self.image, wants_image=not self._loader.is_published)]

    def _on_loaded(
        self, opening: MetadataRecovery, event: MetadataEvent, now: Instant
    ) -> list[MetadataEffect]:
        if isinstance(event, RangeRead) and event.error:
            return self._on_failed(unreadable(event), now)
        if not isinstance(event, LogOpened | StateLoaded | RangeRead):
            return []
        effects: list[MetadataEffect] = [*self._lifecycle.on_event(event)]
        return effects + self._join(opening, now) if opening.is_complete else effects

    def _join(self, opening: MetadataRecovery, now: Instant) -> list[MetadataEffect]:
        """Becomes a member of the quorum, with the disk's image unless the present one is newer."""
        opening.check_nothing_is_lost(self._config.node_id)
        self._pointer.found(opening.snapshot)
        replaced = self._loader.replace(opening.image)
        return [*replaced, *self._after(self._lifecycle.start(opening).start(now), now)]

    # --- the disk ---

    def _on_disk(
        self, raft: RaftClient, event: MetadataEvent, now: Instant
    ) -> list[MetadataEffect]:
        match event:
            case Written(_, next_offset):
                return self._after(raft.on_written(next_offset, now), now)
            case RangeRead() if self._loader.is_read(event):
                return self._on_read(event, now)
            case RangeRead():
                return self._after(raft.on_read(event, now), now)
            case StateSaved(name) if name == STATE_NAME:
                return self._after(raft.on_saved(now), now)
            case StateSaved(name):
                return self._on_saved(raft, name, now)
            case StateLoaded():
                return self._after(raft.on_loaded(event, now), now)
            case LogOpened():
                return self._after(raft.on_opened(Log.of(METADATA_PARTITION, event.log), now), now)
        return []

    def _on_read(self, read: RangeRead, now: Instant) -> list[MetadataEffect]:
        if read.error:
            return self._on_failed(unreadable(read), now)
        return self._after(self._loader.on_read(read), now)

    def _on_saved(self, raft: RaftClient, name: str, now: Instant) -> list[MetadataEffect]:
        effects, arrived = self._snapshots.saved(raft, name, is_alone=self._is_alone)
        if arrived is None:
            return self._after(effects, now)
        self._loader.cancel_read()
        replaced = self._loader.replace(arrived.image)
        installed = raft.install(arrived.id, arrived.voters, now)
        return [*replaced, *self._after(installed, now), *effects]

    # --- after each event ---

    def _after(self, effects: Sequence[MetadataEffect], now: Instant) -> list[MetadataEffect]:
        """Follows the quorum: its leader, its high watermark, a snapshot that has arrived."""
        raft, out = self._raft, [*effects]
        if raft is None:
            return out
        operations = list(self._voter_operations.completed(effects))
        active = self.active_controller
        if active.is_active and raft.leading_epoch != active.leader_epoch:
            because = "another node may have become the active controller: the outcome is unknown"
            out += self._resign(Refusal(KafkaError.NOT_CONTROLLER, because))
        out += self._apply(raft, now)
        for operation in operations if active.is_active else ():
            out += self._decide(operation, None, now)
        return [*out, *self._snapshots.go_on(raft, self.image, now)]

    def _apply(self, raft: RaftClient, now: Instant) -> list[MetadataEffect]:
        """Applies committed records to the image: read from the log, except those of this leadership."""
        reached, image = raft.high_watermark, self.image
        if raft.fetched_snapshot is not None:
            return []
        leads = raft.is_settled
        effects: list[MetadataEffect] = [
            *self._loader.read_to(raft.epoch_start if leads else reached)
        ]
        if leads and image.next_offset >= raft.epoch_start:
            for each in self.active_controller.committed(image, reached):
                if isinstance(each, CommandCompleted):
                    effects.append(each)
                else:
                    effects += self._loader.updated(each)
            image.next_offset = max(image.next_offset, reached)  # past control records
            effects += self._activate(raft, now)
        if raft.is_caught_up and image.next_offset >= reached:
            effects += self._publish()
        return effects

    def _activate(self, raft: RaftClient, now: Instant) -> list[MetadataEffect]:
        if self.active_controller.is_active:
            return []
        leader_epoch, is_alone = raft.leading_epoch, self._is_alone
        assert leader_epoch is not None
        idle_ms = self._config.metadata_max_idle_interval_ms if len(self.voters) > 1 else 0
        self.active_controller.begin(
            self.image, leader_epoch, now, idle_ms=idle_ms or None, has_company=not is_alone
        )
        if not is_alone:
            return [Changed("controller", "active", f"in epoch {leader_epoch}")]
        return [] if self._loader.is_published else self._register(now)

    def _publish(self) -> list[MetadataEffect]:
        """Publishes the image when it is complete for the first time; a lone node's broker is registered by then."""
        if self._loader.is_published:
            was_offline, self._was_offline = self._was_offline, False
            why = "the disk takes writes again"
            return [Changed("metadata log", "online", why)] if was_offline else []
        if self._is_alone and not (self._is_registering and self.active_controller.is_settled):
            return []
        self._is_registering = False
        return [*self._loader.publish()]

    # --- the active controller ---

    def _register(self, now: Instant) -> list[MetadataEffect]:
        """A lone node registers its broker with itself."""
        self._is_registering = True
        command = lone_registration(self._config, self._incarnation, self._log_dirs)
        return self._decide(command, None, now)

    def _decide(
        self, command: Command, token: Ticket | None, now: Instant, origin: Origin | None = None
    ) -> list[MetadataEffect]:
        batch = self.active_controller.decide(command, token, self.log_end_offset, now, origin)
        return self._after([], now) if batch is None else self._append(batch, now)

    def _append(self, batch: bytearray, now: Instant) -> list[MetadataEffect]:
        raft = self._raft
        assert raft is not None
        self._pointer.appended(len(batch))
        return self._after(raft.append(batch, now), now)

    def _own_commands(self, now: Instant) -> list[MetadataEffect]:
        """Commands of the controller itself, and a NoOpRecord after an idle interval."""
        effects: list[MetadataEffect] = []
        if not self.active_controller.is_active:
            return effects
        for command in self.active_controller.own_commands(now):
            effects += self._decide(command, None, now)
        if self.active_controller.is_idle(now):
            batch = self.active_controller.no_op(self.log_end_offset, now)
            effects += self._append(batch, now)
        return effects

    def _resign(self, refusal: Refusal) -> list[MetadataEffect]:
        was_active = self.active_controller.is_active and not self._is_alone
        changed = [Changed("controller", "resting", refusal.because)] if was_active else []
        return [*changed, *self.active_controller.end(refusal)]

    # --- failure ---

    def _on_failed(self, reason: str, now: Instant) -> list[MetadataEffect]:
        """The disk has failed: this node resigns, the image stays readable, the disk is retried."""
        if self._raft is None and self._lifecycle.opening is None:
            return []
        effects: list[MetadataEffect] = [*self._lifecycle.on_failed(reason, now)]
        self._is_registering, self._was_offline = False, True
        self._loader.cancel_read()
        self._pointer.on_disk_failed()
        return effects + self._resign(Refusal(KafkaError.KAFKA_STORAGE_ERROR, reason))
