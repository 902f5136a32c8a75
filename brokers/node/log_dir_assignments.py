"""Reports the log directory of each replica to the controller, and decides what follows when a directory fails.

A directory that refuses anything is offline for as long as the process lives, as in Kafka: a disk that failed once is
not to be relied on, and other brokers lead its partitions meanwhile. A node needs the directory of the metadata log,
and one other directory at least: without these it ends, so that other nodes take over. A node that is a whole region
goes on trying instead.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, Effect, End, LeaveDirectory
from brokers.errors import Refusal
from brokers.ids import LOST_DIRECTORY, UNNAMED_DIRECTORIES, Instant, TopicPartition
from brokers.membership.controller_channel import ControllerChannel
from brokers.membership.log_dirs import OwnDirectories
from brokers.metadata.image.image import BrokerImage
from brokers.node.own_registration import OwnRegistration
from brokers.timers import Act, Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectory,
    AssignReplicasToDirsRequestPartition,
    AssignReplicasToDirsRequestTopic,
)

LINGER_MS = 50  # replicas that are opened together are in one request
RETRY_MS = 1_000
REPLICAS_MAX = 2_000  # in one request; each may take a record


class LogDirAssignments:
    """`opened` and `failed` after the logs; `reported` once the controller has answered a heartbeat."""

    def __init__(
        self,
        config: BrokerConfig,
        log_dirs: OwnDirectories,
        registration: OwnRegistration,
        channel: ControllerChannel,
        timers: Timers,
        report_failure: Act,
    ) -> None:
        """`report_failure` sends a heartbeat that names the failed directories."""
        self._config = config
        self._own = log_dirs
        self._registration = registration
        self._channel = channel
        self._timers = timers
        self._report_failure = report_failure
        self._unassigned: dict[TopicPartition, None] = {}  # the image may have another directory
        self._timer: int | None = None
        self._due: Instant = 0
        self._asking = False
        self._unreported: dict[
            UUID, Instant
        ] = {}  # failed, and the controller may not know; since when

    @property
    def metadata(self) -> UUID:
        """The directory of the metadata log."""
        return self._own.metadata

    # --- where replicas lie ---

    def opened(self, partition: TopicPartition, directory: UUID, now: Instant) -> None:
        """The log of a partition is open, in this directory."""
        directory = self._own.own(directory)
        self._own.homes[partition] = directory
        self._own.preferred.pop(partition, None)
        placed = self._registration.image.partition(partition)
        if placed is None or placed.directory(self._config.node_id) != directory:
            self._unassigned[partition] = None
            self._set_timer(now + LINGER_MS)

    def lost(self, partition: TopicPartition, directory: UUID, now: Instant) -> None:
        """The replica is in none of the online directories; reported where the image has no directory for it."""
        if directory in UNNAMED_DIRECTORIES and not self._own.is_online(self._own.own(directory)):
            self._own.homes[partition] = LOST_DIRECTORY
            self._unassigned[partition] = None
            self._set_timer(now + LINGER_MS)

    def closed(self, partition: TopicPartition) -> None:
        """The partition has no replica here any more."""
        self._own.homes.pop(partition, None)
        self._own.futures.pop(partition, None)
        self._unassigned.pop(partition, None)

    def _set_timer(self, due: Instant) -> None:
        if self._asking or (self._timer is not None and self._due <= due):
            return
        if self._timer is not None:
            self._timers.cancel(self._timer)
        self._due, self._timer = due, self._timers.set(due, self._send)

    def _send(self, now: Instant) -> list[Effect]:
        self._timer = None
        replicas = list(self._misplaced())[:REPLICAS_MAX]
        if not replicas:
            return []
        broker = self._registration.broker
        if broker is None:
            self._set_timer(now + RETRY_MS)
            return []
        self._asking = True
        message = _assignment(broker, replicas)
        return self._channel.send(ApiKey.ASSIGN_REPLICAS_TO_DIRS, message, self._on_answer, now)

    def _on_answer(self, response: Any, now: Instant) -> list[Effect]:
        """The image will have the assignments that were accepted."""
        self._asking = False
        more = len(self._unassigned) > REPLICAS_MAX and not isinstance(response, Refusal)
        self._set_timer(now + (LINGER_MS if more else RETRY_MS))
        return []

    def _misplaced(self) -> Iterator[tuple[UUID, UUID, int]]:
        """(directory, topic id, partition) of replicas that the image has in another directory; drops the others."""
        image, node_id = self._registration.image, self._config.node_id
        for partition in list(self._unassigned):
            placed, home = image.partition(partition), self._own.homes.get(partition)
            is_held = placed is not None and home is not None and node_id in placed.replicas
            if placed is None or home is None or not is_held or placed.directory(node_id) == home:
                del self._unassigned[partition]
            else:
                topic = image.topics_by_name[partition.topic]
                yield home, topic.id, partition.partition

    # --- directories that fail ---

    def failed(self, directory: UUID, reason: str, now: Instant) -> list[Effect]:
        """A system call on the directory has failed. The caller takes its partitions offline."""
        directory = self._own.own(directory)
        is_metadata = directory == self._own.metadata
        if not (is_metadata or self._own.is_online(directory)):
            return []
        is_needed = is_metadata or self._own.online == (directory,)
        if is_needed and not self._has_others:
            return []
        path = self._own.path(directory) or self._config.metadata_directory
        self._own.fail(directory, reason)
        effects: list[Effect] = [Changed(f"log directory {path}", "offline", reason)]
        if is_needed:
            which = "the metadata log's" if is_metadata else "the last one"
            return [*effects, End(f"log directory {path}, {which}, has failed: {reason}")]
        self._unreported[directory] = now
        self._timers.set(now + self._config.log_dir_failure_timeout_ms, self._check)
        return [*effects, LeaveDirectory(directory), *self._report_failure(now)]

    def lie_in(self, directory: UUID) -> list[TopicPartition]:
        """The partitions whose logs were opened there."""
        return self._own.lie_in(self._own.own(directory))

    def may_retry(self, directory: UUID) -> bool:
        """Whether a log that failed there may be opened again."""
        return self._own.is_online(self._own.own(directory))

    @property
    def _has_others(self) -> bool:
        """Whether any node could take over what this one does."""
        config, image = self._config, self._registration.image
        if config.is_alone:
            return False
        others = any(each != config.node_id for each in image.brokers)
        return others or not (config.decides_alone and config.is_broker)

    def reported(self, directories: tuple[UUID, ...]) -> None:
        """The controller has been notified that these are offline."""
        for each in directories:
            self._unreported.pop(each, None)

    def _check(self, now: Instant) -> list[Effect]:
        """Ends the node: the controller does not know of a failed directory, and would not replace its leaders."""
        timeout_ms = self._config.log_dir_failure_timeout_ms
        if self._has_others and any(now - at >= timeout_ms for at in self._unreported.values()):
            because = f"no controller has heard of it for {timeout_ms} ms"
            return [End(f"a log directory has failed, and {because}")]
        return []


def _assignment(
    broker: BrokerImage, replicas: list[tuple[UUID, UUID, int]]
) -> AssignReplicasToDirsRequest:
    found: dict[UUID, dict[UUID, list[AssignReplicasToDirsRequestPartition]]] = {}
    for directory, topic_id, index in replicas:
        partitions = found.setdefault(directory, {}).setdefault(topic_id, [])
        partitions.append(AssignReplicasToDirsRequestPartition(partition_index=index))
    return AssignReplicasToDirsRequest(
        broker_id=broker.id,
        broker_epoch=broker.broker_epoch,
        directories=[
            AssignReplicasToDirsRequestDirectory(
                id=directory,
                topics=[
                    AssignReplicasToDirsRequestTopic(topic_id=topic_id, partitions=partitions)
                    for topic_id, partitions in topics.items()
                ],
            )
            for directory, topics in found.items()
        ],
    )
