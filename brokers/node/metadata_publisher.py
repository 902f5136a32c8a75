"""What the metadata plane decides, put in force on this node: partitions follow the image, askers hear the result."""

from collections.abc import Callable, Iterable
from functools import partial

from brokers.api.context import Context
from brokers.effects import Ask, Effect
from brokers.events import Answered
from brokers.ids import OFFSETS_TOPIC, Instant
from brokers.metadata.controller.active_controller import CommandCompleted
from brokers.metadata.image.image import ImageDelta
from brokers.metadata.log.effects import MetadataEffect, MetadataReady, MetadataUpdated
from brokers.node.group_log import GroupLog
from brokers.node.replica_lifecycle import ReplicaLifecycle
from brokers.region import ImageChanged


class MetadataPublisher:
    """Runs the plane's effects; `plane_ready` once commands are decided. `moved` is called after each run of them."""

    def __init__(self, lifecycle: ReplicaLifecycle, group_log: GroupLog) -> None:
        self.context: Context
        self.moved: Callable[[Instant], list[Effect]] = lambda now: []
        self.plane_ready = False
        self._lifecycle = lifecycle
        self._group_log = group_log

    def run(self, planned: Iterable[MetadataEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for effect in planned:
            match effect:
                case CommandCompleted(token, result):
                    then = self.context.decided.pop(token)
                    effects += self._lifecycle.when_settled(partial(then, result), now)
                case MetadataUpdated(delta):
                    effects += self._follow(delta, now)
                case MetadataReady():
                    self.plane_ready = True
                case Ask(ticket):
                    self.context.asked[ticket] = self._on_answer
                    effects.append(effect)
                case _:
                    effects.append(effect)
        return effects + self.context.channel.moved(now) + self.moved(now)

    def _on_answer(self, answered: Answered, now: Instant) -> list[Effect]:
        return self.run(self.context.plane.on_answer(answered, now), now)

    def _follow(self, delta: ImageDelta, now: Instant) -> list[Effect]:
        groups = self.context.groups
        offsets = self.context.image.topics_by_name.get(OFFSETS_TOPIC)
        if offsets is not None:
            groups.set_partition_count(len(offsets.partitions))
        for follow in self.context.followers:
            follow(self.context.image, delta)
        effects = self._lifecycle.follow(delta, now)
        effects += self.context.replication.follow(delta, now)
        if OFFSETS_TOPIC in (
            *delta.topics_created, *delta.topics_changed, *delta.topics_deleted
        ) or self.context.config.node_id in delta.brokers_changed:  # fmt: skip
            effects += self._group_log.follow(now)
        effects += self._group_log.run(groups.on_topics_deleted(delta.topics_deleted, now), now)
        return [*effects, ImageChanged(delta)]
