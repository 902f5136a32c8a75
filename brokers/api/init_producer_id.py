"""InitProducerId (key 22): an id that no other producer has, of this region or any other. Versions 0-5.

From version 3 an idempotent producer that lost a batch sends the id and epoch it has; without a transactional id Kafka
gives it a new id all the same (KIP-360). Transactions do not exist yet: a transactional id is refused with an error
that every client takes for final, where a retriable one would have it wait for ever.
"""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import NO_PRODUCER, Instant, ProducerId, Ticket
from brokers.metadata.commands.producer_id_commands import AllocateProducerIds, ProducerIdBlock
from brokers.wire.messages.producers import InitProducerIdRequest, InitProducerIdResponse

KEY = 22
VERSIONS = (0, 5)
NO_EPOCH = -1


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, InitProducerIdRequest)
    if error := _refused(message):
        return [_refusal(request.ticket, error)]
    producer_id = context.plane.producer_ids.take()
    if producer_id is not None:
        return [_grant(request.ticket, producer_id)]
    return _wait(context, request.ticket, now)


def _refused(message: InitProducerIdRequest) -> KafkaError:
    if (message.producer_id == NO_PRODUCER) != (message.producer_epoch == NO_EPOCH):
        return KafkaError.INVALID_REQUEST
    match message.transactional_id:
        case None:
            return KafkaError.NONE
        case "":
            return KafkaError.INVALID_REQUEST
        case _:
            return KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def _wait(context: Context, ticket: Ticket, now: Instant) -> list[Effect]:
    """One request for a block serves everyone who comes before it is granted."""
    waiting = context.plane.producer_ids.waiting
    waiting.append(ticket)
    if len(waiting) > 1:
        return []

    def then(result: ProducerIdBlock | Refusal, now: Instant) -> list[Effect]:
        tickets, waiting[:] = list(waiting), []
        if isinstance(result, Refusal):
            return [_refusal(each, KafkaError.COORDINATOR_NOT_AVAILABLE) for each in tickets]
        context.plane.producer_ids.refill(result)
        return _serve(context, tickets, now)

    return context.propose(AllocateProducerIds(context.config.node_id), then, now)


def _serve(context: Context, tickets: list[Ticket], now: Instant) -> list[Effect]:
    effects: list[Effect] = []
    for ticket in tickets:
        producer_id = context.plane.producer_ids.take()
        if producer_id is None:  # more were waiting than a block holds
            effects += _wait(context, ticket, now)
        else:
            effects.append(_grant(ticket, producer_id))
    return effects


def _grant(ticket: Ticket, producer_id: ProducerId) -> Effect:
    return Reply(ticket, InitProducerIdResponse(producer_id=producer_id, producer_epoch=0))


def _refusal(ticket: Ticket, error: KafkaError) -> Effect:
    return Reply(ticket, InitProducerIdResponse(error_code=error, producer_epoch=NO_EPOCH))
