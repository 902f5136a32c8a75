"""All coordinators of a node."""

from collections.abc import Mapping, Sequence
from typing import Any

from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect
from brokers.ids import BrokerId, Instant, Ticket, TopicPartition
from brokers.metadata.image.image import Image, ImageDelta
from brokers.partition.replica import Replica
from brokers.timers import earliest


class Coordinators:
    """Passes to each `CoordinatorRuntime` what happens to the partitions of its topic."""

    def __init__(self, node_id: BrokerId, runtimes: Sequence[CoordinatorRuntime[Any]]) -> None:
        self._node_id = node_id
        self._by_topic: Mapping[str, CoordinatorRuntime[Any]] = {
            each.topic: each for each in runtimes
        }

    @property
    def deadline(self) -> Instant | None:
        return earliest(*(each.coordinator.deadline for each in self._by_topic.values()))

    @property
    def is_loading(self) -> bool:
        """Whether any of them is still loading."""
        return any(each.is_loading for each in self._by_topic.values())

    def on_time(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for each in self._by_topic.values():
            effects += each.run(each.coordinator.on_time(now), now)
        return effects

    def disconnected(self, tickets: Sequence[Ticket], now: Instant) -> list[Effect]:
        """The clients of these tickets are gone."""
        effects: list[Effect] = []
        for each in self._by_topic.values():
            effects += each.disconnected(tickets, now)
        return effects

    def configure(self, image: Image) -> None:
        """The number of partitions of a coordinator's topic may have changed."""
        for name, each in self._by_topic.items():
            topic = image.topics_by_name.get(name)
            if topic is not None:
                each.coordinator.set_partition_count(len(topic.partitions))

    def follow(self, image: Image, delta: ImageDelta, now: Instant) -> list[Effect]:
        """Leaders of coordinators' topics, or this broker's registration, may have changed; topics may be gone."""
        changed = (*delta.topics_created, *delta.topics_changed, *delta.topics_deleted)
        has_own_changed = self._node_id in delta.brokers_changed
        effects: list[Effect] = []
        for name, each in self._by_topic.items():
            if has_own_changed or name in changed:
                effects += each.follow(image.topics_by_name.get(name), now)
            deleted = each.coordinator.on_topics_deleted(delta.topics_deleted, now)
            effects += each.run(deleted, now)
        return effects

    def opened(self, replica: Replica, now: Instant) -> list[Effect]:
        """The log of a partition is open."""
        runtime = self._by_topic.get(replica.partition.topic)
        return [] if runtime is None else runtime.opened(replica, now)

    def went_offline(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        """The log of a partition has failed."""
        runtime = self._by_topic.get(partition.topic)
        return [] if runtime is None else runtime.lost(partition, now)
