"""A broker that was asked to stop hands over what it leads, and doubles nothing.

A batch that is appended, but not acknowledged before another leads, is refused and may be there all the same: a
producer that is not idempotent then writes it twice. So a broker that wants to go lets what arrives wait, unappended,
until what was appended before is replicated and another leads; then it says who does (KIP-951). What was written with
acks=1 is kept by that, too. What arrives at the next leader too early waits there.
"""

from collections.abc import Callable, Collection, MutableMapping
from functools import partial

from brokers.effects import Effect
from brokers.errors import KafkaError
from brokers.ids import BrokerId, Instant, Ticket, TopicPartition
from brokers.metadata.image.image import Image
from brokers.partition.delayed_operations import OnComplete
from brokers.partition.replica import ALL_REPLICAS, Replica
from brokers.timers import Act, Timers

# A follower that has not come up in this time may be gone: the others are not to wait for it.
DRAIN_MS = 1_000
# A leader that has said that it goes, and does not, is believed no longer than this.
TIMEOUT_MS = 1_000


class ControlledShutdown:
    """`close`, then `hold` what arrives while it `is_closed`; `moved` after each change of the image.

    `leaving` are the brokers that shut down and may lead yet.

    Without a controller nothing is let through again: the broker ends soon, and what it appended now might be refused.
    """

    def __init__(
        self,
        partitions: MutableMapping[TopicPartition, Replica],
        timers: Timers,
        abandoned: MutableMapping[Ticket, Callable[[], None]],
    ) -> None:
        self.is_closed = False
        self.leaving: Collection[BrokerId] = ()
        self._shutting_down: dict[tuple[BrokerId, int], bool] = {}  # whether one is believed
        self._partitions = partitions
        self._timers = timers
        self._abandoned = abandoned
        self._held: dict[Ticket, Act] = {}

    def close(self, then: Act, now: Instant) -> list[Effect]:
        """Append no more; `then` runs once, when what was appended is replicated or has had its time."""
        self.is_closed = True
        unsettled: set[TopicPartition] = set()
        drained = _once(then)
        for partition, replica in self._partitions.items():
            if _is_unsettled(replica):
                unsettled.add(partition)
                assert replica.log is not None
                end = replica.log.log_end_offset
                replica.acknowledge(end, ALL_REPLICAS, _settles(partition, unsettled, drained))
        if not unsettled:
            return drained(now)
        self._timers.set(now + DRAIN_MS, drained)
        return []

    @property
    def leads(self) -> bool:
        """Whether anything is led here, for all this node knows."""
        return any(not replica.follows for replica in self._partitions.values())

    def hold(self, ticket: Ticket, act: Act) -> list[Effect]:
        """`act` runs when it is known who leads."""
        self._held[ticket] = act
        self._abandoned[ticket] = lambda: self._forget(ticket)
        return []

    def moved(self, image: Image, now: Instant) -> list[Effect]:
        """The image may say that others lead by now."""
        known, self._shutting_down = self._shutting_down, {}
        for broker in image.brokers.values():
            if broker.in_controlled_shutdown and not broker.fenced:
                key = broker.id, broker.broker_epoch
                if key not in known:
                    self._timers.set(now + TIMEOUT_MS, partial(self._doubt, key))
                self._shutting_down[key] = known.get(key, True)
        return self._look(now)

    def _doubt(self, key: tuple[BrokerId, int], now: Instant) -> list[Effect]:
        if key in self._shutting_down:
            self._shutting_down[key] = False
        return self._look(now)

    def _look(self, now: Instant) -> list[Effect]:
        self.leaving = [each for (each, _), believed in self._shutting_down.items() if believed]
        return [] if self.is_closed and self.leads else self._open(now)

    def _open(self, now: Instant) -> list[Effect]:
        self.is_closed = False
        held, self._held = self._held, {}
        effects: list[Effect] = []
        for ticket, act in held.items():
            self._abandoned.pop(ticket, None)
            effects += act(now)
        return effects

    def _forget(self, ticket: Ticket) -> None:
        self._held.pop(ticket, None)


def _is_unsettled(replica: Replica) -> bool:
    """Whether this node leads it with others in sync, and they may lack something."""
    leadership, log = replica.leadership, replica.log
    if leadership is None or log is None or len(leadership.isr_state.isr) < 2:
        return False
    return replica.high_watermark < log.log_end_offset


def _settles(partition: TopicPartition, unsettled: set[TopicPartition], drained: Act) -> OnComplete:
    def placed(error: KafkaError, now: Instant) -> list[Effect]:
        unsettled.discard(partition)
        return [] if unsettled else drained(now)

    return placed


def _once(then: Act) -> Act:
    is_done = False

    def act(now: Instant) -> list[Effect]:
        nonlocal is_done
        if is_done:
            return []
        is_done = True
        return then(now)

    return act
