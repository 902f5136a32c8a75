"""Where this node is the active controller: who of the brokers is gone, found out through the context."""

from functools import partial

from brokers.api.context import Context
from brokers.effects import Changed, Effect
from brokers.events import Answered
from brokers.ids import BrokerId, Instant, Offset, Peer, Ticket
from brokers.membership.broker_liveness import TIMEOUT_MS, BrokerLiveness, Fence, Probe, ProbeEffect
from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.wire.messages.api_versions import ApiVersionsRequest

CHANNEL = "probe"
API_VERSIONS, VERSION = 18, 4
QUESTION = ApiVersionsRequest(client_software_name="causeway", client_software_version="probe")


class BrokerProbes:
    """`moved` after whatever may have changed the image, or who the active controller is."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._prober = BrokerLiveness()
        self._seen: Offset | None = None  # up to where the image was looked at; None at rest
        self._due: Instant | None = None
        self._timer: int | None = None

    def moved(self, now: Instant) -> list[Effect]:
        context = self._context
        if not context.is_active:
            if self._seen is not None:
                self._seen = None
                self._prober.rest()
                self._arm()
            return []
        if context.next_offset == self._seen:
            return []
        self._seen = context.next_offset
        unfenced = {
            broker.id: (Peer(broker.id, broker.host, broker.port), broker.broker_epoch)
            for broker in context.image.brokers.values()
            if not broker.fenced and broker.id != context.config.node_id
        }
        return self._run(self._prober.watch(unfenced, now), now)

    def heard(self, broker_id: BrokerId, ticket: Ticket, now: Instant) -> None:
        """A broker's request is here, perhaps for long."""
        self._prober.heard(broker_id, ticket, now)

    def disconnected(self, tickets: tuple[Ticket, ...], now: Instant) -> list[Effect]:
        if self._seen is None:
            return []
        return self._run(self._prober.disconnected(tickets, now), now)

    def _run(self, found: list[ProbeEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for effect in found:
            match effect:
                case Probe(peer):
                    effects += self._context.ask(
                        peer, CHANNEL, API_VERSIONS, VERSION, QUESTION, TIMEOUT_MS,
                        partial(self._on_probed, peer),
                    )  # fmt: skip
                case Fence(peer, broker_epoch):
                    why = f"nobody listens at {peer.host}:{peer.port} any more"
                    effects.append(Changed(f"broker {peer.node_id}", "gone", why))
                    command = FenceBroker(peer.node_id, broker_epoch)
                    effects += self._context.propose(command, lambda result, at: [], now)
        self._arm()
        return effects

    def _on_probed(self, peer: Peer, answered: Answered, now: Instant) -> list[Effect]:
        return self._run(self._prober.probed(peer, answered.failure, now), now)

    def _arm(self) -> None:
        due, timers = self._prober.deadline, self._context.timers
        if due == self._due:
            return
        if self._timer is not None:
            timers.cancel(self._timer)
        self._due = due
        self._timer = None if due is None else timers.set(due, self._on_time)

    def _on_time(self, now: Instant) -> list[Effect]:
        self._due = self._timer = None
        return self._run(self._prober.on_time(now), now)
