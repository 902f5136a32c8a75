"""AllocateProducerIds (key 67): a block of producer ids for one broker (KIP-730). Version 0, between nodes."""

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

KEY = ApiKey.ALLOCATE_PRODUCER_IDS
VERSIONS = (0, 0)


class AllocateProducerIdsHandler:
    """Answers AllocateProducerIds requests."""

    def __init__(self, metadata: MetadataCache, controller: ControllerPort) -> None:
        self._metadata = metadata
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: object, then: Then, now: Instant) -> list[Effect]:
        assert isinstance(message, AllocateProducerIdsRequest)
        if error := self._refused(message):
            return then(AllocateProducerIdsResponse(error_code=error), now)

        def decided(result: ProducerIdBlock | Refusal, now: Instant) -> list[Effect]:
            if isinstance(result, Refusal):
                return then(AllocateProducerIdsResponse(error_code=result.error), now)
            response = AllocateProducerIdsResponse(
                producer_id_start=result.first, producer_id_len=result.bound - result.first
            )
            return then(response, now)

        return self._controller.decide(AllocateProducerIds(message.broker_id), decided, now)

    def _refused(self, message: AllocateProducerIdsRequest) -> KafkaError:
        if not self._controller.is_active:
            return KafkaError.NOT_CONTROLLER
        broker = self._metadata.image.brokers.get(message.broker_id)
        if broker is not None and broker.broker_epoch != message.broker_epoch:
            return KafkaError.STALE_BROKER_EPOCH
        return KafkaError.NONE  # one that is not registered is refused by the decision
