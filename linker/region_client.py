"""What the cores of this folder work with: the region's view, timers, randomness, and questions with an answer.

A question to the region carries a ticket; `answered` finds who asked. Tickets begin far above the broker's own.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from brokers.errors import Refusal
from brokers.ids import Instant, Ticket
from brokers.metadata.commands.commands import Submitted
from brokers.ports import Rng
from brokers.region import Propose, RegionEvent, RegionView
from brokers.timers import Timers

FIRST_TICKET: Ticket = 1 << 62

Effects: TypeAlias = list[
    Any
]  # of LinkerEffect; spelled loosely because the cores below know a part of it each
Then: TypeAlias = Callable[[Any, Instant], Effects]


class RegionClient:
    """One per linker core, shared by everything in it."""

    def __init__(self, view: RegionView, rng: Rng) -> None:
        self.view = view
        self.rng = rng
        self.timers = Timers()
        self._next_ticket = FIRST_TICKET
        self._waiting: dict[Ticket, Then] = {}

    @property
    def has_several_brokers(self) -> bool:
        """Whether links have to be suspended: every node would dial, and a cut could be taken from a follower's log."""
        return len(self.view.image.brokers) > 1

    def ask(self, question: Callable[[Ticket], RegionEvent], then: Then) -> RegionEvent:
        """The event to emit; `then` is called once with the region's answer."""
        self._next_ticket += 1
        self._waiting[self._next_ticket] = then
        return question(self._next_ticket)

    def propose(
        self, command: Submitted, then: Callable[[object | Refusal, Instant], Effects]
    ) -> RegionEvent:
        """Ask the controller; `then` gets the result or the `Refusal`."""
        return self.ask(
            lambda ticket: Propose(ticket, command), lambda answer, now: then(answer.result, now)
        )

    def answered(self, answer: Any, now: Instant) -> Effects:
        """Hand the region's answer to whoever asked."""
        return self._waiting.pop(answer.ticket)(answer, now)
