"""Which partitions this node holds, following the image: opened, changed, closed, brought back.

A decision of the controller is in force for clients only when the logs it asks for are open, so continuations of a
decision wait here for the logs that its changes opened.
"""

from collections.abc import Callable
from typing import TypeAlias

from brokers.api.context import Context
from brokers.effects import Changed, CloseLog, Effect, OpenLog
from brokers.ids import Instant, TopicPartition
from brokers.log.log import Log
from brokers.metadata.configs import log_config
from brokers.metadata.image import ImageDelta, TopicImage
from brokers.partition.replica import Replica

RETRY_OPEN_MS = 1_000  # an offline partition is tried again this often

Opened: TypeAlias = Callable[[Instant], list[Effect]]


class Lifecycle:
    """Keeps `context.partitions` in step with the image."""

    def __init__(self) -> None:
        self.context: Context
        self._opening: dict[TopicPartition, None] = {}
        self._barriers: list[tuple[set[TopicPartition], Opened]] = []

    @property
    def opening(self) -> bool:
        """Whether some log has neither opened nor failed yet."""
        return bool(self._opening)

    def when_settled(self, then: Opened, now: Instant) -> list[Effect]:
        """`then` runs once every log that is being opened now has been opened or has failed."""
        if not self._opening:
            return then(now)
        self._barriers.append((set(self._opening), then))
        return []

    def follow(self, delta: ImageDelta) -> list[Effect]:
        """Effects that bring the partitions in step with what the image has become."""
        effects: list[Effect] = []
        for topic in delta.topics_deleted:
            effects += self._close(topic)
        for name in dict.fromkeys(
            (*delta.topics_created, *delta.topics_changed, *delta.topic_configs_changed)
        ):
            topic_image = self.context.image.topics_by_name.get(name)
            if topic_image is not None:
                effects += self._reconcile(topic_image)
        return effects

    def _reconcile(self, topic: TopicImage) -> list[Effect]:
        effects: list[Effect] = []
        config = log_config(self.context.image, self.context.config, topic.name)
        for index, placed in enumerate(topic.partitions):
            partition = TopicPartition(topic.name, index)
            replica = self.context.partitions.get(partition)
            if replica is None:
                replica = Replica(
                    partition,
                    topic_id=topic.id.bytes,
                    leader_epoch=placed.leader_epoch,
                    writer=topic.writer,
                    config=config,
                )
                self.context.partitions[partition] = replica
                effects.append(self._open(replica))
                continue
            replica.config = config
            effects += replica.led(placed.leader_epoch, topic.writer)
        return effects

    def _open(self, replica: Replica) -> Effect:
        self._opening[replica.partition] = None
        return OpenLog(replica.partition, replica.topic_id, replica.config.sync)

    def _close(self, topic: str) -> list[Effect]:
        effects: list[Effect] = []
        for partition in [name for name in self.context.partitions if name.topic == topic]:
            replica = self.context.partitions.pop(partition)
            self._opening.pop(partition, None)
            effects += replica.failed("the topic was deleted", 0)[1:]
            effects.append(CloseLog(partition, delete=True))
        return effects

    def opened(self, partition: TopicPartition, log: Log, now: Instant) -> list[Effect]:
        self._opening.pop(partition, None)
        replica = self.context.partitions.get(partition)
        if replica is None:
            return [*self._settle(partition, now)]
        was_offline = replica.offline != "opening"
        effects = replica.opened(log, now)
        if was_offline:
            effects.insert(
                0, Changed(f"partition {partition}", "online", "the disk takes writes again")
            )
        return effects + self._settle(partition, now)

    def failed(self, partition: TopicPartition, reason: str, now: Instant) -> list[Effect]:
        self._opening.pop(partition, None)
        replica = self.context.partitions.get(partition)
        if replica is None:
            return self._settle(partition, now)
        effects = replica.failed(reason, now)
        self.context.timers.set(now + RETRY_OPEN_MS, lambda _: self._retry(replica))
        return effects + self._settle(partition, now)

    def _retry(self, replica: Replica) -> list[Effect]:
        if self.context.partitions.get(replica.partition) is not replica or replica.log is not None:
            return []
        return [self._open(replica)]

    def _settle(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        waiting, self._barriers = self._barriers, []
        for missing, then in waiting:
            missing.discard(partition)
            if missing:
                self._barriers.append((missing, then))
            else:
                effects += then(now)
        return effects
