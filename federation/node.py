"""A region's node: the broker and the linker as one core, which the real process and the simulator run.

The two talk inside this module: region events that the linker emits are stepped into the broker, region effects that
the broker emits are stepped into the linker, in the order they were emitted.
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
    """Broker and linker. `deadline` is the instant at which `TimeReached` is due."""

    def __init__(self, broker: Broker, linker: Linker) -> None:
        self._broker = broker
        self._linker = linker
        self._logs_watched: bool | None = None  # None before the first event

    @property
    def deadline(self) -> Instant | None:
        return earliest(self._broker.deadline, self._linker.deadline)

    def step(self, event: NodeEvent, now: Instant) -> list[NodeEffect]:
        """Handles the event, and all events between the two that follow from it; returns the effects for the host."""
        if type(event) in _FOR_LINKER or self._logs_watched is None:
            return self._run(deque([event]), [], now)
        effects: list[Any] = self._broker.step(event, now)  # type: ignore[arg-type]  # seen above
        for effect in effects:
            if type(effect) in _FROM_BROKER:
                return self._pass_on(effects, now)
        return effects  # nearly always

    def stop(self) -> list[Effect]:
        """The writes of a clean stop."""
        return self._broker.stop()

    def _pass_on(self, stepped: Sequence[Any], now: Instant) -> list[NodeEffect]:
        """Steps the broker's effects for the linker into it; returns the other effects and those that follow."""
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
                for emitted in self._linker.step(event, now):
                    (events if type(emitted) in _FOR_BROKER else effects).append(emitted)
                self._watch(now)
        return effects

    def _watch(self, now: Instant) -> None:
        """Tells the broker whether to report every append: only while a link or a stream needs it."""
        wanted = self._linker.follows_logs
        if wanted is not self._logs_watched:
            self._logs_watched = wanted
            self._broker.step(WatchRegion(wanted), now)
