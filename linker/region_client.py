"""What the parts of the linker core share: the region's view, timers, an Rng, and requests to the region.

A request to the region carries a ticket, by which `answered` finds its callback. Tickets begin far above the broker's.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, Ticket
from brokers.metadata.commands.commands import Submitted
from brokers.metadata.commands.document_commands import DocumentChange, PutDocuments
from brokers.metadata.commands.mirror_commands import SetTopicWriter, SetTopicWriters
from brokers.metadata.image.image import BrokerImage
from brokers.ports import Rng
from brokers.region import Propose, RegionEvent, RegionView
from brokers.timers import Act, Timers
from linker.coordinator_election import coordinator_of
from linker.gathering import Gathering, after
from linker.records.hole_ledger import HoleIndex

FIRST_TICKET: Ticket = 1 << 62
# The disk may have written it although it failed, or the controller that was lost may have.
UNKNOWN_OUTCOMES: Final = (KafkaError.KAFKA_STORAGE_ERROR, KafkaError.REQUEST_TIMED_OUT)

# Of LinkerEffect. The modules below know a part of its members each, so the type says less.
Effects: TypeAlias = list[Any]
Then: TypeAlias = Callable[[Any, Instant], Effects]
OnPut: TypeAlias = Callable[[Refusal | None, Instant], Effects]
OnWriter: TypeAlias = Callable[[object | Refusal, Instant], Effects]


class RegionClient:
    """One per linker core. `is_coordinator`: this broker is the link coordinator of its region."""

    def __init__(self, view: RegionView, rng: Rng) -> None:
        self.view = view
        self.rng = rng
        self.timers = Timers()
        self.holes = HoleIndex()
        self.is_coordinator = False
        self.commits: Counter[str] = Counter()  # of group offsets at this broker, by topic
        self._next_ticket = FIRST_TICKET
        self._waiting: dict[Ticket, Then] = {}
        self._puts = Gathering(self.timers, self._propose_puts)
        self._writers = Gathering(self.timers, self._propose_writers)

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

    def put(self, change: DocumentChange, then: OnPut) -> Effects:
        """Write a document, together with others that are written at the same time; `then` receives None, or the
        `Refusal` of this one."""
        self._puts.add((change, then))
        return []

    def _propose_puts(
        self, puts: list[tuple[DocumentChange, OnPut]], done: Act
    ) -> list[RegionEvent]:
        command = PutDocuments(tuple(change for change, _ in puts))
        return [self.propose(command, partial(self._on_put, puts, done))]

    def _on_put(
        self, puts: list[tuple[DocumentChange, OnPut]], done: Act, result: object, now: Instant
    ) -> Effects:
        refusal = result if isinstance(result, Refusal) else None
        if refusal and len(puts) > 1 and refusal.error not in UNKNOWN_OUTCOMES:
            each_done = after(len(puts), done)  # one of them is at fault
            return [one for put in puts for one in self._propose_puts([put], each_done)]
        return [effect for _, then in puts for effect in then(refusal, now)] + done(now)

    def set_writer(self, command: SetTopicWriter, then: OnWriter) -> Effects:
        """Change the writer of a topic, together with others; `then` receives the result, or the `Refusal`."""
        self._writers.add((command, then))
        return []

    def _propose_writers(
        self, changes: list[tuple[SetTopicWriter, OnWriter]], done: Act
    ) -> list[RegionEvent]:
        if len(changes) > 1:
            command = SetTopicWriters(tuple(each for each, _ in changes))
            return [self.propose(command, partial(self._on_writers, changes, done))]
        ((change, then),) = changes
        return [self.propose(change, lambda result, now: then(result, now) + done(now))]

    def _on_writers(
        self,
        changes: list[tuple[SetTopicWriter, OnWriter]],
        done: Act,
        result: object,
        now: Instant,
    ) -> Effects:
        if isinstance(result, Refusal) and result.error not in UNKNOWN_OUTCOMES:
            # The controller's release does not know the command, or one is at fault.
            each_done = after(len(changes), done)
            return [one for each in changes for one in self._propose_writers([each], each_done)]
        results = [result] * len(changes)
        if isinstance(result, tuple):
            unsaid = Refusal(KafkaError.REQUEST_TIMED_OUT, "the controller has not said")
            results = [*result, *[unsaid] * len(changes)]
        answered = zip(changes, results, strict=False)
        return [one for (_, then), each in answered for one in then(each, now)] + done(now)

    def answered(self, answer: Any, now: Instant) -> Effects:
        """Call the callback of the request that this answers."""
        return self._waiting.pop(answer.ticket)(answer, now)
