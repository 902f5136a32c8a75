"""The metadata of a region behind one door: the quorum, the image that it agrees on, and the controller where it leads.

A node starts by reading what it knows (quorum state, snapshot, log) and becomes a member of the quorum. Whatever is
committed goes onto `image`, which everyone reads. Where this node leads the quorum, and its image has everything that
is committed, it is the active controller and decides.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Hangup
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
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset, Peer, Ticket
from brokers.metadata.cluster.broker_registration import lone_registration
from brokers.metadata.commands.commands import NO_ID, Command
from brokers.metadata.controller.active_controller import ActiveController, Decided
from brokers.metadata.controller.controller import Controller
from brokers.metadata.controller.producer_ids import ProducerIds
from brokers.metadata.image.difference import difference
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.image.record_batches import value_batch
from brokers.metadata.log.metadata_loader import MetadataLoader, unreadable
from brokers.metadata.log.outcomes import ImageChanged, MetadataEffect, MetadataEvent, MetadataReady
from brokers.metadata.log.quorum_settings import quorum_config
from brokers.metadata.log.raft_lifecycle import RaftLifecycle
from brokers.metadata.log.recovery import MetadataRecovery
from brokers.metadata.log.snapshot_generator import SnapshotGenerator
from brokers.metadata.log.snapshot_pointer import SnapshotPointer
from brokers.ports import Rng
from brokers.quorum.election_state import STATE_NAME
from brokers.quorum.raft_client import RaftClient
from brokers.timers import earliest


class RaftManager:
    """`image` is the committed state; `propose` changes it, `on_event` hears from the disk, `on_answer` from others."""

    def __init__(
        self,
        config: BrokerConfig,
        cluster_id: str,
        rng: Rng,
        *,
        directory: UUID = NO_ID,
        log_dirs: tuple[UUID, ...] | None = None,
    ) -> None:
        """`directory` is that of the metadata log; `log_dirs` a lone node registers with, that one if not given."""
        self.producer_ids = ProducerIds()
        self._config = config
        self._log_dirs = (directory,) if log_dirs is None else log_dirs
        self._incarnation = UUID(bytes=rng.randbytes(16), version=4)
        self._seat = RaftLifecycle(quorum_config(config, cluster_id, directory), rng)
        self._checkpoints = SnapshotPointer(config.metadata_log_max_record_bytes_between_snapshots)
        self._snapshotting = SnapshotGenerator(self._checkpoints)
        self._applying = MetadataLoader(Image(cluster_id), self._checkpoints.appended)
        self._controller = Controller(config, rng)
        self.deciding = ActiveController(self._controller)
        self._is_registering = False
        self._has_served = False
        self._was_offline = False

    # --- what there is ---

    @property
    def image(self) -> Image:
        return self._applying.image

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller. A lone one always is, though its disk may refuse to decide."""
        return self._is_alone or self.deciding.is_active

    @property
    def controller(self) -> Peer | None:
        """The active controller, as far as it is known here: whoever leads the quorum, ready to decide or not yet."""
        if self._is_alone:
            return self._config.voters[0]
        return None if self._raft is None else self._raft.leader

    @property
    def committed_offset(self) -> Offset:
        """The last offset of the metadata log that is in `image`."""
        return self.image.next_offset - 1

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """That of the metadata log."""
        return 0 if self._raft is None else self._raft.leader_epoch

    @property
    def log_end_offset(self) -> Offset:
        """That of the metadata log; what is committed while the log is offline."""
        log = None if self._raft is None else self._raft.log
        return self.image.next_offset if log is None else log.log_end_offset

    def lag_ms(self, now: Instant) -> int | None:
        """How long ago the last record in `image` was written; 0 where this node decides what is. None: not known."""
        if self.is_active:
            return 0
        written_at = self._applying.written_at
        return None if written_at is None else max(0, now - written_at)

    @property
    def timed_out_heartbeats(self) -> int:
        """Brokers that were given up for their silence, by this node as the active controller."""
        return self._controller.timed_out_heartbeats

    @property
    def quorum_state(self) -> str | None:
        """What this node is in the quorum, as Kafka's metrics say it; None while its log is not open."""
        return None if self._raft is None else self._raft.state

    @property
    def voters(self) -> Sequence[BrokerId]:
        """Nodes whose disks decide what is committed."""
        return self._seat.voters

    @property
    def finalized_features(self) -> Mapping[str, int]:
        """Levels in force. That of kraft.version is the quorum's own affair, and in no metadata record."""
        kraft_version = 0 if self._raft is None else self._raft.voters.kraft_version
        return self.image.features | ({"kraft.version": kraft_version} if kraft_version else {})

    @property
    def deadline(self) -> Instant | None:
        raft_due = None if self._raft is None else self._raft.deadline
        return earliest(self._seat.retry_at, raft_due, self.deciding.deadline)

    @property
    def has_left(self) -> bool:
        """After `leave`: the others can do without this node, or cannot be told."""
        return self._raft is None or self._raft.has_handed_over

    @property
    def _raft(self) -> RaftClient | None:
        """None while the log is not open."""
        return self._seat.raft

    @property
    def _is_alone(self) -> bool:
        return self._config.is_alone and len(self.voters) == 1

    # --- in ---

    def on_started(self, now: Instant) -> list[MetadataEffect]:
        """Ask for everything that is on the disk."""
        return self._load()

    def on_time(self, now: Instant) -> list[MetadataEffect]:
        if self._seat.retry_at is not None and self._seat.retry_at <= now:
            return self._load()
        if self._raft is None:
            return []
        effects = self._after(self._raft.on_time(now), now)
        return effects + self._own_decisions(now)

    def on_request(self, request: Request, now: Instant) -> list[MetadataEffect]:
        """One of the quorum's own requests; answered when its time has come."""
        if self._raft is None:
            return [Hangup(request.ticket, f"the metadata log is offline: {self._seat.why_empty}")]
        return self._after(self._raft.on_request(request, now), now)

    def on_answer(self, answered: Answered, now: Instant) -> list[MetadataEffect]:
        """What another member said, or why it said nothing."""
        return [] if self._raft is None else self._after(self._raft.on_answer(answered, now), now)

    def on_event(self, event: MetadataEvent, now: Instant) -> list[MetadataEffect]:
        """Raises `MetadataLogError` where the disk holds what cannot be read: the node must not go on."""
        if isinstance(event, LogFailed):
            return self._on_failed(event.reason, now)
        if self._seat.opening is not None:
            return self._on_loaded(self._seat.opening, event, now)
        return [] if self._raft is None else self._on_disk(self._raft, event, now)

    def propose(self, command: Command, token: Ticket, now: Instant) -> list[MetadataEffect]:
        """Decide `command`; `Decided` with this token comes once the decision is committed."""
        if self.deciding.is_active and not self._is_registering:
            return self._decide(command, token, now)
        if self._is_alone:
            refusal = Refusal(KafkaError.KAFKA_STORAGE_ERROR, self._seat.why_empty)
        else:
            refusal = Refusal(KafkaError.NOT_CONTROLLER, "this node is not the active controller")
        return [Decided(token, refusal)]

    def checkpoint(self, now: Instant) -> list[MetadataEffect]:
        """Write a snapshot now; the log is trimmed when it is durable."""
        raft = self._raft
        return [] if raft is None else [*self._snapshotting.write(raft, self.image, now)]

    def leave(self, now: Instant) -> list[MetadataEffect]:
        """An orderly stop: another takes the lead, if there is one. Goes on until `has_left`."""
        return [] if self._raft is None else self._after(self._raft.leave(now), now)

    # --- start ---

    def _load(self) -> list[MetadataEffect]:
        return [*self._seat.open(self.image, wants_image=not self._has_served)]

    def _on_loaded(
        self, opening: MetadataRecovery, event: MetadataEvent, now: Instant
    ) -> list[MetadataEffect]:
        if isinstance(event, RangeRead) and event.error:
            return self._on_failed(unreadable(event), now)
        if not isinstance(event, LogOpened | StateLoaded | RangeRead):
            return []
        effects: list[MetadataEffect] = [*self._seat.take(event)]
        return effects + self._join(opening, now) if opening.is_complete else effects

    def _join(self, opening: MetadataRecovery, now: Instant) -> list[MetadataEffect]:
        """Become a member of the quorum, with the image that the disk holds where there is none that is newer."""
        self._checkpoints.found(opening.snapshot)
        effects = self._replace_image(opening.image)
        return effects + self._after(self._seat.sit(opening).start(now), now)

    def _replace_image(self, image: Image) -> list[MetadataEffect]:
        before, self._applying.image = self.image, image
        return self._told(difference(before, image)) if self._has_served else []

    # --- the disk ---

    def _on_disk(
        self, raft: RaftClient, event: MetadataEvent, now: Instant
    ) -> list[MetadataEffect]:
        match event:
            case Written(_, next_offset):
                return self._after(raft.on_written(next_offset, now), now)
            case RangeRead() if self._applying.is_read(event):
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
                return self._after(raft.on_opened(event.log, now), now)
        return []

    def _on_read(self, read: RangeRead, now: Instant) -> list[MetadataEffect]:
        if read.error:
            return self._on_failed(unreadable(read), now)
        effects = [effect for delta in self._applying.take(read) for effect in self._told(delta)]
        return self._after(effects, now)

    def _on_saved(self, raft: RaftClient, name: str, now: Instant) -> list[MetadataEffect]:
        effects, arrived = self._snapshotting.saved(raft, name, is_alone=self._is_alone)
        if arrived is None:
            return self._after(effects, now)
        self._applying.give_up()
        replaced = self._replace_image(arrived.image)
        installed = raft.install(arrived.id, arrived.voters, now)
        return [*replaced, *self._after(installed, now), *effects]

    # --- after everything ---

    def _after(self, effects: Sequence[MetadataEffect], now: Instant) -> list[MetadataEffect]:
        """Go on with what the quorum has come to: who leads, what is committed, what has arrived."""
        raft, told = self._raft, [*effects]
        if raft is None:
            return told
        if self.deciding.is_active and raft.leading_epoch != self.deciding.leader_epoch:
            because = "another node may have become the active controller: the outcome is unknown"
            told += self._end_deciding(Refusal(KafkaError.NOT_CONTROLLER, because))
        told += self._apply(raft, now)
        return [*told, *self._snapshotting.go_on(raft, self.image, now)]

    def _apply(self, raft: RaftClient, now: Instant) -> list[MetadataEffect]:
        """What is committed goes onto the image: read from the log, but for what was appended in this epoch here."""
        reached, image = raft.high_watermark, self.image
        if raft.arrived is not None:
            return []
        leads = raft.is_settled
        effects: list[MetadataEffect] = [
            *self._applying.read_to(raft.epoch_start if leads else reached)
        ]
        if leads and image.next_offset >= raft.epoch_start:
            for told in self.deciding.committed(image, reached):
                effects += [told] if isinstance(told, Decided) else self._told(told)
            image.next_offset = max(image.next_offset, reached)  # past control records
            effects += self._begin_deciding(raft, now)
        if raft.has_heard and image.next_offset >= reached:
            effects += self._serve()
        return effects

    def _begin_deciding(self, raft: RaftClient, now: Instant) -> list[MetadataEffect]:
        if self.deciding.is_active:
            return []
        leader_epoch, is_alone = raft.leading_epoch, self._is_alone
        assert leader_epoch is not None
        idle_ms = self._config.metadata_max_idle_interval_ms if len(self.voters) > 1 else 0
        self.deciding.begin(
            self.image, leader_epoch, now, idle_ms=idle_ms or None, has_company=not is_alone
        )
        if not is_alone:
            return [Changed("controller", "active", f"in epoch {leader_epoch}")]
        return [] if self._has_served else self._register(now)

    def _serve(self) -> list[MetadataEffect]:
        """The first time that the image is whole. Where there are no others, this node's broker is in it by then."""
        if self._has_served:
            was_offline, self._was_offline = self._was_offline, False
            why = "the disk takes writes again"
            return [Changed("metadata log", "online", why)] if was_offline else []
        if self._is_alone and not (self._is_registering and self.deciding.is_settled):
            return []
        self._has_served, self._is_registering = True, False
        return [ImageChanged(self.image.everything()), MetadataReady()]

    def _told(self, delta: ImageDelta) -> list[MetadataEffect]:
        """Changes are told from the first whole image on."""
        return [ImageChanged(delta)] if self._has_served and delta != ImageDelta() else []

    # --- decisions ---

    def _register(self, now: Instant) -> list[MetadataEffect]:
        """A lone node has no controller to register with but itself."""
        self._is_registering = True
        command = lone_registration(self._config, self._incarnation, self._log_dirs)
        return self._decide(command, None, now)

    def _decide(self, command: Command, token: Ticket | None, now: Instant) -> list[MetadataEffect]:
        end = self.log_end_offset
        return self._append(self.deciding.decide(command, token, end, now), end, now)

    def _append(
        self, values: tuple[bytes, ...], base_offset: Offset, now: Instant
    ) -> list[MetadataEffect]:
        raft = self._raft
        assert raft is not None
        if not values:
            return self._after([], now)
        batch = value_batch(
            values, base_offset=base_offset, leader_epoch=self.deciding.leader_epoch, now=now
        )
        self._checkpoints.appended(len(batch))
        return self._after(raft.append(batch, now), now)

    def _own_decisions(self, now: Instant) -> list[MetadataEffect]:
        """What the controller asks of itself, and a record now and then where nobody asks."""
        effects: list[MetadataEffect] = []
        if not self.deciding.is_active:
            return effects
        for command in self.deciding.own_commands(now):
            effects += self._decide(command, None, now)
        if self.deciding.is_idle(now):
            end = self.log_end_offset
            effects += self._append(self.deciding.pass_time(end, now), end, now)
        return effects

    def _end_deciding(self, refusal: Refusal) -> list[MetadataEffect]:
        was_active = self.deciding.is_active and not self._is_alone
        told = self.deciding.end(refusal)
        return [*([Changed("controller", "resting", refusal.because)] if was_active else []), *told]

    # --- failure ---

    def _on_failed(self, reason: str, now: Instant) -> list[MetadataEffect]:
        """Others take over what this node led; the image stays readable. The disk is tried again."""
        if self._raft is None and self._seat.opening is None:
            return []
        effects: list[MetadataEffect] = [*self._seat.lose(reason, now)]
        self._is_registering, self._was_offline = False, True
        self._applying.give_up()
        self._checkpoints.given_up()
        return effects + self._end_deciding(Refusal(KafkaError.KAFKA_STORAGE_ERROR, reason))
