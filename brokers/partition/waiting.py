"""Who is told when a partition moves: acknowledgements in offset order, and reads that long-poll."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from brokers.errors import KafkaError
from brokers.ids import Instant, Offset

if TYPE_CHECKING:
    from brokers.effects import Effect

# Called once: with NONE when the high watermark reached the offset, with an error when it never will.
Placed: TypeAlias = "Callable[[KafkaError, Instant], list[Effect]]"
# Called at every advance until it says that it is done (True) by leaving the set itself.
Poked: TypeAlias = "Callable[[int, Instant], list[Effect]]"


class Waiting:
    """Parked work of one partition. Bounded by its clients: each connection has one request in flight."""

    __slots__ = ("_acknowledgements", "_reads")

    def __init__(self) -> None:
        self._acknowledgements: deque[tuple[Offset, Placed]] = deque()
        self._reads: dict[int, Poked] = {}

    def for_offset(self, next_offset: Offset, then: Placed) -> None:
        """`then` runs once everything below `next_offset` is below the high watermark."""
        self._acknowledgements.append((next_offset, then))

    def for_growth(self, key: int, then: Poked) -> None:
        """`then(bytes)` runs at each advance of the high watermark until `leave(key)`."""
        self._reads[key] = then

    def leave(self, key: int) -> None:
        self._reads.pop(key, None)

    def advance(self, high_watermark: Offset, size: int, now: Instant) -> "list[Effect]":
        """The high watermark moved over `size` bytes."""
        effects: list[Effect] = []
        acknowledgements = self._acknowledgements
        while acknowledgements and acknowledgements[0][0] <= high_watermark:
            effects += acknowledgements.popleft()[1](KafkaError.NONE, now)
        if self._reads:
            for poke in list(self._reads.values()):
                effects += poke(size, now)
        return effects

    def fail(self, error: KafkaError, now: Instant) -> "list[Effect]":
        """The partition went away: nobody waits in vain."""
        effects: list[Effect] = []
        while self._acknowledgements:
            effects += self._acknowledgements.popleft()[1](error, now)
        for poke in list(self._reads.values()):
            effects += poke(1 << 62, now)
        return effects
