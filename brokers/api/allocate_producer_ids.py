"""AllocateProducerIds (key 67): a block of producer ids for one broker (KIP-730). Version 0, between nodes."""

from brokers.api.controller_apis import ControllerService
from brokers.api.ports import ControllerPort
from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.partition.hosted_partitions import MetadataCache
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

KEY = ApiKey.ALLOCATE_PRODUCER_IDS
VERSIONS = (0, 0)


class AllocateProducerIdsHandler(ControllerService):
    """Answers AllocateProducerIds requests."""

    def __init__(self, metadata: MetadataCache, controller: ControllerPort) -> None:
        super().__init__(controller)
        self._metadata = metadata

    def command(self, message: AllocateProducerIdsRequest) -> AllocateProducerIds:
        """The decision refuses a broker that is not registered."""
        broker = self._metadata.image.brokers.get(message.broker_id)
        if broker is not None and broker.broker_epoch != message.broker_epoch:
            raise Refusal(KafkaError.STALE_BROKER_EPOCH)
        return AllocateProducerIds(message.broker_id)

    def response(self, result: ProducerIdBlock) -> AllocateProducerIdsResponse:
        return AllocateProducerIdsResponse(
            producer_id_start=result.first, producer_id_len=result.bound - result.first
        )

    def refusal(self, refusal: Refusal) -> AllocateProducerIdsResponse:
        return AllocateProducerIdsResponse(error_code=refusal.error)
