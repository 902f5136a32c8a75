"""What touches nothing that outlives its stream or its answer may fail alone: the node goes on.

Anything else that raises ends the node, as half of a change may be done then (SECURITY.md, "What ends a node").
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from brokers.ids import Instant
from brokers.timers import Act
from linker.region_client import Effects, Then
from linker.sliced_work import Job, Step

# Says what happens instead of the effects that are lost.
Failed: TypeAlias = Callable[[Exception, Instant], Effects]


class Containment:
    """Does acts. Where one raises, `failed` is called, and its effects are the act's."""

    def __init__(self, failed: Failed) -> None:
        self._failed = failed

    def do(self, act: Act, now: Instant) -> Effects:
        try:
            return act(now)
        except Exception as error:
            return self._failed(error, now)

    def later(self, act: Act) -> Act:
        """For a timer."""
        return lambda now: self.do(act, now)

    def then(self, then: Then) -> Then:
        """For an answer of the region."""

        def answered(answer: Any, now: Instant) -> Effects:
            return self.do(lambda at: then(answer, at), now)

        return answered

    def job(self, job: Job, now: Callable[[], Instant]) -> Job:
        """Its steps up to the one that raises; `now` is the time of the slice that is being done."""
        try:
            yield from job
        except Exception as error:
            yield Step(1, self._failed(error, now()))


def _raise(error: Exception, now: Instant) -> Effects:
    raise error


NOTHING_CONTAINED = Containment(_raise)
