"""Work on the disk that comes by the thousand, as when a node starts or takes over many partitions: a slice at a time.

Between two slices the loop hears what else happened. A node that opened all its logs in one go would be deaf for
seconds, and lose its place in the quorum.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from brokers.effects import CloseLog, OpenLog
from brokers.ids import TopicPartition

SLICE_S: Final = 0.02

Unhurried: TypeAlias = OpenLog | CloseLog


class Backlog:
    """Does what it is given in order, but for logs that are closed before their turn to be opened came."""

    def __init__(
        self, perform: Callable[[Unhurried], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._perform = perform
        self._loop = loop
        self._waiting: deque[Unhurried] = deque()
        self._to_open: dict[TopicPartition, OpenLog] = {}  # the latest of each
        self._turn: asyncio.Handle | None = None

    def put(self, effect: Unhurried) -> None:
        if type(effect) is OpenLog:
            self._to_open[effect.partition] = effect
        else:
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

    def _do(self, effect: Unhurried) -> None:
        if type(effect) is OpenLog:
            if self._to_open.get(effect.partition) is not effect:
                return
            del self._to_open[effect.partition]
        self._perform(effect)

    def end(self) -> None:
        """What was to be closed or removed is; nothing is opened any more."""
        if self._turn is not None:
            self._turn.cancel()
        while self._waiting:
            effect = self._waiting.popleft()
            if type(effect) is CloseLog:
                self._perform(effect)
