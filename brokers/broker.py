"""One node's cores behind one door. Routes events to the core that owns the rule, gathers effects; owns no rule."""

from typing import TypeAlias
from uuid import UUID

from brokers.api import versions
from brokers.api.context import Context
from brokers.config import BrokerConfig
from brokers.decisions import Decisions
from brokers.door import Door, View
from brokers.effects import Changed, Effect, TrimLog
from brokers.events import (
    Answered,
    Disconnected,
    Event,
    LogFailed,
    LogOpened,
    RangeRead,
    Request,
    Started,
    StateLoaded,
    StateSaved,
    TimeReached,
    TimestampFound,
    Written,
)
from brokers.group_log import GroupLog
from brokers.groups.config import group_config
from brokers.groups.coordinator import Coordinator
from brokers.housekeeping import Housekeeping
from brokers.ids import METADATA_PARTITION, OFFSETS_TOPIC, Instant
from brokers.lifecycle import Lifecycle
from brokers.metadata.commands import NO_ID
from brokers.metadata.plane import MetadataPlane, PlaneEvent
from brokers.ports import Rng
from brokers.region import ImageChanged, OffsetsCommitted, PartitionAdvanced, Ready, RegionEvent

BrokerEvent: TypeAlias = Event | RegionEvent


class Broker:
    """`step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(
        self, config: BrokerConfig, cluster_id: str, rng: Rng, *, directory: UUID = NO_ID
    ) -> None:
        self._group_log = GroupLog()
        self._lifecycle = Lifecycle()
        self._decisions = Decisions(self._lifecycle, self._group_log)
        self._context = Context(
            config=config,
            cluster_id=cluster_id,
            plane=MetadataPlane(config, cluster_id, rng, directory=directory),
            groups=Coordinator(rng, group_config(config)),
            run_groups=self._group_log.run,
            run_plane=self._decisions.run,
        )
        self._group_log.context = self._context
        self._lifecycle.context = self._context
        self._decisions.context = self._context
        self._housekeeping = Housekeeping(self._context)
        self._door = Door(self._context)
        self._ready = False
        self.view = View(self._context)

    @property
    def deadline(self) -> Instant | None:
        context = self._context
        waits = (context.timers.deadline, context.groups.deadline, context.plane.deadline)
        return min((due for due in waits if due is not None), default=None)

    def step(self, event: BrokerEvent, now: Instant) -> list[Effect]:
        """Same events at the same instants give the same effects."""
        effects = self._route(event, now)
        return _with_trims(effects) if self._door.watched else _private(effects)

    def stop(self) -> list[Effect]:
        """What a clean stop still has to write."""
        return self._housekeeping.checkpoint()

    def _route(self, event: BrokerEvent, now: Instant) -> list[Effect]:
        match event:
            case Request():
                return versions.handler(event)(self._context, event, now)
            case Written() | RangeRead() | LogOpened() | LogFailed():
                if event.partition == METADATA_PARTITION:
                    return self._on_plane(event, now)
                return self._on_partition(event, now)
            case TimestampFound():
                return self._context.answered.pop(event.ticket)(event, now)
            case Answered():
                return self._context.asked.pop(event.ticket)(event, now)
            case TimeReached():
                return self._on_time(now)
            case StateLoaded() | StateSaved():
                return self._on_plane(event, now)
            case Disconnected(tickets):
                self._context.client_gone(tickets)
                groups = self._context.groups
                return self._group_log.run(groups.disconnected(tickets, now), now)
            case Started():
                self._housekeeping.start(now)
                return self._decisions.run(self._context.plane.on_started(now), now)
            case _:
                return self._door.step(event, now)

    def _on_partition(
        self, event: Written | RangeRead | LogOpened | LogFailed, now: Instant
    ) -> list[Effect]:
        match event:
            case Written(partition, next_offset):
                replica = self._context.partitions.get(partition)
                if replica is None:
                    return []  # deleted since
                return [*replica.written(next_offset, now), PartitionAdvanced(partition)]
            case RangeRead():
                effects = self._context.answered.pop(event.ticket)(event, now)
                return (
                    effects + self._when_ready()
                )  # it may have been the last of the groups' records
            case LogOpened():
                return self._on_opened(event, now)
            case LogFailed(partition, reason):
                effects = self._lifecycle.failed(partition, reason, now)
                if partition.topic == OFFSETS_TOPIC:
                    effects += self._group_log.lost(partition, now)
                return effects + self._when_ready()

    def _on_opened(self, event: LogOpened, now: Instant) -> list[Effect]:
        partition = event.partition
        effects: list[Effect] = [
            Changed(f"partition {partition}", "repaired", line) for line in event.repairs
        ]
        effects += self._lifecycle.opened(partition, event.log, now)
        effects.append(PartitionAdvanced(partition))
        if partition.topic == OFFSETS_TOPIC and partition in self._context.partitions:
            effects += self._group_log.load(self._context.partitions[partition], now)
        return effects + self._when_ready()

    def _on_plane(self, event: PlaneEvent, now: Instant) -> list[Effect]:
        effects = self._decisions.run(self._context.plane.on_event(event, now), now)
        return effects + self._when_ready()

    def _on_time(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for act in self._context.timers.due(now):
            effects += act(now)
        effects += self._group_log.run(self._context.groups.on_time(now), now)
        return effects + self._decisions.run(self._context.plane.on_time(now), now)

    def _when_ready(self) -> list[Effect]:
        """Clients are answered once everything that the metadata names is open or known to be broken."""
        waits = self._lifecycle.opening or self._group_log.loading
        if self._ready or waits or not self._decisions.plane_ready:
            return []
        self._ready = True
        return [Ready()]


def _with_trims(effects: list[Effect]) -> list[Effect]:
    """A moved log start is news to whoever watches."""
    trims = [PartitionAdvanced(each.partition) for each in effects if isinstance(each, TrimLog)]
    return [*effects, *trims]


def _private(effects: list[Effect]) -> list[Effect]:
    """Nobody watches: what only an upper layer would hear is left out."""
    public = (PartitionAdvanced, ImageChanged, OffsetsCommitted)
    return [effect for effect in effects if not isinstance(effect, public)]
