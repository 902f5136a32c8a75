"""What a simulated node does with its files in the background: digests of sealed segments, removals of deleted ones,
the periodic checkpoint, leader epochs, indexes, and compaction, where there is any.

Some steps of a digest are done at once, the others late; a removal is done after its delay; a checkpoint, leader
epochs and indexes at once or late, in turn; each step of a cleaning at some time after the one before.

The log may be trimmed, cut or closed between two steps, and the process may end.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from random import Random

from brokers.effects import SaveBehind
from brokers.events import Event
from brokers.ids import TopicPartition
from brokers.storage.directories.removals import DelayedRemoval
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.storage import Storage
from tests.kernel.cleaning import MakeCleaning, cleaning_steps

CHECKPOINT_MS = (0, 3, 40, 0, 900, 7, 6_000)  # the last longer than until the next one


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
        make_cleaning: MakeCleaning | None = None,
    ) -> None:
        """Without `make_cleaning` nothing is compacted."""
        self._storage = storage
        self._rng = rng
        self._delay_ms = delay_ms
        self._later = later
        self._feed = feed
        self._make_cleaning = make_cleaning
        self._checkpoint_ms = cycle(CHECKPOINT_MS)
        self._under_way: dict[TopicPartition, None] = {}
        self._cleaning: dict[TopicPartition, Iterator[list[Event]]] = {}

    def begin(self) -> None:
        """Whatever waits; of digests one segment of a log at a time."""
        while self._storage.discarded:
            discarded = self._storage.discarded.pop()
            self._later(discarded.delay_ms, partial(self._remove, discarded))
        while self._storage.checkpoints:
            self._later(
                next(self._checkpoint_ms), partial(self._run, self._storage.checkpoints.pop(0))
            )
        for partition in self._storage.unsaved:
            save = partial(self._storage.perform, SaveBehind(partition), 0)
            self._later(next(self._checkpoint_ms), partial(self._run, save))
        self._storage.unsaved.clear()
        for partition in [] if self._make_cleaning is None else list(self._storage.uncleaned):
            if partition not in self._cleaning:
                assert self._make_cleaning is not None
                self._cleaning[partition] = cleaning_steps(
                    self._storage, partition, self._make_cleaning
                )
                self._clean_later(partition)
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
        self._run(discarded.remove)

    def _run(self, work: Callable[[], list[Event]]) -> None:
        for event in work():
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

    def _clean_later(self, partition: TopicPartition) -> None:
        """Now and then much comes between two steps."""
        delay = self._rng.choice((1, 1, 1, 50)) * self._rng.randrange(0, self._delay_ms() + 2)
        self._later(delay, partial(self._clean, partition))

    def _clean(self, partition: TopicPartition) -> None:
        events = next(self._cleaning[partition], None)
        if events is None:
            del self._cleaning[partition]
            self.begin()
            return
        for event in events:
            self._feed(event)
        self._clean_later(partition)
