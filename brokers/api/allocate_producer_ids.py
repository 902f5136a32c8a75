"""AllocateProducerIds (key 67): a block of producer ids for one broker (KIP-730). Version 0, between nodes."""

from brokers.api.context import Context, Then, reply_to
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.wire.messages.broker_lifecycle import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

KEY = 67
VERSIONS = (0, 0)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    return serve(context, request.message, reply_to(request.ticket), now)


def serve(context: Context, message: object, then: Then, now: Instant) -> list[Effect]:
    assert isinstance(message, AllocateProducerIdsRequest)
    if error := _refused(context, message):
        return then(AllocateProducerIdsResponse(error_code=error), now)

    def decided(result: ProducerIdBlock | Refusal, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal):
            return then(AllocateProducerIdsResponse(error_code=result.error), now)
        response = AllocateProducerIdsResponse(
            producer_id_start=result.first, producer_id_len=result.bound - result.first
        )
        return then(response, now)

    return context.decide(AllocateProducerIds(message.broker_id), decided, now)


def _refused(context: Context, message: AllocateProducerIdsRequest) -> KafkaError:
    if not context.plane.is_active:
        return KafkaError.NOT_CONTROLLER
    broker = context.image.brokers.get(message.broker_id)
    if broker is not None and broker.broker_epoch != message.broker_epoch:
        return KafkaError.STALE_BROKER_EPOCH
    return KafkaError.NONE  # one that is not registered is refused by the decision
