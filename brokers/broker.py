"""One node's cores behind one door. Routes events to the core that owns the rule, gathers effects; owns no rule."""

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from brokers.api import versions
from brokers.api.context import Context
from brokers.config import BrokerConfig
from brokers.door import Door, View
from brokers.effects import Changed, Effect, TrimLog
from brokers.events import (
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
from brokers.groups.coordinator import Coordinator
from brokers.groups.effects import GroupEffect
from brokers.housekeeping import Housekeeping
from brokers.ids import METADATA_PARTITION, OFFSETS_TOPIC, Instant, TopicPartition
from brokers.lifecycle import Lifecycle
from brokers.metadata.plane import Decided, MetadataPlane, PlaneEffect, PlaneReady
from brokers.metadata.plane import ImageChanged as PlaneImageChanged
from brokers.ports import Rng
from brokers.region import (
    ImageChanged,
    OffsetsCommitted,
    PartitionAdvanced,
    Ready,
    RegionEffect,
    RegionEvent,
)

BrokerEvent: TypeAlias = Event | RegionEvent
BrokerEffect: TypeAlias = Effect | RegionEffect


class Broker:
    """`step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(self, config: BrokerConfig, cluster_id: str, rng: Rng) -> None:
        self._group_log = GroupLog()
        self._context = Context(
            config=config,
            cluster_id=cluster_id,
            plane=MetadataPlane(config, cluster_id, rng),
            groups=Coordinator(rng, config.groups),
            run_groups=self._group_log.run,  # type: ignore[arg-type]
        )
        self._group_log.context = self._context
        self._lifecycle = Lifecycle(self._context)
        self._housekeeping = Housekeeping(self._context)
        self._door = Door(self._context)
        self._plane_ready = False
        self._ready = False
        self.view = View(self._context)

    @property
    def deadline(self) -> Instant | None:
        waits = (self._context.timers.deadline, self._context.groups.deadline, self._context.plane.deadline)
        return min((due for due in waits if due is not None), default=None)

    def step(self, event: BrokerEvent, now: Instant) -> list[BrokerEffect]:
        """Same events at the same instants give the same effects."""
        effects: list[BrokerEffect]
        match event:
            case Request():
                effects = list(versions.HANDLERS[event.api_key](self._context, event, now))
            case Written(partition, next_offset):
                effects = self._on_written(event, partition, next_offset, now)
            case RangeRead() | TimestampFound():
                effects = self._on_read(event, now)
            case TimeReached():
                effects = self._on_time(now)
            case LogOpened() | LogFailed():
                effects = self._on_log(event, now)
            case StateLoaded() | StateSaved():
                effects = self._on_plane(self._context.plane.on_event(event, now), now)
            case Disconnected(tickets):
                effects = self._on_groups(self._context.groups.disconnected(tickets, now), now)
            case Started():
                self._housekeeping.start(now)
                effects = self._on_plane(self._context.plane.on_started(now), now)
            case _:
                effects = self._door.step(event, now)
        # A handler that asked the controller may have been decided (refused, say) at once.
        effects = self._on_plane(effects, now)
        return self._tell(effects) if self._door.watched else _private(effects)

    def stop(self) -> list[Effect]:
        """What a clean stop still has to write."""
        return self._housekeeping.checkpoint()

    def _on_written(
        self, event: Written, partition: TopicPartition, next_offset: int, now: Instant
    ) -> list[BrokerEffect]:
        if partition == METADATA_PARTITION:
            return self._on_plane(self._context.plane.on_event(event, now), now)
        replica = self._context.partitions.get(partition)
        if replica is None:
            return []
        return [*replica.written(next_offset, now), PartitionAdvanced(partition)]

    def _on_read(self, event: RangeRead | TimestampFound, now: Instant) -> list[BrokerEffect]:
        if event.partition == METADATA_PARTITION:
            return self._on_plane(self._context.plane.on_event(event, now), now)
        answered = self._context.answered.pop(event.ticket, None)
        return [*answered(event, now)] if answered is not None else []

    def _on_time(self, now: Instant) -> list[BrokerEffect]:
        effects: list[BrokerEffect] = []
        for act in self._context.timers.due(now):
            effects += act(now)
        effects += self._on_groups(self._context.groups.on_time(now), now)
        return effects + self._on_plane(self._context.plane.on_time(now), now)

    def _on_log(self, event: LogOpened | LogFailed, now: Instant) -> list[BrokerEffect]:
        partition = event.partition
        if partition == METADATA_PARTITION:
            return self._on_plane(self._context.plane.on_event(event, now), now)
        effects: list[BrokerEffect] = []
        if isinstance(event, LogFailed):
            effects += self._lifecycle.failed(partition, event.reason, now)
            if partition.topic == OFFSETS_TOPIC:
                effects += self._group_log.lost(partition, now)
            return effects + self._when_ready()
        effects += [Changed(f"partition {partition}", "repaired", line) for line in event.repairs]
        effects += self._lifecycle.opened(partition, event.log, now)
        effects.append(PartitionAdvanced(partition))
        if partition.topic == OFFSETS_TOPIC and partition in self._context.partitions:
            effects += self._group_log.load(self._context.partitions[partition], now)
        return effects + self._when_ready()

    def _on_plane(
        self, planned: Sequence[PlaneEffect | BrokerEffect], now: Instant
    ) -> list[BrokerEffect]:
        effects: list[BrokerEffect] = []
        queue = deque(planned)
        while queue:
            effect = queue.popleft()
            match effect:
                case Decided(token, result):
                    then = self._context.decided.pop(token)
                    settled = self._lifecycle.when_settled(
                        lambda at, then=then, result=result: then(result, at), now
                    )
                    queue.extendleft(reversed(settled))
                case PlaneImageChanged(delta):
                    effects += self._lifecycle.follow(delta)
                    effects += self._on_groups(
                        self._context.groups.on_topics_deleted(delta.topics_deleted, now), now
                    )
                    effects.append(ImageChanged(delta))
                case PlaneReady():
                    self._plane_ready = True
                case _:
                    effects.append(effect)
        return effects + self._when_ready()

    def _on_groups(self, grouped: list[GroupEffect], now: Instant) -> list[BrokerEffect]:
        return self._group_log.run(grouped, now)

    def _when_ready(self) -> list[BrokerEffect]:
        """Clients are answered once everything that the metadata names is open or known to be broken."""
        if self._ready or not self._plane_ready or self._lifecycle.opening or self._group_log.loading:
            return []
        self._ready = True
        return [Ready()]

    def _tell(self, effects: list[BrokerEffect]) -> list[BrokerEffect]:
        """A moved log start is news to a link as well."""
        moved = [PartitionAdvanced(effect.partition) for effect in effects if isinstance(effect, TrimLog)]
        return effects + moved


def _private(effects: list[BrokerEffect]) -> list[BrokerEffect]:
    """Nobody watches: what only an upper layer would hear is left out."""
    return [
        effect
        for effect in effects
        if not isinstance(effect, (PartitionAdvanced, ImageChanged, OffsetsCommitted))
    ]


