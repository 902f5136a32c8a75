"""One life of a process: a core, its storage, and whatever its host does for it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from brokers.effects import ExpectCleaning, SaveBehind
from brokers.ids import Instant
from brokers.storage.log_manager import LogManager
from brokers.storage.storage import Storage
from federation.node import LinkerDue


class Core(Protocol):
    def step(self, event: Any, now: Instant) -> Iterable[Any]: ...


class Process:
    """`outward` returns whether it did an effect; what it leaves is for the storage.

    What that has put off (`unsaved`, `unsynced`) is written and synced at once.
    """

    def __init__(
        self,
        core: Core,
        storage: Storage | LogManager,
        outward: Callable[[Any], bool],
        clock: Callable[[], Instant],
    ) -> None:
        self._core, self._storage, self._outward, self._clock = core, storage, outward, clock

    def feed(self, event: Any) -> None:
        """An event, and all that it leads to."""
        self.take(self._core.step(event, self._clock()))

    def take(self, effects: Iterable[Any]) -> None:
        """Effects of the core's, and all that they lead to."""
        events = deque(self._performed(effects))
        while events:
            events.extend(self._performed(self._core.step(events.popleft(), self._clock())))

    def _performed(self, effects: Iterable[Any]) -> Iterator[Any]:
        again = [effect for effect in effects if isinstance(effect, LinkerDue)]
        yield from self.stored(effect for effect in effects if not self._is_done(effect))
        yield from again

    def _is_done(self, effect: Any) -> bool:
        return isinstance(effect, ExpectCleaning | LinkerDue) or self._outward(effect)

    def stored(self, effects: Iterable[Any]) -> Iterator[Any]:
        """What comes of effects of the storage's."""
        for effect in effects:
            yield from self._storage.perform(effect, self._clock())
        while self._storage.unsaved:
            yield from self._storage.perform(
                SaveBehind(self._storage.unsaved.popitem()[0]), self._clock()
            )
        for partition in list(self._storage.unsynced):
            yield from self._storage.sync(partition)
