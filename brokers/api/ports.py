"""What request handlers use of the node around them, beside the concrete parts that lie below them."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from brokers.continuations import Then
from brokers.coordinator.runtime import CoordinatorRuntime
from brokers.effects import Effect, Reply
from brokers.events import Request
from brokers.groups.group_coordinator import GroupCoordinator
from brokers.ids import BrokerId, Instant, Peer, Ticket
from brokers.metadata.commands.commands import Command
from brokers.security.origin import Origin

Groups: TypeAlias = CoordinatorRuntime[GroupCoordinator]
Handle: TypeAlias = Callable[[Request, Instant], list[Effect]]
# Receives the id of a broker that sent a request to this node as a controller, and the request's ticket.
OnBrokerHeartbeat: TypeAlias = Callable[[BrokerId, Ticket, Instant], None]


class ControllerPort(Protocol):
    """This node as a controller (Kafka's QuorumController)."""

    @property
    def is_active(self) -> bool:
        """Whether this node is the active controller."""

    @property
    def controller(self) -> Peer | None:
        """The active controller as far as this node knows it; None where that is this node, or nobody is known."""

    def on_quorum_request(self, request: Request, now: Instant) -> list[Effect]:
        """Answer one of the quorum's own requests."""

    def decide(self, command: Command, then: Then, now: Instant) -> list[Effect]:
        """Decide a command here; `then` receives its result, or a `Refusal`, once it is committed and in force.

        The error NOT_CONTROLLER means that another node decides now: the outcome is unknown.
        """

    def decide_once(
        self, command: Command, then: Then, now: Instant, origin: Origin | None = None
    ) -> list[Effect]:
        """As `decide`, for a command that must not be repeated: where its outcome is unknown, the error is
        REQUEST_TIMED_OUT, which does not have clients try again as NOT_CONTROLLER does.

        What it changes is in the operator log as asked for by `origin`.
        """


def reply_to(ticket: Ticket) -> Then:
    """A continuation that answers a request."""
    return lambda message, now: [Reply(ticket, message)]
