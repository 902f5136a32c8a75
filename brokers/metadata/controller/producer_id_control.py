"""Producer ids in blocks: a block is committed to the metadata log before a producer gets one of its ids (KIP-730)."""

from brokers.errors import KafkaError, Refusal
from brokers.ids import ProducerId, Ticket
from brokers.metadata.commands.controller_result import ControllerResult
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.metadata.image.image import Image, first_producer_id
from brokers.wire.messages.metadata_records import ProducerIdsRecord

BLOCK_SIZE = 1000  # Kafka's
REGION_IDS = 1 << 32  # the size of a region's range


def allocate_producer_ids(image: Image, command: AllocateProducerIds) -> ControllerResult:
    broker = image.brokers.get(command.broker_id)
    if broker is None:
        because = f"broker {command.broker_id} is not registered"
        raise Refusal(KafkaError.BROKER_ID_NOT_REGISTERED, because)
    block = ProducerIdBlock(image.next_producer_id, image.next_producer_id + BLOCK_SIZE)
    if block.bound > first_producer_id(image.cluster_id) + REGION_IDS:
        raise Refusal(KafkaError.UNKNOWN_SERVER_ERROR, "the region has used up its producer ids")
    record = ProducerIdsRecord(
        broker_id=broker.id, broker_epoch=broker.broker_epoch, next_producer_id=block.bound
    )
    return ControllerResult((record,), block)


class ProducerIdManager:
    """Kafka's ProducerIdManager: the rest of this broker's block, and the requests that wait for the next block."""

    def __init__(self) -> None:
        self._block = ProducerIdBlock(0, 0)
        self.waiting: list[Ticket] = []

    def take(self) -> ProducerId | None:
        """An unused id, or None when a new block is needed."""
        if self._block.first == self._block.bound:
            return None
        producer_id = self._block.first
        self._block = ProducerIdBlock(producer_id + 1, self._block.bound)
        return producer_id

    def refill(self, block: ProducerIdBlock) -> None:
        """Continues with `block`; the rest of the previous block stays unused."""
        self._block = block
