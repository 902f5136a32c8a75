"""Replicas on their way from one log directory of this node to another (KIP-113)."""

from brokers.api.context import Context
from brokers.effects import Changed, CopyLog, Effect
from brokers.events import CopyFailed, LogCopied, LogMoved, MoveInterrupted
from brokers.ids import Instant, TopicPartition
from brokers.membership.directories import Future
from brokers.whereabouts import Whereabouts

PAUSE_MS = 10  # between two steps, for everyone else


class Moves:
    """`copied`, `moved` and `failed` after what the disk says. What was wanted is in `context.directories.futures`."""

    def __init__(self, context: Context, whereabouts: Whereabouts) -> None:
        self._context = context
        self._whereabouts = whereabouts
        self._futures = context.directories.futures

    def resume(self, event: MoveInterrupted, now: Instant) -> list[Effect]:
        """What the last process had begun is begun again."""
        if event.partition not in self._context.partitions:
            return []
        self._futures[event.partition] = Future(event.directory)
        return [CopyLog(event.partition, event.directory)]

    def copied(self, event: LogCopied, now: Instant) -> list[Effect]:
        future = self._wanted(event)
        if future is not None:
            future.size, future.next_offset = event.size, event.next_offset
            self._context.timers.set(now + PAUSE_MS, lambda at: self._go_on(event.partition))
        return []

    def _go_on(self, partition: TopicPartition) -> list[Effect]:
        future = self._futures.get(partition)
        if future is None or partition not in self._context.partitions:
            self._futures.pop(partition, None)
            return [CopyLog(partition, None)]
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
