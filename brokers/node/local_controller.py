"""This node as one of the controllers: decides here where it is the active one, else knows which node is."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from brokers.api.controller_apis import ControllerApi
from brokers.config.broker_config import BrokerConfig
from brokers.continuations import Continuations, Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import BrokerId, Instant, Offset, Peer, Ticket
from brokers.metadata.commands.commands import Command
from brokers.metadata.log.effects import MetadataEffect
from brokers.metadata.log.raft_manager import RaftManager
from brokers.security.origin import Origin
from brokers.timers import Act

# Answers one of Kafka's controller requests that this node sends to itself.
Serve: TypeAlias = Callable[[Any, Then, Instant], list[Effect]]
Publish: TypeAlias = Callable[[Sequence[MetadataEffect], Instant], list[Effect]]


class ControllerHandlers(Protocol):
    """Handlers of what the active controller answers, by API key."""

    @property
    def services(self) -> Mapping[int, Serve]:
        """Requests of nodes, by API key."""

    @property
    def controller_apis(self) -> Mapping[int, ControllerApi]:
        """Requests that brokers forward, by API key."""


class LocalController:
    """Results of commands come back by `decided`."""

    def __init__(
        self,
        config: BrokerConfig,
        raft: RaftManager,
        continuations: Continuations,
        *,
        publish: Publish,
        when_settled: Callable[[Act, Instant], list[Effect]],
        handlers: Callable[[], ControllerHandlers],
    ) -> None:
        """`publish` performs effects of `raft`; `when_settled` runs an act once all logs are open."""
        self.node_id: BrokerId = config.node_id
        self._raft = raft
        self._continuations = continuations
        self.ask = continuations.ask
        self._publish = publish
        self._when_settled = when_settled
        self._handlers = handlers
        self._deciding: dict[Ticket, Then] = {}

    @property
    def is_active(self) -> bool:
        return self._raft.is_active

    @property
    def controller(self) -> Peer | None:
        """The active controller; None also while this node is about to be the active controller itself."""
        known = self._raft.controller
        return None if known is None or known.node_id == self.node_id else known

    @property
    def is_known(self) -> bool:
        """Whether this node knows who the active controller is."""
        return self.is_active or self.controller is not None

    @property
    def next_offset(self) -> Offset:
        """Up to where the metadata log is in this node's image."""
        return self._raft.image.next_offset

    def serve(self, api_key: int, message: object, then: Then, now: Instant) -> list[Effect]:
        """Answer one of Kafka's controller requests here; `then` receives the response."""
        return self._handlers().services[api_key](message, then, now)

    def handle(self, request: Request, then: Then, now: Instant) -> list[Effect]:
        """Answer a request that would be forwarded, as the active controller; `then` receives the response."""
        return self._handlers().controller_apis[request.api_key].serve(request, then, now)

    def decide_once(
        self, command: Command, then: Then, now: Instant, origin: Origin | None = None
    ) -> list[Effect]:
        """As `decide`, for what must not be repeated: an unknown outcome is the error REQUEST_TIMED_OUT."""
        return self.decide(command, partial(_or_unknown, then), now, origin)

    def decide(
        self, command: Command, then: Then, now: Instant, origin: Origin | None = None
    ) -> list[Effect]:
        """`then` receives the result, or a `Refusal`, once it is committed and in force here."""
        ticket = self._continuations.new_ticket()
        self._deciding[ticket] = then
        return self._publish(self._raft.propose(command, ticket, now, origin), now)

    def decided(self, ticket: Ticket, result: object, now: Instant) -> list[Effect]:
        """The command with this ticket is committed, or refused."""
        return self.settled(self._deciding.pop(ticket), result, now)

    def settled(self, then: Then, result: object, now: Instant) -> list[Effect]:
        """Run `then` once the logs that the image asks for are open."""
        return self._when_settled(partial(then, result), now)

    def on_quorum_request(self, request: Request, now: Instant) -> list[Effect]:
        """Answer one of the quorum's own requests."""
        return self._publish(self._raft.on_request(request, now), now)

    def leave(self, now: Instant) -> list[Effect]:
        """Hand over the lead of the quorum, if this node has it (`RaftManager.has_left`)."""
        return self._publish(self._raft.leave(now), now)


def _or_unknown(then: Then, result: object, now: Instant) -> list[Effect]:
    if isinstance(result, Refusal) and result.error is KafkaError.NOT_CONTROLLER:
        result = Refusal(KafkaError.REQUEST_TIMED_OUT, result.because)
    return then(result, now)
