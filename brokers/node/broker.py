"""One node's cores behind one door. Routes events to the core that owns the rule, gathers effects; owns no rule."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from uuid import UUID

from brokers.api import versions
from brokers.api.context import Context, single
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, End, TrimLog
from brokers.events import (
    Answered,
    CopyFailed,
    DirectoriesMeasured,
    DirectoryRefused,
    Disconnected,
    EndAsked,
    Event,
    LogAnswer,
    LogCopied,
    LogFailed,
    LogMoved,
    LogOpened,
    MoveInterrupted,
    RangeRead,
    RangesFound,
    Request,
    SegmentSealed,
    Started,
    StateLoaded,
    StateSaved,
    StraysRemoved,
    TimeReached,
    TimestampFound,
    Written,
)
from brokers.groups.config import group_config
from brokers.groups.coordinator import Coordinator
from brokers.ids import METADATA_PARTITION, NO_BROKER_EPOCH, OFFSETS_TOPIC, Instant
from brokers.log.log import Log
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.commands.commands import NO_ID
from brokers.metadata.log.outcomes import MetadataEvent
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.broker_lifecycle import BrokerLifecycle
from brokers.node.broker_probes import BrokerProbes
from brokers.node.controller_registration import ControllerRegistration
from brokers.node.group_log import GroupLog
from brokers.node.log_dir_assignments import LogDirAssignments
from brokers.node.log_dir_moves import LogDirMoves
from brokers.node.log_maintenance import LogMaintenance
from brokers.node.metadata_publisher import MetadataPublisher
from brokers.node.region_port import RegionPort, View
from brokers.node.replica_lifecycle import ReplicaLifecycle
from brokers.ports import Rng
from brokers.region import ImageChanged, OffsetsCommitted, PartitionAdvanced, Ready, RegionEvent
from brokers.timers import earliest

BrokerEvent: TypeAlias = Event | RegionEvent
_FOR_WATCHERS = frozenset((ImageChanged, OffsetsCommitted))


class Broker:
    """`step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(
        self,
        config: BrokerConfig,
        cluster_id: str,
        rng: Rng,
        *,
        directory: UUID = NO_ID,
        directories: OwnDirectories | None = None,
        previous_broker_epoch: int = NO_BROKER_EPOCH,
    ) -> None:
        """`directory` is the only one of the node, or `directories` are all."""
        own = single(config, directory) if directories is None else directories
        self._group_log = GroupLog()
        self._lifecycle = ReplicaLifecycle()
        self._decisions = MetadataPublisher(self._lifecycle, self._group_log)
        self._context = Context(
            config=config,
            cluster_id=cluster_id,
            plane=RaftManager(config, cluster_id, rng, directory=own.metadata, log_dirs=own.online),
            groups=Coordinator(rng, group_config(config)),
            run_groups=self._group_log.run,
            run_plane=self._decisions.run,
            own_directories=own,
        )
        self._context.settle = self._lifecycle.when_settled
        self._group_log.context = self._context
        self._lifecycle.context = self._context
        self._whereabouts = LogDirAssignments(
            self._context, lambda: self._lifecycle.is_registered()
        )
        self._lifecycle.whereabouts = self._whereabouts
        self._moves = LogDirMoves(self._context, self._whereabouts)
        self._lifecycle.lost = self._group_log.lost
        self._decisions.context = self._context
        self._housekeeping = LogMaintenance(self._context)
        self._door = RegionPort(self._context)
        self._replication = self._context.replication
        self._replication.on_advanced = self._door.advanced
        self._through_door = self._door.step
        self._ready = False
        self._enrolment: BrokerLifecycle | None = None
        self._presence: ControllerRegistration | None = None
        self._probes = BrokerProbes(self._context)
        self._context.heard = self._probes.heard
        self._decisions.moved = self._on_moved
        if not config.is_alone:
            self._join(UUID(bytes=rng.randbytes(16), version=4), previous_broker_epoch)
        self.view = View(self._context)
        self._routes = self._all_routes()

    def _join(self, incarnation: UUID, previous_broker_epoch: int) -> None:
        """There are others: this node is one of them while they know it as this very process."""
        self._lifecycle.is_registered = lambda: self._is_registered(incarnation)
        self._presence = ControllerRegistration(self._context, incarnation)
        self._enrolment = BrokerLifecycle(
            self._context,
            lambda: not (self._lifecycle.opening or self._group_log.loading),
            incarnation=incarnation,
            previous_broker_epoch=previous_broker_epoch,
            on_told=self._whereabouts.told,
        )
        self._whereabouts.hurry = self._enrolment.news

    def _all_routes(self) -> Mapping[type, Callable[[Any, Instant], list[Effect]]]:
        return {
            Request: self._on_request,
            Written: self._on_written,
            SegmentSealed: self._on_sealed,
            RangeRead: self._on_read,
            RangesFound: self._on_answer,
            TimestampFound: self._on_answer,
            DirectoriesMeasured: self._on_answer,
            Answered: self._on_asked,
            LogOpened: self._on_opened,
            LogFailed: self._on_failed,
            DirectoryRefused: self._on_refused,
            LogCopied: self._moves.copied,
            LogMoved: self._moves.moved,
            MoveInterrupted: self._moves.resume,
            CopyFailed: self._on_copy_failed,
            StraysRemoved: self._on_strays_removed,
            StateLoaded: self._on_plane,
            StateSaved: self._on_plane,
            TimeReached: self._on_time,
            Disconnected: self._on_disconnected,
            Started: self._on_started,
            EndAsked: self._on_end_asked,
        }

    @property
    def context(self) -> Context:
        """The cores behind the door, for who reports on them: read only."""
        return self._context

    @property
    def deadline(self) -> Instant | None:
        context = self._context
        return earliest(context.timers.deadline, context.groups.deadline, context.plane.deadline)

    def step(self, event: BrokerEvent, now: Instant) -> list[Effect]:
        """Same events at the same instants give the same effects."""
        effects = self._routes.get(type(event), self._through_door)(event, now)
        if self._replication.is_due:
            effects = [*effects, *self._replication.settle(now)]
        if not self._door.watched:
            return _private(effects)
        return self._with_trims(effects) if self._door.logs_watched else effects

    def stop(self) -> list[Effect]:
        """What a clean stop still has to write."""
        ended = self._enrolment.ended() if self._enrolment is not None else []
        return [*self._housekeeping.stop(), *ended]

    def _on_request(self, event: Request, now: Instant) -> list[Effect]:
        return versions.handler(event)(self._context, event, now)

    def _on_written(self, event: Written, now: Instant) -> list[Effect]:
        partition = event.partition
        replica = self._context.partitions.get(partition)
        if replica is not None:
            return replica.written(event.next_offset, now) + self._door.advanced(partition)
        if partition == METADATA_PARTITION:
            return self._on_plane(event, now)
        return []  # deleted since

    def _on_sealed(self, event: SegmentSealed, now: Instant) -> list[Effect]:
        replica = self._context.partitions.get(event.partition)
        if replica is not None:
            replica.sealed(event.base_offset, event.size)
        return []

    def _on_read(self, event: RangeRead, now: Instant) -> list[Effect]:
        if event.partition == METADATA_PARTITION:
            return self._on_plane(event, now)
        effects = self._on_answer(event, now)
        return effects + self._when_ready(now)  # it may have been the last of the groups' records

    def _on_answer(self, event: LogAnswer, now: Instant) -> list[Effect]:
        return self._context.answered.pop(event.ticket)(event, now)

    def _on_asked(self, event: Answered, now: Instant) -> list[Effect]:
        return self._context.asked.pop(event.ticket)(event, now)

    def _on_disconnected(self, event: Disconnected, now: Instant) -> list[Effect]:
        tickets = event.tickets
        self._context.client_gone(tickets)
        effects = self._group_log.run(self._context.groups.disconnected(tickets, now), now)
        return effects + self._probes.disconnected(tickets, now)

    def _on_started(self, event: Started, now: Instant) -> list[Effect]:
        self._housekeeping.start(now)
        self._replication.start(now)
        effects = self._decisions.run(self._context.plane.on_started(now), now)
        return effects if self._enrolment is None else effects + self._enrolment.start(now)

    def _on_failed(self, event: LogFailed, now: Instant) -> list[Effect]:
        partition = event.partition
        if partition == METADATA_PARTITION:
            given_up = self._whereabouts.failed(self._whereabouts.metadata, event.reason, now)
            return given_up or self._on_plane(event, now)
        effects = self._lifecycle.failed(partition, event.reason, event.directory, now)
        return effects + self._when_ready(now)

    def _on_refused(self, event: DirectoryRefused, now: Instant) -> list[Effect]:
        effects = self._lifecycle.refused(event.directory, event.reason, now)
        return effects + self._when_ready(now)

    def _on_copy_failed(self, event: CopyFailed, now: Instant) -> list[Effect]:
        effects = self._moves.failed(event, now)
        return effects + self._lifecycle.refused(event.directory, event.reason, now)

    def _on_opened(self, event: LogOpened, now: Instant) -> list[Effect]:
        partition = event.partition
        if partition == METADATA_PARTITION:
            return self._on_plane(event, now)
        effects: list[Effect] = [
            Changed(f"partition {partition}", "repaired", line) for line in event.repairs
        ]
        effects += self._lifecycle.opened(
            partition, Log.of(partition, event.log), event.directory, now
        )
        effects += self._door.advanced(partition)
        if partition.topic == OFFSETS_TOPIC and partition in self._context.partitions:
            effects += self._group_log.opened(self._context.partitions[partition], now)
        return effects + self._when_ready(now)

    def _on_strays_removed(self, event: StraysRemoved, now: Instant) -> list[Effect]:
        return [
            Changed("data directory", "removed", f"{name} is kept here no more")
            for name in event.folders
        ]

    def _on_plane(self, event: MetadataEvent, now: Instant) -> list[Effect]:
        effects = self._decisions.run(self._context.plane.on_event(event, now), now)
        return effects + self._when_ready(now)

    def _on_end_asked(self, event: EndAsked, now: Instant) -> list[Effect]:
        return [End()] if self._enrolment is None else self._enrolment.end_asked(now)

    def _is_registered(self, incarnation: UUID) -> bool:
        """Whether what the image says of this node's id is meant for this process."""
        broker = self._context.image.brokers.get(self._context.config.node_id)
        return broker is not None and broker.incarnation == incarnation

    def _on_moved(self, now: Instant) -> list[Effect]:
        """The image may have grown, or another controller be known."""
        self._moves.configure(now)
        if self._enrolment is None or self._presence is None:
            return []
        effects = self._context.handover.moved(self._context.image, now)
        effects += self._enrolment.progressed(now) + self._presence.progressed(now)
        return effects + self._probes.moved(now)

    def _on_time(self, event: TimeReached, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for act in self._context.timers.due(now):
            effects += act(now)
        effects += self._group_log.run(self._context.groups.on_time(now), now)
        return effects + self._decisions.run(self._context.plane.on_time(now), now)

    def _with_trims(self, effects: list[Effect]) -> list[Effect]:
        """A moved log start is news to whoever watches."""
        moved = [effect.partition for effect in effects if type(effect) is TrimLog]
        return [*effects, *map(PartitionAdvanced, moved)] if moved else effects

    def _when_ready(self, now: Instant) -> list[Effect]:
        """Clients are answered once everything that the metadata names is open or known to be broken."""
        if self._enrolment is not None:
            return self._enrolment.progressed(now)
        waits = self._lifecycle.opening or self._group_log.loading
        if self._ready or waits or not self._decisions.plane_ready:
            return []
        self._ready = True
        return [Ready(), self._context.cleaned()]


def _private(effects: list[Effect]) -> list[Effect]:
    """Nobody watches: what only an upper layer would hear is left out."""
    return [effect for effect in effects if type(effect) not in _FOR_WATCHERS]
