"""This node's life as a broker, from its first registration to its last heartbeat.

    registering --> catching up --> fenced <--> serving      leaving and gone can follow any of them
         ^_______________________________________'           (the controller no longer knows this registration)

A broker that has been fenced goes on serving what it leads until it hears that others lead it; it goes on beating, and
the controller lets it in again. Nothing here knows where the controller is: a request either is answered, or fails.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from brokers.effects import Changed, End, Serve
from brokers.errors import KafkaError
from brokers.ids import NO_BROKER_EPOCH, BrokerId, Instant, Offset

RETRY_MS = 50  # doubled by each failure, up to the heartbeat interval
LEAVING_INTERVAL_MS = 50  # Kafka's, between heartbeats that ask to leave
# A supervisor that kills what has not ended usually gives it ten seconds.
LEAVE_TIMEOUT_MS = 8_000
# Without a controller nobody can take over anyway, and the whole region may be on its way down.
SILENCE_TIMEOUT_MS = 2_000

# A controller that no longer knows this registration: it was taken away, or the node's id has been given to another.
_UNKNOWN = (KafkaError.STALE_BROKER_EPOCH, KafkaError.BROKER_ID_NOT_REGISTERED)
_FINAL = (
    KafkaError.INCONSISTENT_CLUSTER_ID,
    KafkaError.UNSUPPORTED_VERSION,
    KafkaError.INVALID_REGISTRATION,
)


@dataclass(frozen=True, slots=True)
class Register:
    """Ask the controller for a broker epoch -> `registered` or `not_registered`."""

    previous_broker_epoch: int


@dataclass(frozen=True, slots=True)
class Beat:
    """Send a heartbeat -> `beaten` or `not_beaten`."""

    broker_epoch: int
    want_fence: bool
    want_shut_down: bool


@dataclass(frozen=True, slots=True)
class Unfenced:
    """The controller counts on this broker, for the first time in this life."""


LifeEffect: TypeAlias = Register | Beat | Serve | Unfenced | End | Changed


class State(Enum):
    REGISTERING = "registering"
    CATCHING_UP = "catching up"
    FENCED = "fenced"
    SERVING = "serving"
    GONE = "gone"


class BrokerState:
    """One request is under way at a time; what became urgent meanwhile goes out with the next, at once."""

    def __init__(
        self,
        node_id: BrokerId,
        *,
        interval_ms: int,
        session_ms: int,
        previous_broker_epoch: int = NO_BROKER_EPOCH,
    ) -> None:
        self.state = State.REGISTERING
        self.broker_epoch = NO_BROKER_EPOCH
        self._node_id = node_id
        self._interval_ms = interval_ms
        self._session_ms = session_ms
        self._previous_broker_epoch = previous_broker_epoch
        self._asking = False
        self._urgent = False
        self._failures = 0
        self._next_at: Instant | None = None  # when to ask again
        self._answered_at: Instant = 0
        self._has_served = False
        self._was_unfenced = False
        self._duplicate_until: Instant | None = None
        self._leave_until: Instant | None = None

    @property
    def is_leaving(self) -> bool:
        return self._leave_until is not None

    @property
    def is_catching_up(self) -> bool:
        """Whether `progressed` may have an effect."""
        return self.state is State.CATCHING_UP

    @property
    def deadline(self) -> Instant | None:
        if self.state is State.GONE:
            return None
        waits = (self._next_at, self._timeout_ends)
        return min((due for due in waits if due is not None), default=None)

    @property
    def _timeout_ends(self) -> Instant | None:
        if self._leave_until is None:
            return None
        return min(self._leave_until, self._answered_at + SILENCE_TIMEOUT_MS)

    # --- in ---

    def start(self, now: Instant) -> list[LifeEffect]:
        return self._ask(now)

    def on_time(self, now: Instant) -> list[LifeEffect]:
        if self.deadline is None or now < self.deadline:
            return []
        ends = self._timeout_ends
        if ends is not None and now >= ends:
            return self._gone_unheard()
        return self._ask(now)

    def leave(self, now: Instant, *, hands_over: bool) -> list[LifeEffect]:
        """Asked to stop: leaderships are handed over first, if there is anything and anyone; asked twice, at once."""
        if self.state is State.GONE:
            return []
        if self.is_leaving or not hands_over or not self._has_served:
            return self._gone()
        self._leave_until, self._answered_at = now + LEAVE_TIMEOUT_MS, now
        return [Changed("broker", "leaving", "asked to stop"), *self._hurry(now)]

    def progressed(
        self, next_offset: Offset, *, is_settled: bool, now: Instant
    ) -> list[LifeEffect]:
        """The image has reached `next_offset`; with `is_settled` every log that it asks for is open, or has failed."""
        if not self.is_catching_up or next_offset <= self.broker_epoch:
            return []
        if not is_settled:
            return []
        self.state = State.FENCED
        effects: list[LifeEffect] = [] if self._has_served else [Serve()]
        self._has_served = True
        return [*effects, *self._hurry(now)]

    def news(self, now: Instant) -> list[LifeEffect]:
        """A heartbeat has something to say that must not wait."""
        return [] if self.state is State.GONE else self._hurry(now)

    # --- registration ---

    def registered(self, broker_epoch: int, now: Instant) -> list[LifeEffect]:
        """The caller tells of progress next: the image may be there already."""
        if self.state is State.GONE:
            return []
        self._answered(now)
        self.state, self.broker_epoch = State.CATCHING_UP, broker_epoch
        self._previous_broker_epoch = broker_epoch  # should it be asked for: nothing was lost since
        self._duplicate_until = None
        return [
            Changed("broker", "registered", f"broker epoch {broker_epoch}"),
            *self._ask(now),
        ]

    def not_registered(self, error: KafkaError, because: str, now: Instant) -> list[LifeEffect]:
        self._asking = False
        if self.state is State.GONE:
            return []
        if error in _FINAL:
            return self._gone(f"the controller refuses node {self._node_id}: {because}")
        if error is not KafkaError.DUPLICATE_BROKER_REGISTRATION:
            self._retry(now)
            return []
        return self._duplicate(because, now)

    def _duplicate(self, because: str, now: Instant) -> list[LifeEffect]:
        """The one before may have been killed just now: then its session ends soon."""
        effects: list[LifeEffect] = []
        if self._duplicate_until is None:
            self._duplicate_until = now + self._session_ms + self._interval_ms
            effects = [Changed("broker", "waiting for its id", because)]
        if now >= self._duplicate_until:
            return self._gone(
                f"another node with node.id {self._node_id} is at work in this region: "
                f"give this one an id of its own, or stop the other first ({because})"
            )
        self._failures = 0
        self._next_at = min(now + self._interval_ms // 4, self._duplicate_until)
        return effects

    # --- heartbeats ---

    def beaten(self, *, is_fenced: bool, should_shut_down: bool, now: Instant) -> list[LifeEffect]:
        self._answered(now)
        if self.state is State.GONE:
            return []
        if self.is_leaving and should_shut_down:
            return self._gone()
        effects: list[LifeEffect] = []
        if self.state is State.FENCED and not is_fenced:
            effects = self._unfenced()
        elif self.state is State.SERVING and is_fenced:
            self.state = State.FENCED
            effects = [Changed("broker", "fenced", "the controller did not hear from it")]
        if self._urgent:
            return [*effects, *self._ask(now)]
        self._next_at = now + (LEAVING_INTERVAL_MS if self.is_leaving else self._interval_ms)
        return effects

    def _unfenced(self) -> list[LifeEffect]:
        self.state = State.SERVING
        first, self._was_unfenced = not self._was_unfenced, True
        return [Changed("broker", "unfenced"), *([Unfenced()] if first else [])]

    def not_beaten(self, error: KafkaError, now: Instant) -> list[LifeEffect]:
        self._asking = False
        if self.state is State.GONE:
            return []
        if error not in _UNKNOWN:
            self._retry(now)
            return []
        if self.is_leaving:
            return self._gone()
        self.state = State.REGISTERING
        return [Changed("broker", "registering", error.name), *self._ask(now)]

    # --- asking ---

    def _hurry(self, now: Instant) -> list[LifeEffect]:
        """What the controller should know at once."""
        if self._asking:
            self._urgent = True
            return []
        return self._ask(now)

    def _ask(self, now: Instant) -> list[LifeEffect]:
        self._asking, self._urgent, self._next_at = True, False, None
        if self.state is State.REGISTERING:
            return [Register(self._previous_broker_epoch)]
        want_fence = self.state is State.CATCHING_UP
        return [Beat(self.broker_epoch, want_fence, self.is_leaving)]

    def _answered(self, now: Instant) -> None:
        self._asking, self._failures, self._answered_at = False, 0, now

    def _retry(self, now: Instant) -> None:
        self._next_at = now + min(RETRY_MS << self._failures, self._interval_ms)
        self._failures = min(self._failures + 1, 10)

    # --- the end ---

    def _gone(self, reason: str | None = None) -> list[LifeEffect]:
        self.state, self._next_at = State.GONE, None
        return [End(reason)]

    def _gone_unheard(self) -> list[LifeEffect]:
        why = "the controller has not let it go in time; what it leads changes hands when it is missed"
        return [Changed("broker", "leaving without leave", why), *self._gone()]
