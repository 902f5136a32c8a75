"""Replicas on their way from one log directory of this node to another (KIP-113)."""

from functools import partial

from brokers.api.context import Context
from brokers.effects import Changed, CopyLog, Effect
from brokers.events import CopyFailed, LogCopied, LogMoved, MoveInterrupted
from brokers.ids import Instant, TopicPartition
from brokers.membership.log_dirs import Future
from brokers.node.log_dir_assignments import LogDirAssignments
from brokers.replication.throttle import Bucket, rate_of

PAUSE_MS = 10  # between two steps, for everyone else
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"


class LogDirMoves:
    """`copied`, `moved` and `failed` after what the disk says. What was wanted is in `context.directories.futures`.

    All copies share the rate of this broker; `configure` when its settings may have changed.
    """

    def __init__(self, context: Context, whereabouts: LogDirAssignments) -> None:
        self._context = context
        self._whereabouts = whereabouts
        self._futures = context.directories.futures
        self._bucket = Bucket()
        self._resting: dict[TopicPartition, int] = {}  # timers, each until the next step

    def configure(self, now: Instant) -> None:
        """Who rests rests as long as the rate asks for by now."""
        rate = rate_of(self._context.image, self._context.config.node_id, RATE)
        if rate != self._bucket.rate:
            self._bucket.set_rate(rate, now)
            for partition in list(self._resting):
                self._rest(partition, now)

    def resume(self, event: MoveInterrupted, now: Instant) -> list[Effect]:
        """What the last process had begun is begun again."""
        if event.partition not in self._context.partitions:
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
        timers = self._context.timers
        timers.cancel(self._resting.pop(partition, 0))
        due = now + max(PAUSE_MS, self._bucket.wait_ms(now))
        self._resting[partition] = timers.set(due, partial(self._go_on, partition))

    def _go_on(self, partition: TopicPartition, now: Instant) -> list[Effect]:
        self._resting.pop(partition, None)
        future = self._futures.get(partition)
        if future is None or partition not in self._context.partitions:
            self._futures.pop(partition, None)
            return [CopyLog(partition, None)]
        if self._bucket.wait_ms(now) > 0:  # nothing at all may be copied, or others came first
            self._rest(partition, now)
            return []
        return [CopyLog(partition, future.directory)]

    def moved(self, event: LogMoved, now: Instant) -> list[Effect]:
        """Even if it was called off meanwhile: that is where the log is."""
        self._futures.pop(event.partition, None)
        if event.partition not in self._context.partitions:
            return []
        self._whereabouts.opened(event.partition, event.directory, now)
        path = self._context.directories.path(event.directory)
        return [Changed(f"partition {event.partition}", f"moved to {path}")]

    def failed(self, event: CopyFailed, now: Instant) -> list[Effect]:
        """It stays where it is; what becomes of the directory is for others to say."""
        if self._wanted(event) is None:
            return []
        del self._futures[event.partition]
        path = self._context.directories.path(event.directory)
        return [Changed(f"partition {event.partition}", f"not moved to {path}", event.reason)]

    def _wanted(self, event: LogCopied | CopyFailed) -> Future | None:
        future = self._futures.get(event.partition)
        return future if future is not None and future.directory == event.directory else None
