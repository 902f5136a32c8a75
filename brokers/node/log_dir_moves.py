"""Replicas on their way from one log directory of this node to another (KIP-113)."""

from functools import partial

from brokers.effects import Changed, CopyLog, Effect
from brokers.events import CopyFailed, LogCopied, LogMoved, MoveInterrupted
from brokers.ids import BrokerId, Instant, TopicPartition
from brokers.membership.log_dirs import Future, OwnDirectories
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.log_dir_assignments import LogDirAssignments
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.replication.replication_quota import TokenBucket, rate_of
from brokers.timers import Timers

PAUSE_MS = 10  # between two steps, in which other requests are served
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


class LogDirMoves:
    """`copied`, `moved` and `failed` after the host's events. `OwnDirectories.futures` has the target directories.

    All copies share one rate limit; `configure` when its setting may have changed.
    """

    def __init__(
        self,
        raft: RaftManager,
        partitions: HostedPartitions,
        log_dirs: OwnDirectories,
        assignments: LogDirAssignments,
        timers: Timers,
        *,
        node_id: BrokerId,
    ) -> None:
        self._raft = raft
        self._partitions = partitions
        self._log_dirs = log_dirs
        self._assignments = assignments
        self._timers = timers
        self._node_id = node_id
        self._futures = log_dirs.futures
        self._bucket = TokenBucket()
        self._resting: dict[TopicPartition, int] = {}  # timers, each until the next step

    def configure(self, now: Instant) -> None:
        """Pauses are set again for a changed rate limit."""
        rate = rate_of(self._raft.image, self._node_id, RATE)
        if rate != self._bucket.rate:
            self._bucket.set_rate(rate, now)
            for partition in list(self._resting):
                self._rest(partition, now)

    def resume(self, event: MoveInterrupted, now: Instant) -> list[Effect]:
        """Continues a copy that the last process had begun."""
        if event.partition not in self._partitions.all:
            return []
        self._futures[event.partition] = Future(event.directory)
        return [CopyLog(event.partition, event.directory)]

    def copied(self, event: LogCopied, now: Instant) -> list[Effect]:
        future = self._wanted(event)
        if future is not None:
            self._bucket.spend(max(0, event.size - future.size), now)
            future.size, future.next_offset = event.size, event.next_offset
            self._rest(event.partition, now)
        return []

    def _rest(self, partition: TopicPartition, now: Instant) -> None:
        timers = self._timers
        timers.cancel(self._resting.pop(partition, 0))
        due = now + max(PAUSE_MS, self._bucket.wait_ms(now))
        self._resting[partition] = timers.set(due, partial(self._go_on, partition))

    def _go_on(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        self._resting.pop(partition, None)
        future = self._futures.get(partition)
        if future is None or partition not in self._partitions.all:
            self._futures.pop(partition, None)
            return [CopyLog(partition, None)]
        if self._bucket.wait_ms(now) > 0:  # the rate limit is 0, or other copies used it up
            self._rest(partition, now)
            return []
        return [CopyLog(partition, future.directory)]

    def moved(self, event: LogMoved, now: Instant) -> list[Effect]:
        """Also where the copy was cancelled meanwhile: the log is in that directory now."""
        self._futures.pop(event.partition, None)
        if event.partition not in self._partitions.all:
            return []
        self._assignments.opened(event.partition, event.directory, now)
        path = self._log_dirs.path(event.directory)
        return [Changed(f"partition {event.partition}", f"moved to {path}")]

    def failed(self, event: CopyFailed, now: Instant) -> list[Effect]:
        """The log stays in its directory."""
        if self._wanted(event) is None:
            return []
        del self._futures[event.partition]
        path = self._log_dirs.path(event.directory)
        return [Changed(f"partition {event.partition}", f"not moved to {path}", event.reason)]

    def _wanted(self, event: LogCopied | CopyFailed) -> Future | None:
        future = self._futures.get(event.partition)
        return future if future is not None and future.directory == event.directory else None
