"""Virtual time: one heap of what happens when, the coroutines of clients, and a hash of everything that happened.

Nothing here waits or draws from outside: a world is its seed, and two runs of a seed have equal `trace_hash`. A world
that does not end says what it is at.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Generator
from hashlib import blake2b
from random import Random
from typing import Any

from tests.kernel.timeline import Act, Schedule

START = 1_800_000_000_000  # the first instant, milliseconds since the Unix epoch
DEEDS_MAX = 1_000_000  # of a whole run; one that ends has 30,000 or so
DEEDS_AT_ONCE_MAX = 20_000  # of one instant; there are hundreds when much comes together


class Endless(Exception):
    """More happens than in any run that ends, in all or at one instant: something goes round in circles."""


class Promise:
    """A value that comes later; awaited by one coroutine at most."""

    __slots__ = ("_then", "done", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: Any = None
        self._then: Act | None = None

    def settle(self, value: Any = None) -> None:
        """The first value counts."""
        if self.done:
            return
        self.done, self.value = True, value
        if self._then is not None:
            self._then()

    def when_done(self, then: Act) -> None:
        if self.done:
            then()
        else:
            self._then = then

    def __await__(self) -> Generator["Promise", None, Any]:
        if not self.done:
            yield self
        return self.value


class CoreRaised(Exception):
    """A core broke its own assertions, or met what it does not handle: a bug, wherever the fault came from."""


class World(Schedule):
    """The clock, the heap and the trace. Acts of one instant happen in the order they were asked for.

    Whatever is done, asked for or noted is a deed; `Endless` once there are too many of them.
    """

    def __init__(
        self,
        seed: int,
        show: Callable[[str], None] | None = None,
        *,
        deeds_max: int = DEEDS_MAX,
    ) -> None:
        super().__init__(START)
        self.seed = seed
        self.steps = 0
        self._deeds = 0
        self._deeds_max = deeds_max
        self._deeds_before = 0  # this instant
        self._last_act: Act | None = None
        self._last_lines: deque[str] = deque(maxlen=5)
        self._show = show
        self._hash = blake2b(digest_size=16)

    def rng(self, name: str) -> Random:
        """Everyone draws from a stream of its own, so that a draw more here changes nothing there."""
        return Random(f"{self.seed}/{name}")

    def at(self, instant: int, act: Act) -> None:
        self._count()
        super().at(instant, act)

    def sleep(self, milliseconds: int) -> Promise:
        promise = Promise()
        self.after(milliseconds, promise.settle)
        return promise

    def within(self, milliseconds: int, promise: Promise, late: Any = None) -> Promise:
        """The same promise, which is settled with `late` when its time is up."""
        self.after(milliseconds, lambda: promise.settle(late))
        return promise

    def spawn(self, coroutine: Coroutine[Promise, None, Any]) -> Promise:
        """Run it from now on; the promise is kept when it returns."""
        ended = Promise()
        self.after(0, lambda: self._resume(coroutine, ended))
        return ended

    def _resume(self, coroutine: Coroutine[Promise, None, Any], ended: Promise) -> None:
        try:
            promise = coroutine.send(None)
        except StopIteration as end:
            ended.settle(end.value)
            return
        promise.when_done(lambda: self.after(0, lambda: self._resume(coroutine, ended)))

    def run(self, until: int, stop: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass until an instant, or until `stop()`; whether it stopped."""
        before = self.now
        while (act := self.due(until)) is not None:
            if self.now > before:
                before, self._deeds_before = self.now, self._deeds
            self._last_act = act
            self._count()
            self.steps += 1
            act()
            if stop():
                return True
        if until > self.now:
            self.now, self._deeds_before = until, self._deeds
        return False

    def note(self, who: str, what: str) -> None:
        """One line of the trace."""
        self._count()
        line = f"{self.now - START:>7} {who:<12} {what}"
        self._last_lines.append(line)
        self._hash.update(line.encode())
        if self._show is not None:
            self._show(line)

    def _count(self) -> None:
        self._deeds += 1
        at_once = self._deeds - self._deeds_before
        if at_once > DEEDS_AT_ONCE_MAX:
            raise Endless(f"{at_once} deeds at instant {self.now - START}; {self._told()}")
        if self._deeds > self._deeds_max:
            raise Endless(f"{self._deeds} deeds by instant {self.now - START}; {self._told()}")

    def _told(self) -> str:
        """What was done last."""
        name = getattr(self._last_act, "__qualname__", type(self._last_act).__name__)
        return "\n  ".join((f"the last was {name}, the last lines:", *self._last_lines))

    def digest(self, data: bytes) -> None:
        """Let bytes count in the trace hash."""
        self._hash.update(data)

    @property
    def trace_hash(self) -> str:
        return self._hash.hexdigest()
