"""What a simulated node does with its files in the background: digests of sealed segments, removals of deleted ones.

Some steps of a digest are done at once, the others late; a removal is done after its delay.

The log may be trimmed, cut or closed between two steps, and the process may end.
"""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from brokers.events import Event
from brokers.ids import TopicPartition
from brokers.storage.directories.removals import DelayedRemoval
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.storage import Storage


class BackgroundWork:
    """One life of a node. `later` runs an act after so many milliseconds, if that life still lasts."""

    def __init__(
        self,
        storage: Storage,
        rng: Random,
        *,
        delay_ms: Callable[[], int],
        later: Callable[[int, Callable[[], None]], None],
        feed: Callable[[Event], None],
    ) -> None:
        self._storage = storage
        self._rng = rng
        self._delay_ms = delay_ms
        self._later = later
        self._feed = feed
        self._under_way: dict[TopicPartition, None] = {}

    def begin(self) -> None:
        """Whatever waits; of digests one segment of a log at a time."""
        while self._storage.discarded:
            discarded = self._storage.discarded.pop()
            self._later(discarded.delay_ms, partial(self._remove, discarded))
        for partition in list(self._storage.undigested):
            if partition not in self._under_way:
                self._under_way[partition] = None
                writing = self._storage.begin_digest(partition)
                steps = writing.steps()
                if self._rng.random() < 0.5:
                    next(steps, None)
                delay = self._rng.randrange(0, self._delay_ms() + 1)
                self._later(delay, partial(self._end, partition, writing, steps))

    def _remove(self, discarded: DelayedRemoval) -> None:
        for event in discarded.remove():
            self._feed(event)

    def _end(
        self, partition: TopicPartition, writing: DigestWriting, steps: Iterator[None]
    ) -> None:
        for _ in steps:
            pass
        del self._under_way[partition]
        for event in self._storage.end_digest(partition, writing):
            self._feed(event)
        self.begin()
