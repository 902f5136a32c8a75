"""Opens and closes thousands of logs, as at a node's start or when it gets many partitions, and writes the files of
their leader epochs and indexes: a slice of time at a time.

Between two slices the loop handles other events. A node that opened all its logs at once would handle nothing else for
seconds, and its leadership or vote in the quorum would time out.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from brokers.effects import CloseLog, ConfigureLog, OpenLog, SaveBehind
from brokers.ids import TopicPartition

SLICE_S: Final = 0.02

LogEffect: TypeAlias = OpenLog | ConfigureLog | CloseLog | SaveBehind


class Backlog:
    """Performs effects in order. The opening of a log that is closed before it was opened is skipped."""

    def __init__(
        self, perform: Callable[[LogEffect], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._perform = perform
        self._loop = loop
        self._waiting: deque[LogEffect] = deque()
        self._to_open: dict[TopicPartition, OpenLog] = {}  # the latest effect of each partition
        self._turn: asyncio.Handle | None = None

    def put(self, effect: LogEffect) -> None:
        if type(effect) is OpenLog:
            self._to_open[effect.partition] = effect
        elif type(effect) is CloseLog:
            self._to_open.pop(effect.partition, None)
        self._waiting.append(effect)
        if self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def _work(self) -> None:
        self._turn = None
        until = self._loop.time() + SLICE_S
        while self._waiting:
            self._do(self._waiting.popleft())
            if self._loop.time() >= until:
                break
        if self._waiting and self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def _do(self, effect: LogEffect) -> None:
        if type(effect) is OpenLog:
            if self._to_open.get(effect.partition) is not effect:
                return
            del self._to_open[effect.partition]
        self._perform(effect)

    def end(self) -> None:
        """Performs all that is left, except openings."""
        if self._turn is not None:
            self._turn.cancel()
        while self._waiting:
            effect = self._waiting.popleft()
            if type(effect) is CloseLog:
                self._perform(effect)
