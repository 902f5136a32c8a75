"""One node's core. Routes events to the part that owns the rule, gathers effects; owns no rule."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, TrimLog
from brokers.events import (
    Answered,
    CopyFailed,
    DirectoriesMeasured,
    DirectoryRefused,
    Disconnected,
    EndAsked,
    Event,
    LogCleaned,
    LogCopied,
    LogFailed,
    LogMoved,
    LogOpened,
    MoveInterrupted,
    RangeRead,
    RangesFound,
    RecordsCompacted,
    Request,
    SegmentsCleaned,
    SegmentSealed,
    Started,
    StateLoaded,
    StateSaved,
    StraysRemoved,
    TailSealed,
    TimeReached,
    TimestampFound,
    Written,
)
from brokers.ids import METADATA_PARTITION, NO_BROKER_EPOCH, NO_ID, Instant
from brokers.log.log import Log
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.metadata.log.effects import MetadataEvent
from brokers.node.parts import Parts
from brokers.node.request_handlers import RequestHandlers
from brokers.ports import LogLevels, Rng
from brokers.region import GroupOffsetsChanged, ImageChanged, PartitionAdvanced, RegionEvent
from brokers.timers import earliest

BrokerEvent: TypeAlias = Event | RegionEvent
_FOR_WATCHERS = frozenset((ImageChanged, GroupOffsetsChanged))


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
        log_levels: LogLevels | None = None,
    ) -> None:
        """`directory` is the only one of the node, or `directories` are all. `log_levels`: of its process."""
        self._parts = parts = Parts(
            config,
            cluster_id,
            rng,
            log_dirs=directories or _single(config, directory),
            previous_broker_epoch=previous_broker_epoch,
            handlers=lambda: self._handlers,
            log_levels=log_levels,
        )
        self._handlers = RequestHandlers(parts)
        self._handle = self._handlers.by_listener
        self._replication = parts.replication
        self._region_port = parts.region_port
        self.view = parts.view
        self._routes = self._all_routes()

    def _all_routes(self) -> Mapping[type, Callable[[Any, Instant], list[Effect]]]:
        parts = self._parts
        return {
            Request: self._on_request,
            Written: self._on_written,
            SegmentSealed: self._on_sealed,
            RecordsCompacted: parts.cleaner.records_compacted,
            SegmentsCleaned: parts.cleaner.segments_cleaned,
            LogCleaned: parts.cleaner.cleaned,
            RangeRead: self._on_read,
            RangesFound: parts.continuations.storage_answered,
            TimestampFound: parts.continuations.storage_answered,
            DirectoriesMeasured: parts.continuations.storage_answered,
            TailSealed: parts.continuations.storage_answered,
            Answered: parts.continuations.peer_answered,
            LogOpened: self._on_opened,
            LogFailed: self._on_failed,
            DirectoryRefused: self._on_refused,
            LogCopied: parts.log_dir_moves.copied,
            LogMoved: parts.log_dir_moves.moved,
            MoveInterrupted: parts.log_dir_moves.resume,
            CopyFailed: self._on_copy_failed,
            StraysRemoved: self._on_strays_removed,
            StateLoaded: self._on_metadata,
            StateSaved: self._on_metadata,
            TimeReached: self._on_time,
            Disconnected: self._on_disconnected,
            Started: self._on_started,
            EndAsked: lambda event, now: parts.member.end_asked(now),
        }

    @property
    def parts(self) -> Parts:
        """For telemetry: read only."""
        return self._parts

    @property
    def deadline(self) -> Instant | None:
        parts = self._parts
        return earliest(parts.timers.deadline, parts.coordinators.deadline, parts.raft.deadline)

    def step(self, event: BrokerEvent, now: Instant) -> list[Effect]:
        """Same events at the same instants give the same effects."""
        effects = self._routes.get(type(event), self._region_port.step)(event, now)
        if self._replication.is_due:
            effects = [*effects, *self._replication.settle(now)]
        if not self._region_port.watched:
            return _private(effects)
        return _with_trims(effects) if self._region_port.logs_watched else effects

    def stop(self) -> list[Effect]:
        """What a clean stop has to write."""
        return [
            *self._parts.maintenance.stop(),
            *self._parts.raft.on_stop(),
            *self._parts.member.stopped(),
        ]

    # --- requests and answers ---

    def _on_request(self, event: Request, now: Instant) -> list[Effect]:
        return self._handle[event.listener][event.api_key](event, now)

    def _on_written(self, event: Written, now: Instant) -> list[Effect]:
        partition = event.partition
        replica = self._parts.partitions.get(partition)
        if replica is not None:
            return replica.written(event.next_offset, now)
        if partition == METADATA_PARTITION:
            return self._on_metadata(event, now)
        return []  # deleted since

    def _on_sealed(self, event: SegmentSealed, now: Instant) -> list[Effect]:
        replica = self._parts.partitions.get(event.partition)
        if replica is not None:
            replica.sealed(event.base_offset, event.size)
        return []

    def _on_read(self, event: RangeRead, now: Instant) -> list[Effect]:
        if event.partition == METADATA_PARTITION:
            return self._on_metadata(event, now)
        effects = self._parts.continuations.storage_answered(event, now)
        return effects + self._parts.member.progressed(now)  # a coordinator may be loaded now

    def _on_disconnected(self, event: Disconnected, now: Instant) -> list[Effect]:
        self._parts.continuations.disconnected(event.tickets)
        effects = self._parts.coordinators.disconnected(event.tickets, now)
        return effects + self._parts.probes.disconnected(event.tickets, now)

    # --- the node's life ---

    def _on_started(self, event: Started, now: Instant) -> list[Effect]:
        parts = self._parts
        parts.maintenance.start(now)
        parts.cleaner.start(now)
        parts.replication.start(now)
        effects = parts.log_dir_space.measure(now)
        effects += parts.publisher.run(parts.raft.on_started(now), now)
        return effects + parts.member.start(now)

    def _on_time(self, event: TimeReached, now: Instant) -> list[Effect]:
        parts = self._parts
        effects: list[Effect] = []
        for act in parts.timers.due(now):
            effects += act(now)
        effects += parts.coordinators.on_time(now)
        return effects + parts.publisher.run(parts.raft.on_time(now), now)

    def _on_metadata(self, event: MetadataEvent, now: Instant) -> list[Effect]:
        parts = self._parts
        effects = parts.publisher.run(parts.raft.on_event(event, now), now)
        return effects + parts.member.progressed(now)

    # --- logs ---

    def _on_opened(self, event: LogOpened, now: Instant) -> list[Effect]:
        parts, partition = self._parts, event.partition
        if partition == METADATA_PARTITION:
            return self._on_metadata(event, now)
        parts.cleaner.forget(partition)
        effects: list[Effect] = [
            Changed(f"partition {partition}", "repaired", line) for line in event.repairs
        ]
        effects += parts.replicas.opened(
            partition, Log.of(partition, event.log), event.directory, now
        )
        effects += self._region_port.advanced(partition)
        replica = parts.partitions.get(partition)
        if replica is not None:
            effects += parts.coordinators.opened(replica, now)
        return effects + parts.member.progressed(now)

    def _on_failed(self, event: LogFailed, now: Instant) -> list[Effect]:
        parts, partition = self._parts, event.partition
        if partition == METADATA_PARTITION:
            assignments = parts.log_dir_assignments
            given_up = assignments.failed(assignments.metadata, event.reason, now)
            return given_up or self._on_metadata(event, now)
        parts.cleaner.forget(partition)
        effects = parts.replicas.failed(partition, event.reason, event.directory, now)
        return effects + parts.member.progressed(now)

    def _on_refused(self, event: DirectoryRefused, now: Instant) -> list[Effect]:
        effects = self._parts.replicas.refused(event.directory, event.reason, now)
        return effects + self._parts.member.progressed(now)

    def _on_copy_failed(self, event: CopyFailed, now: Instant) -> list[Effect]:
        effects = self._parts.log_dir_moves.failed(event, now)
        return effects + self._parts.replicas.refused(event.directory, event.reason, now)

    def _on_strays_removed(self, event: StraysRemoved, now: Instant) -> list[Effect]:
        return [
            Changed("data directory", "removed", f"{name} is kept here no more")
            for name in event.folders
        ]


def _single(config: BrokerConfig, directory: UUID) -> OwnDirectories:
    """Of a node with one directory, whose id nothing depends on."""
    return OwnDirectories((OwnDirectory(config.directories[0], directory),), directory)


def _with_trims(effects: list[Effect]) -> list[Effect]:
    """Upper layers also watch log start offsets."""
    moved = [effect.partition for effect in effects if type(effect) is TrimLog]
    return [*effects, *map(PartitionAdvanced, moved)] if moved else effects


def _private(effects: list[Effect]) -> list[Effect]:
    """Without the effects that only upper layers use."""
    return [effect for effect in effects if type(effect) not in _FOR_WATCHERS]
