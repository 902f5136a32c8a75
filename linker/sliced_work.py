"""Work of one stream that can take long, done in slices, so that the node's clients do not wait for it.

A job is an iterator of steps. Jobs are done in the order in which they were added, and whatever was asked for after a
job is answered after it.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from brokers.ids import Instant
from linker.region_client import Effects, RegionClient

SLICE_COST: Final = 1_000  # about a millisecond


class Step(NamedTuple):
    """`cost` is in microseconds, roughly."""

    cost: int
    effects: Effects


Job: TypeAlias = Iterator[Step]


class SlicedWork:
    """Jobs that were added and are not done yet."""

    def __init__(self, region: RegionClient) -> None:
        self.now: Instant = 0  # of the slice that is being done
        self._region = region
        self._jobs: deque[Job] = deque()
        self._timer: int | None = None

    def add(self, job: Job, now: Instant) -> Effects:
        """The effects of its first slice, unless other jobs are before it."""
        self._jobs.append(job)
        return self._go_on(now) if self._timer is None else []

    def stop(self) -> None:
        """The rest is dropped."""
        self._jobs.clear()
        if self._timer is not None:
            self._region.timers.cancel(self._timer)
            self._timer = None

    def _go_on(self, now: Instant) -> Effects:
        self._timer = None
        self.now = now
        effects: Effects = []
        cost = 0
        while self._jobs and cost < SLICE_COST:
            step = next(self._jobs[0], None)
            if step is None:
                self._jobs.popleft()
                continue
            cost += step.cost
            effects += step.effects
        if self._jobs:
            self._timer = self._region.timers.set(now, self._go_on)
        return effects
