"""A region's node: the broker and the linker behind one door, as the real process and the simulator both run them.

What one asks of the other never leaves this module: region events that the linker emits are stepped into the broker,
region effects that the broker emits are stepped into the linker, in the order they were emitted.
"""

from collections import deque
from typing import Any, Final, TypeAlias, get_args

from brokers.broker import Broker, BrokerEvent
from brokers.effects import Effect
from brokers.events import TimeReached
from brokers.ids import Instant
from brokers.region import Ready, RegionEffect, RegionEvent, Watch
from linker.events import LinkerEffect, LinkerEvent
from linker.linker import Linker

NodeEvent: TypeAlias = BrokerEvent | LinkerEvent
NodeEffect: TypeAlias = "Effect | LinkerEffect | Ready"

_FOR_BROKER: Final = frozenset(get_args(RegionEvent))
_FROM_BROKER: Final = frozenset(get_args(RegionEffect))
_FOR_LINKER: Final = frozenset(get_args(LinkerEvent)) - _FROM_BROKER - {TimeReached}


class RegionNode:
    """Broker + Linker. `step` is the only way in; `deadline` is when it wants `TimeReached`."""

    def __init__(self, broker: Broker, linker: Linker) -> None:
        self._broker = broker
        self._linker = linker
        self._watching = False

    @property
    def deadline(self) -> Instant | None:
        waits = (self._broker.deadline, self._linker.deadline)
        return min((due for due in waits if due is not None), default=None)

    def step(self, event: NodeEvent, now: Instant) -> list[NodeEffect]:
        """Everything that the event leads to inside the node, and what is left for the host to do."""
        effects: list[NodeEffect] = []
        events: deque[Any] = deque([event])
        if not self._watching:
            self._watching = True
            events.appendleft(Watch())
        while events:
            self._route(events.popleft(), now, events, effects)
        return effects

    def stop(self) -> list[Effect]:
        """What a clean stop still has to write."""
        return self._broker.stop()

    def _route(
        self, event: Any, now: Instant, events: deque[Any], effects: list[NodeEffect]
    ) -> None:
        kind = type(event)
        if kind not in _FOR_LINKER and kind not in _FROM_BROKER:
            for effect in self._broker.step(event, now):
                (events if type(effect) in _FROM_BROKER else effects).append(effect)
        if kind is Ready:
            effects.append(event)
        if kind in _FOR_LINKER or kind in _FROM_BROKER or kind is TimeReached:
            for asked in self._linker.step(event, now):
                (events if type(asked) in _FOR_BROKER else effects).append(asked)
