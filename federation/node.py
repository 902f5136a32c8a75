"""A region's node: the broker and the linker as one core, which the real process and the simulator run.

The two talk inside this module: region events that the linker emits are stepped into the broker, region effects that
the broker emits are stepped into the linker, in the order they were emitted. The linker may hear a little later that a
log has grown: replies, and the reads of fetches that wait for the log, go first.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, get_args

from brokers.effects import Effect
from brokers.events import TimeReached
from brokers.ids import Instant
from brokers.node.broker import Broker, BrokerEvent
from brokers.region import (
    PartitionAdvanced,
    Placed,
    Ready,
    RegionEffect,
    RegionEvent,
    WatchRegion,
)
from brokers.timers import earliest
from brokers.values import value
from linker.events import LinkerEffect, LinkerEvent
from linker.linker import Linker


@value
class LinkerDue:
    """As an effect: the host feeds it back, after the events that come of the effects before it. As an event: the
    linker takes what the broker has told it."""


NodeEvent: TypeAlias = BrokerEvent | LinkerEvent | LinkerDue
NodeEffect: TypeAlias = "Effect | LinkerEffect | Ready | LinkerDue"

_FOR_BROKER: Final = frozenset(get_args(RegionEvent))
_FROM_BROKER: Final = frozenset(get_args(RegionEffect))
_FOR_LINKER: Final = frozenset(get_args(LinkerEvent))
_FOR_LINKER_ALONE: Final = _FOR_LINKER - {TimeReached}
_CAN_WAIT: Final = frozenset((PartitionAdvanced, Placed))


class RegionNode:
    """Broker and linker. `deadline` is the instant at which `TimeReached` is due."""

    def __init__(self, broker: Broker, linker: Linker) -> None:
        self._broker = broker
        self._linker = linker
        # Events for one of them, from the other or from the host.
        self._between: deque[Any] = deque()
        self._logs_watched: bool | None = None  # None before the first event

    @property
    def deadline(self) -> Instant | None:
        return earliest(self._broker.deadline, self._linker.deadline)

    def step(self, event: NodeEvent, now: Instant) -> list[NodeEffect]:
        """Handles the event, and all events between the two that follow from it; returns the effects for the host."""
        if type(event) is LinkerDue:
            return self._run([], now)
        if type(event) in _FOR_LINKER or self._logs_watched is None:
            self._between.append(event)
            return self._run([], now)
        effects: list[Any] = self._broker.step(event, now)  # type: ignore[arg-type]  # seen above
        for effect in effects:
            if type(effect) in _FROM_BROKER:
                return self._pass_on(effects, now)
        return effects  # nearly always

    def stop(self) -> list[Effect]:
        """The writes of a clean stop."""
        return self._broker.stop()

    def _pass_on(self, stepped: Sequence[Any], now: Instant) -> list[NodeEffect]:
        """Steps the broker's effects for the linker into it, now or soon; returns the others and what follows."""
        is_due = not self._between
        effects: list[NodeEffect] = []
        for effect in stepped:
            (self._between if type(effect) in _FROM_BROKER else effects).append(effect)
        if all(type(each) in _CAN_WAIT for each in self._between):
            return [*effects, LinkerDue()] if is_due else effects
        return self._run(effects, now)

    def _run(self, effects: list[NodeEffect], now: Instant) -> list[NodeEffect]:
        """Adds to `effects` what follows from all that is between the two."""
        self._watch(now)
        events = self._between
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
