"""Operations that wait for a partition's offsets (Kafka's DelayedOperations): acknowledgements, DeleteRecords,
consumers' fetches, followers' fetch sessions."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from brokers.errors import KafkaError
from brokers.ids import Instant, Offset

if TYPE_CHECKING:
    from brokers.effects import Effect

# Called once: with NONE when the offset is reached, or with the error why it is not.
OnComplete: TypeAlias = "Callable[[KafkaError, Instant], list[Effect]]"
# Called with the number of bytes at each advance of the high watermark, until it calls `leave`.
OnAdvance: TypeAlias = "Callable[[int, Instant], list[Effect]]"


class PartitionListener(Protocol):
    """Is notified when a partition's offsets or leadership change; it reacts later."""

    def moved(self) -> None: ...


class DelayedOperations:
    """The delayed operations of one partition; at most one request of each connection."""

    __slots__ = ("_committed", "_reads", "_trimmed", "_watchers", "_written")

    def __init__(self) -> None:
        self._committed: deque[tuple[Offset, OnComplete]] = deque()
        self._written: deque[tuple[Offset, OnComplete]] = deque()
        self._trimmed: list[tuple[Offset, OnComplete]] = []
        self._reads: dict[int, OnAdvance] = {}
        self._watchers: dict[PartitionListener, None] = {}

    def for_offset(self, next_offset: Offset, then: OnComplete) -> None:
        """`then` runs once everything below `next_offset` is below the high watermark."""
        self._committed.append((next_offset, then))

    def for_written(self, next_offset: Offset, then: OnComplete) -> None:
        """`then` runs once everything below `next_offset` is in this node's log."""
        self._written.append((next_offset, then))

    def for_trim(self, log_start_offset: Offset, then: OnComplete) -> None:
        """`then` runs once the log start offset of every live replica is at least `log_start_offset`."""
        self._trimmed.append((log_start_offset, then))

    def for_growth(self, key: int, then: OnAdvance) -> None:
        """`then(bytes)` runs at each advance of the high watermark until `leave(key)`."""
        self._reads[key] = then

    def leave(self, key: int) -> None:
        self._reads.pop(key, None)

    def watch(self, watcher: PartitionListener) -> None:
        """Notify this listener of every change, also of uncommitted appends: followers fetch those."""
        self._watchers[watcher] = None

    def unwatch(self, watcher: PartitionListener) -> None:
        self._watchers.pop(watcher, None)

    def moved(self) -> None:
        """The log end or start offset, the high watermark or the leadership changed."""
        for watcher in self._watchers:
            watcher.moved()

    def advance(self, high_watermark: Offset, size: int, now: Instant) -> "list[Effect]":
        """The high watermark moved over `size` bytes."""
        effects = _release(self._committed, high_watermark, now)
        if self._reads:
            for on_advance in list(self._reads.values()):
                effects += on_advance(size, now)
        return effects

    def written(self, next_offset: Offset, now: Instant) -> "list[Effect]":
        """Everything below `next_offset` is in the log's files."""
        return _release(self._written, next_offset, now)

    @property
    def has_trims(self) -> bool:
        return bool(self._trimmed)

    def trimmed(self, low_watermark: Offset, now: Instant) -> "list[Effect]":
        """The low watermark is at least `low_watermark`."""
        waiting, self._trimmed = self._trimmed, []
        effects: list[Effect] = []
        for offset, then in waiting:
            if offset <= low_watermark:
                effects += then(KafkaError.NONE, now)
            else:
                self._trimmed.append((offset, then))
        return effects

    def fail(self, error: KafkaError, now: Instant) -> "list[Effect]":
        """The partition is offline, or this node leads it no more: complete all with `error`."""
        effects: list[Effect] = []
        for queue in (self._written, self._committed):
            while queue:
                effects += queue.popleft()[1](error, now)
        waiting, self._trimmed = self._trimmed, []
        for _, then in waiting:
            effects += then(error, now)
        for on_advance in list(self._reads.values()):
            effects += on_advance(1 << 62, now)
        self.moved()
        return effects


def _release(
    queue: deque[tuple[Offset, OnComplete]], reached: Offset, now: Instant
) -> "list[Effect]":
    effects: list[Effect] = []
    while queue and queue[0][0] <= reached:
        effects += queue.popleft()[1](KafkaError.NONE, now)
    return effects
