"""What waits for a partition to move (Kafka's purgatories): acknowledgements in offset order, long-polling reads, fetch
sessions of followers."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from brokers.errors import KafkaError
from brokers.ids import Instant, Offset

if TYPE_CHECKING:
    from brokers.effects import Effect

# Called once: with NONE when the offset was reached, with an error when it never will be.
Placed: TypeAlias = "Callable[[KafkaError, Instant], list[Effect]]"
# Called at every advance until it says that it is done (True) by leaving the set itself.
Poked: TypeAlias = "Callable[[int, Instant], list[Effect]]"


class PartitionListener(Protocol):
    """Is notified when a partition moves, its log end included; acts on it later."""

    def moved(self) -> None: ...


class DelayedOperations:
    """Parked work of one partition. Bounded by its clients: each connection has one request in flight."""

    __slots__ = ("_committed", "_reads", "_trimmed", "_watchers", "_written")

    def __init__(self) -> None:
        self._committed: deque[tuple[Offset, Placed]] = deque()
        self._written: deque[tuple[Offset, Placed]] = deque()
        self._trimmed: list[tuple[Offset, Placed]] = []
        self._reads: dict[int, Poked] = {}
        self._watchers: dict[PartitionListener, None] = {}

    def for_offset(self, next_offset: Offset, then: Placed) -> None:
        """`then` runs once everything below `next_offset` is below the high watermark."""
        self._committed.append((next_offset, then))

    def for_written(self, next_offset: Offset, then: Placed) -> None:
        """`then` runs once everything below `next_offset` is in this node's log."""
        self._written.append((next_offset, then))

    def for_trim(self, log_start_offset: Offset, then: Placed) -> None:
        """`then` runs once every live replica begins at `log_start_offset` or above."""
        self._trimmed.append((log_start_offset, then))

    def for_growth(self, key: int, then: Poked) -> None:
        """`then(bytes)` runs at each advance of the high watermark until `leave(key)`."""
        self._reads[key] = then

    def leave(self, key: int) -> None:
        self._reads.pop(key, None)

    def watch(self, watcher: PartitionListener) -> None:
        """Notify this listener of every move, appends before they are committed included: followers fetch those."""
        self._watchers[watcher] = None

    def unwatch(self, watcher: PartitionListener) -> None:
        self._watchers.pop(watcher, None)

    def moved(self) -> None:
        """The log's end, its start, the high watermark or the leadership is another."""
        for watcher in self._watchers:
            watcher.moved()

    def advance(self, high_watermark: Offset, size: int, now: Instant) -> "list[Effect]":
        """The high watermark moved over `size` bytes."""
        effects = _release(self._committed, high_watermark, now)
        if self._reads:
            for poke in list(self._reads.values()):
                effects += poke(size, now)
        return effects

    def written(self, next_offset: Offset, now: Instant) -> "list[Effect]":
        """Everything below `next_offset` is in the log's files."""
        return _release(self._written, next_offset, now)

    @property
    def has_trims(self) -> bool:
        return bool(self._trimmed)

    def trimmed(self, low_watermark: Offset, now: Instant) -> "list[Effect]":
        """Every live replica begins at `low_watermark` or above."""
        waiting, self._trimmed = self._trimmed, []
        effects: list[Effect] = []
        for offset, then in waiting:
            if offset <= low_watermark:
                effects += then(KafkaError.NONE, now)
            else:
                self._trimmed.append((offset, then))
        return effects

    def fail(self, error: KafkaError, now: Instant) -> "list[Effect]":
        """The partition went away: nobody waits in vain."""
        effects: list[Effect] = []
        for queue in (self._written, self._committed):
            while queue:
                effects += queue.popleft()[1](error, now)
        waiting, self._trimmed = self._trimmed, []
        for _, then in waiting:
            effects += then(error, now)
        for poke in list(self._reads.values()):
            effects += poke(1 << 62, now)
        self.moved()
        return effects


def _release(queue: deque[tuple[Offset, Placed]], reached: Offset, now: Instant) -> "list[Effect]":
    effects: list[Effect] = []
    while queue and queue[0][0] <= reached:
        effects += queue.popleft()[1](KafkaError.NONE, now)
    return effects
