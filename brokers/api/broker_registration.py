"""BrokerRegistration (key 62): a broker's new life begins (KIP-631). Versions 0-4, between nodes."""

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.broker_commands import RegisterBroker
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

KEY = ApiKey.BROKER_REGISTRATION
VERSIONS = (0, 4)


class BrokerRegistrationHandler:
    """Answers BrokerRegistration requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: object, then: Then, now: Instant) -> list[Effect]:
        assert isinstance(message, BrokerRegistrationRequest)
        if not self._controller.is_active:
            return then(BrokerRegistrationResponse(error_code=KafkaError.NOT_CONTROLLER), now)
        if not message.listeners:
            return then(BrokerRegistrationResponse(error_code=KafkaError.INVALID_REGISTRATION), now)

        def decided(result: int | Refusal, now: Instant) -> list[Effect]:
            if isinstance(result, Refusal):
                return then(BrokerRegistrationResponse(error_code=result.error), now)
            return then(BrokerRegistrationResponse(broker_epoch=result), now)

        return self._controller.decide(_command(message), decided, now)


def _command(message: BrokerRegistrationRequest) -> RegisterBroker:
    return RegisterBroker(
        broker_id=message.broker_id,
        incarnation=message.incarnation_id,
        log_dirs=tuple(message.log_dirs),
        endpoints=tuple((each.name, each.host, each.port) for each in message.listeners),
        rack=message.rack,
        host_label=message.host_label,
        features=tuple(
            (each.name, each.min_supported_version, each.max_supported_version)
            for each in message.features
        ),
        cluster_id=message.cluster_id,
        previous_broker_epoch=message.previous_broker_epoch,
        starts_fenced=True,
    )
