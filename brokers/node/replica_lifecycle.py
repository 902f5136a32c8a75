"""Which partitions this node holds, following the image: opened, changed, closed, brought back.

A decision of the controller is in force for clients only when the logs it asks for are open, so continuations of a
decision wait here for the logs that its changes opened.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import TypeAlias
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, CloseLog, ConfigureLog, Effect, OpenLog
from brokers.ids import UNASSIGNED_DIRECTORY, Instant, TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.configs.effective_configs import log_config
from brokers.metadata.image.image import NO_LEADER, ImageDelta, PartitionImage, TopicImage
from brokers.node.log_dir_assignments import LogDirAssignments
from brokers.node.own_registration import OwnRegistration
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import CUTTING, OPENING, Replica
from brokers.replication.replica_manager import ReplicaManager
from brokers.timers import Timers

RETRY_OPEN_MS = 1_000  # an offline partition is tried again this often

Opened: TypeAlias = Callable[[Instant], list[Effect]]
# What was last applied to a replica: its partition image, its writer, its configuration.
_Known: TypeAlias = tuple[PartitionImage, str | None, LogConfig]


class ReplicaLifecycle:
    """Keeps `HostedPartitions` in step with the image.

    Until this process is registered, the image has the registration of an earlier one, whose logs may have lost
    unsynced records: until then this node leads and follows no partition.
    """

    def __init__(
        self,
        config: BrokerConfig,
        registration: OwnRegistration,
        partitions: HostedPartitions,
        replication: ReplicaManager,
        log_dirs: OwnDirectories,
        assignments: LogDirAssignments,
        timers: Timers,
        went_offline: Callable[[TopicPartition, Instant], list[Effect]],
    ) -> None:
        """`went_offline` is called for each partition whose log failed."""
        self._config = config
        self._registration = registration
        self._partitions = partitions
        self._replication = replication
        self._log_dirs = log_dirs
        self._assignments = assignments
        self._timers = timers
        self._went_offline = went_offline
        self._was_registered = False
        # Each with a number that rises, and the last number when somebody began to wait.
        self._opening = OrderedDict[TopicPartition, int]()
        self._barriers: deque[tuple[int, Opened]] = deque()
        self._opens = 0
        self._known: dict[TopicPartition, _Known] = {}
        self._writers: dict[str, str | None] = {}

    @property
    def opening(self) -> bool:
        """Whether some log has neither opened nor failed yet."""
        return bool(self._opening)

    def when_settled(self, then: Opened, now: Instant) -> list[Effect]:
        """`then` runs once every log that is being opened now has been opened or has failed."""
        if not self._opening:
            return then(now)
        self._barriers.append((self._opens, then))
        return []

    def follow(self, delta: ImageDelta, now: Instant) -> list[Effect]:
        """Effects that bring the partitions in step with what the image has become."""
        effects: list[Effect] = []
        for name in delta.topics_deleted:
            self._writers.pop(name, None)
            for partition in [each for each in self._partitions.all if each.topic == name]:
                effects += self._close(partition, "the topic was deleted", now)
        changed = self._changed(delta)
        if not self._was_registered and self._registration.is_current:
            self._was_registered = True
            changed = {name: [] for name in self._registration.image.topics_by_name}
        for name, indexes in changed.items():
            topic = self._registration.image.topics_by_name.get(name)
            if topic is not None:
                effects += self._reconcile(topic, indexes or range(len(topic.partitions)), now)
        return effects

    def _changed(self, delta: ImageDelta) -> dict[str, list[int]]:
        """Topic to the partitions to look at; none named means all of them."""
        changed: dict[str, list[int]] = {}
        for partition in delta.partitions_changed:
            changed.setdefault(partition.topic, []).append(partition.partition)
        for name in (*delta.topics_created, *delta.topic_configs_changed):
            changed[name] = []
        for name in delta.topics_changed:
            topic = self._registration.image.topics_by_name.get(name)
            if topic is not None and self._writers.get(name) != topic.writer:
                changed[name] = []
        return changed

    def _reconcile(self, topic: TopicImage, indexes: Iterable[int], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        node_id = self._config.node_id
        config = log_config(self._registration.image, self._config, topic.name)
        self._writers[topic.name] = topic.writer
        for index in indexes:
            placed = topic.partitions[index]
            if not self._was_registered:
                placed = placed._replace(leader=NO_LEADER)
            partition = TopicPartition(topic.name, index)
            replica = self._partitions.all.get(partition)
            if node_id not in placed.replicas:
                if replica is not None:
                    effects += self._close(partition, "the partition is kept elsewhere now", now)
                continue
            if replica is None:
                replica = self._hold(partition, topic, placed, config)
                effects.append(self._open(replica, placed))
            elif (placed, topic.writer, config) == self._known.get(partition):
                continue
            elif _stored(config) != _stored(replica.config):
                effects.append(ConfigureLog(partition, *_stored(config)))
            replica.config = config
            self._known[partition] = (placed, topic.writer, config)
            effects += self._replication.apply_partition(replica, placed, topic.writer, now)
        return effects

    def _hold(
        self,
        partition: TopicPartition,
        topic: TopicImage,
        placed: PartitionImage,
        config: LogConfig,
    ) -> Replica:
        replica = self._partitions.all[partition] = Replica(
            partition,
            topic_id=topic.id.bytes,
            leader_epoch=placed.leader_epoch,
            writer=topic.writer,
            config=config,
            host=self._replication,
        )
        return replica

    def _open(self, replica: Replica, placed: PartitionImage) -> Effect:
        self._opens += 1
        self._opening.pop(replica.partition, None)  # numbers rise from the first to the last
        self._opening[replica.partition] = self._opens
        home = placed.directory(self._config.node_id)
        home = self._log_dirs.preferred.get(replica.partition, home)
        if home == UNASSIGNED_DIRECTORY:  # a log that is there already is opened where it lies
            home = self._log_dirs.with_room() or home
        config = replica.config
        return OpenLog(
            replica.partition,
            replica.topic_id,
            config.sync,
            home,
            config.index_interval_bytes,
            *_stored(config),
        )

    def _close(self, partition: TopicPartition, why: str, now: Instant) -> list[Effect]:
        """Closes the log and deletes it."""
        replica = self._partitions.all.pop(partition)
        self._opening.pop(partition, None)
        self._known.pop(partition, None)
        self._assignments.closed(partition)
        self._replication.remove_replica(replica)
        return [*replica.failed(why, now)[1:], CloseLog(partition, delete=True)]

    def opened(
        self, partition: TopicPartition, log: Log, directory: UUID, now: Instant
    ) -> list[Effect]:
        self._opening.pop(partition, None)
        replica = self._partitions.all.get(partition)
        if replica is None:
            return self._settle(now)
        if not self._assignments.may_retry(directory):
            return self._failed(partition, "its log directory has failed", directory, now)
        self._assignments.opened(partition, directory, now)
        was_offline = replica.offline not in (OPENING, CUTTING)
        effects = replica.opened(log, now)
        if was_offline:
            effects.insert(
                0, Changed(f"partition {partition}", "online", "the disk takes writes again")
            )
        return effects + self._settle(now)

    def failed(
        self, partition: TopicPartition, reason: str, directory: UUID, now: Instant
    ) -> list[Effect]:
        """The log has failed; all logs of its directory where that goes offline."""
        effects = self.refused(directory, reason, now)
        if effects and partition in self._assignments.lie_in(directory):
            return effects
        return effects + self._failed(partition, reason, directory, now)

    def refused(self, directory: UUID, reason: str, now: Instant) -> list[Effect]:
        """A system call on a directory has failed: where it goes offline, all its logs do."""
        effects = self._assignments.failed(directory, reason, now)
        for partition in self._assignments.lie_in(directory) if effects else ():
            effects += self._failed(partition, reason, directory, now)
        return effects

    def _failed(
        self, partition: TopicPartition, reason: str, directory: UUID, now: Instant
    ) -> list[Effect]:
        self._opening.pop(partition, None)
        replica = self._partitions.all.get(partition)
        effects = self._went_offline(partition, now)
        if replica is None:
            return effects + self._settle(now)
        effects = replica.failed(reason, now) + effects
        if self._assignments.may_retry(directory):
            self._timers.set(now + RETRY_OPEN_MS, lambda _: self._retry(replica))
        else:
            self._assignments.lost(partition, directory, now)
        return effects + self._settle(now)

    def _retry(self, replica: Replica) -> list[Effect]:
        if self._partitions.all.get(replica.partition) is not replica or replica.log is not None:
            return []
        placed = self._registration.image.partition(replica.partition)
        return [] if placed is None else [self._open(replica, placed)]

    def _settle(self, now: Instant) -> list[Effect]:
        """Who waits for none of the logs that are still being opened goes on."""
        effects: list[Effect] = []
        while self._barriers and self._barriers[0][0] < self._first_opening:
            effects += self._barriers.popleft()[1](now)
        return effects

    @property
    def _first_opening(self) -> int:
        return next(iter(self._opening.values()), self._opens + 1)


def _stored(config: LogConfig) -> tuple[int, int]:
    """What the log's files go by: `ConfigureLog`'s settings."""
    return config.file_delete_delay_ms, config.preallocate_bytes
