"""What the parts of the linker core share: the region's view, timers, an Rng, and requests to the region.

A request to the region carries a ticket, by which `answered` finds its callback. Tickets begin far above the broker's.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from brokers.errors import Refusal
from brokers.ids import Instant, Ticket
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.document_commands import DocumentChange
from brokers.metadata.commands.mirror_commands import (
    CreateMirrorTopic,
    RaiseLeaderEpochs,
    SetTopicWriter,
)
from brokers.metadata.image.image import BrokerImage
from brokers.ports import Rng
from brokers.region import Propose, RegionEvent, RegionView
from brokers.timers import Timers
from linker.coordinator_election import coordinator_of
from linker.joint_proposals import JointProposals, OnResult
from linker.node_limits import UNLIMITED, NodeLimits
from linker.records.hole_ledger import HoleIndex
from linker.watch_quotas import WatchQuotas
from linker.window_budget import WindowBudget

FIRST_TICKET: Ticket = 1 << 62

# Of LinkerEffect. The modules below know a part of its members each, so the type says less.
Effects: TypeAlias = list[Any]
Then: TypeAlias = Callable[[Any, Instant], Effects]
# Receives why something was not done; None if it was.
Done: TypeAlias = Callable[[Refusal | None, Instant], Effects]


class RegionClient:
    """One per linker core. `is_coordinator`: this broker is the link coordinator of its region."""

    def __init__(self, view: RegionView, rng: Rng, limits: NodeLimits = UNLIMITED) -> None:
        self.limits = limits
        self.windows = WindowBudget(limits.window_growth_max)
        self.watching = WatchQuotas(limits.watch)
        self.view = view
        self.rng = rng
        self.timers = Timers()
        self.holes = HoleIndex()
        self.is_coordinator = False
        self.commits: Counter[str] = Counter()  # of group offsets at this broker, by topic
        self._next_ticket = FIRST_TICKET
        self._waiting: dict[Ticket, Then] = {}
        self._together = JointProposals(self.timers, self.propose, limits.together)

    @property
    def has_several_brokers(self) -> bool:
        return len(self.view.image.brokers) > 1

    @property
    def coordinator(self) -> BrokerImage | None:
        """The broker that coordinates the links of this region, by the newest image."""
        return coordinator_of(self.view.image)

    def elect(self) -> bool:
        """The set of brokers may have changed. Whether this one has become the link coordinator, or is it no longer."""
        before, found = self.is_coordinator, self.coordinator
        self.is_coordinator = found is not None and found.id == self.view.broker_id
        return self.is_coordinator is not before

    def ask(self, question: Callable[[Ticket], RegionEvent], then: Then) -> RegionEvent:
        """Returns the event to emit; `then` is called once with the region's answer."""
        self._next_ticket += 1
        self._waiting[self._next_ticket] = then
        return question(self._next_ticket)

    def propose(
        self, command: Submitted, then: Callable[[object | Refusal, Instant], Effects]
    ) -> RegionEvent:
        """Propose a command to the controller; `then` is called with the result or the `Refusal`."""
        return self.ask(
            lambda ticket: Propose(ticket, command), lambda answer, now: then(answer.result, now)
        )

    def put(self, change: DocumentChange, then: Done) -> Effects:
        """Write a document, together with others that are written at the same time; `then` receives None, or the
        `Refusal` of this one."""
        self._together.put(change, then)
        return []

    def set_writer(self, command: SetTopicWriter, then: OnResult) -> Effects:
        """Change the writer of a topic, together with others; `then` receives the result, or the `Refusal`."""
        self._together.set_writer(command, then)
        return []

    def create_mirror_topic(self, command: CreateMirrorTopic, then: OnResult) -> Effects:
        """The same for a new mirror topic."""
        self._together.create_mirror_topic(command, then)
        return []

    def raise_leader_epochs(self, command: RaiseLeaderEpochs, then: OnResult) -> Effects:
        """The same for leader epochs. The result may have other partitions of the topic besides."""
        self._together.raise_leader_epochs(command, then)
        return []

    def forget(self, ticket: Ticket) -> None:
        """Nobody waits for this answer any more, or the question was never sent."""
        self._waiting.pop(ticket, None)

    def answered(self, answer: Any, now: Instant) -> Effects:
        """Call the callback of the request that this answers."""
        then = self._waiting.pop(answer.ticket, None)
        return then(answer, now) if then is not None else []
