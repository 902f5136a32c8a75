"""A region's node: the broker and the linker behind one door, as the real process and the simulator both run them.

What one asks of the other never leaves this module: region events that the linker emits are stepped into the broker,
region effects that the broker emits are stepped into the linker, in the order they were emitted.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, get_args

from brokers.effects import Effect
from brokers.events import TimeReached
from brokers.ids import Instant
from brokers.node.broker import Broker, BrokerEvent
from brokers.region import Ready, RegionEffect, RegionEvent, WatchRegion
from brokers.timers import earliest
from linker.events import LinkerEffect, LinkerEvent
from linker.linker import Linker

NodeEvent: TypeAlias = BrokerEvent | LinkerEvent
NodeEffect: TypeAlias = "Effect | LinkerEffect | Ready"

_FOR_BROKER: Final = frozenset(get_args(RegionEvent))
_FROM_BROKER: Final = frozenset(get_args(RegionEffect))
_FOR_LINKER: Final = frozenset(get_args(LinkerEvent))
_FOR_LINKER_ALONE: Final = _FOR_LINKER - {TimeReached}


class RegionNode:
    """Broker + Linker. `step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(self, broker: Broker, linker: Linker) -> None:
        self._broker = broker
        self._linker = linker
        self._logs_watched: bool | None = None  # None before the first event

    @property
    def deadline(self) -> Instant | None:
        return earliest(self._broker.deadline, self._linker.deadline)

    def step(self, event: NodeEvent, now: Instant) -> list[NodeEffect]:
        """Everything that the event leads to inside the node, and what is left for the host to do."""
        if type(event) in _FOR_LINKER or self._logs_watched is None:
            return self._run(deque([event]), [], now)
        effects: list[Any] = self._broker.step(event, now)  # type: ignore[arg-type]  # seen above
        for effect in effects:
            if type(effect) in _FROM_BROKER:
                return self._pass_on(effects, now)
        return effects  # as nearly always: all for the host

    def stop(self) -> list[Effect]:
        """What a clean stop still has to write."""
        return self._broker.stop()

    def _pass_on(self, stepped: Sequence[Any], now: Instant) -> list[NodeEffect]:
        """What is for the linker leaves the broker's effects, and what comes of it joins them."""
        events: deque[Any] = deque()
        effects: list[NodeEffect] = []
        for effect in stepped:
            (events if type(effect) in _FROM_BROKER else effects).append(effect)
        return self._run(events, effects, now)

    def _run(self, events: deque[Any], effects: list[NodeEffect], now: Instant) -> list[NodeEffect]:
        self._watch(now)
        while events:
            event = events.popleft()
            kind = type(event)
            if kind not in _FOR_LINKER_ALONE:
                for effect in self._broker.step(event, now):
                    (events if type(effect) in _FROM_BROKER else effects).append(effect)
            if kind in _FOR_LINKER:
                if kind is Ready:
                    effects.append(event)
                for asked in self._linker.step(event, now):
                    (events if type(asked) in _FOR_BROKER else effects).append(asked)
                self._watch(now)
        return effects

    def _watch(self, now: Instant) -> None:
        """The broker tells what the linker wants to hear; of every write only while a link or a stream needs it."""
        wanted = self._linker.follows_logs
        if wanted is not self._logs_watched:
            self._logs_watched = wanted
            self._broker.step(WatchRegion(wanted), now)
