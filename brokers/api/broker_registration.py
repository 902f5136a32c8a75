"""BrokerRegistration (key 62): a broker has started (KIP-631). Versions 0-4, between nodes."""

from brokers.api.controller_apis import ControllerService
from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.broker_commands import RegisterBroker
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)

KEY = ApiKey.BROKER_REGISTRATION
VERSIONS = (0, 4)


class BrokerRegistrationHandler(ControllerService):
    """Answers BrokerRegistration requests."""

    def command(self, message: BrokerRegistrationRequest) -> RegisterBroker:
        if not message.listeners:
            raise Refusal(KafkaError.INVALID_REGISTRATION)
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

    def response(self, result: int) -> BrokerRegistrationResponse:
        return BrokerRegistrationResponse(broker_epoch=result)

    def refusal(self, refusal: Refusal) -> BrokerRegistrationResponse:
        return BrokerRegistrationResponse(error_code=refusal.error)
