"""The active controller connects to brokers that send no requests, to find out whether their process still listens."""

from functools import partial

from brokers.continuations import Continuations
from brokers.effects import Changed, Effect
from brokers.events import Answered
from brokers.ids import BrokerId, Instant, Offset, Peer, Ticket
from brokers.membership.broker_liveness import TIMEOUT_MS, BrokerLiveness, Fence, Probe, ProbeEffect
from brokers.metadata.commands.broker_commands import FenceBroker
from brokers.metadata.log.raft_manager import RaftManager
from brokers.node.local_controller import LocalController
from brokers.timers import DeadlineTimer, Timers
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest

CHANNEL = "probe"
VERSION = 4
QUESTION = ApiVersionsRequest(client_software_name="causeway", client_software_version="probe")


class BrokerProbes:
    """`moved` after whatever may have changed the image, or who the active controller is."""

    def __init__(
        self,
        raft: RaftManager,
        controller: LocalController,
        continuations: Continuations,
        timers: Timers,
    ) -> None:
        self._raft = raft
        self._controller = controller
        self._continuations = continuations
        self._liveness = BrokerLiveness()
        self._seen: Offset | None = None  # up to where the image was looked at; None at rest
        self._deadline = DeadlineTimer(timers, self._on_time)

    def moved(self, now: Instant) -> list[Effect]:
        image = self._raft.image
        if not self._controller.is_active:
            if self._seen is not None:
                self._seen = None
                self._liveness.rest()
                self._deadline.set(self._liveness.deadline)
            return []
        if image.next_offset == self._seen:
            return []
        self._seen = image.next_offset
        unfenced = {
            broker.id: (Peer(broker.id, broker.host, broker.port), broker.broker_epoch)
            for broker in image.brokers.values()
            if not broker.fenced and broker.id != self._controller.node_id
        }
        return self._run(self._liveness.watch(unfenced, now), now)

    def heard(self, broker_id: BrokerId, ticket: Ticket, now: Instant) -> None:
        """A broker has sent a request, which may wait here."""
        self._liveness.heard(broker_id, ticket, now)

    def disconnected(self, tickets: tuple[Ticket, ...], now: Instant) -> list[Effect]:
        if self._seen is None:
            return []
        return self._run(self._liveness.disconnected(tickets, now), now)

    def _run(self, found: list[ProbeEffect], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for effect in found:
            match effect:
                case Probe(peer):
                    effects += self._continuations.ask(
                        peer, CHANNEL, ApiKey.API_VERSIONS, VERSION, QUESTION, TIMEOUT_MS,
                        partial(self._on_probed, peer),
                    )  # fmt: skip
                case Fence(peer, broker_epoch):
                    why = f"nobody listens at {peer.host}:{peer.port} any more"
                    effects.append(Changed(f"broker {peer.node_id}", "gone", why))
                    command = FenceBroker(peer.node_id, broker_epoch)
                    effects += self._controller.decide(command, lambda result, at: [], now)
        self._deadline.set(self._liveness.deadline)
        return effects

    def _on_probed(self, peer: Peer, answered: Answered, now: Instant) -> list[Effect]:
        return self._run(self._liveness.probed(peer, answered.failure, now), now)

    def _on_time(self, now: Instant) -> list[Effect]:
        return self._run(self._liveness.on_time(now), now)
