"""BrokerHeartbeat (key 63): a broker is alive, asks to be unfenced, or to shut down (KIP-631). Versions 0-2.

It names the log directories that failed (KIP-858); and those that get no new replicas (KIP-1066).
"""

from brokers.api.controller_apis import ControllerService
from brokers.api.ports import ControllerPort, OnBrokerHeartbeat
from brokers.effects import Effect
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import BrokerHeartbeat, BrokerHeartbeatReply
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
)

KEY = ApiKey.BROKER_HEARTBEAT
VERSIONS = (0, 2)


class BrokerHeartbeatHandler(ControllerService):
    """Answers BrokerHeartbeat requests."""

    def __init__(self, controller: ControllerPort, heard: OnBrokerHeartbeat) -> None:
        super().__init__(controller)
        self._heard = heard

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, BrokerHeartbeatRequest)
        self._heard(message.broker_id, request.ticket, now)
        return super().handle(request, now)

    def command(self, message: BrokerHeartbeatRequest) -> BrokerHeartbeat:
        return BrokerHeartbeat(
            broker_id=message.broker_id,
            broker_epoch=message.broker_epoch,
            metadata_offset=message.current_metadata_offset,
            want_fence=message.want_fence,
            want_shut_down=message.want_shut_down,
            offline_dirs=tuple(message.offline_log_dirs),
            cordoned_dirs=(
                None if message.cordoned_log_dirs is None else tuple(message.cordoned_log_dirs)
            ),
        )

    def response(self, result: BrokerHeartbeatReply) -> BrokerHeartbeatResponse:
        return BrokerHeartbeatResponse(
            is_caught_up=result.is_caught_up,
            is_fenced=result.is_fenced,
            should_shut_down=result.should_shut_down,
        )

    def refusal(self, refusal: Refusal) -> BrokerHeartbeatResponse:
        return BrokerHeartbeatResponse(error_code=refusal.error)
