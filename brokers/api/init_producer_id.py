"""InitProducerId (key 22): an id that no other producer has, of this region or any other. Versions 0-5.

From version 3 an idempotent producer that lost a batch sends the id and epoch it has; without a transactional id Kafka
gives it a new id all the same (KIP-360). Transactions do not exist yet: a transactional id is refused with an error
that every client takes for final, where a retriable one would have it wait for ever.
"""

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import NO_PRODUCER, Instant, ProducerId, Ticket
from brokers.membership.controller_channel import ControllerChannel
from brokers.metadata.commands.broker_commands import NO_BROKER_EPOCH
from brokers.metadata.commands.producer_id_commands import ProducerIdBlock
from brokers.metadata.log.raft_manager import RaftManager
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from brokers.wire.messages.producers import InitProducerIdRequest, InitProducerIdResponse

KEY = ApiKey.INIT_PRODUCER_ID
VERSIONS = (0, 5)
NO_EPOCH = -1


class InitProducerIdHandler:
    """Answers InitProducerId requests."""

    def __init__(self, config: BrokerConfig, channel: ControllerChannel, raft: RaftManager) -> None:
        self._config = config
        self._channel = channel
        self._raft = raft

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, InitProducerIdRequest)
        if error := _refused(message):
            return [_refusal(request.ticket, error)]
        producer_id = self._raft.producer_ids.take()
        if producer_id is not None:
            return [_grant(request.ticket, producer_id)]
        return self._wait(request.ticket, now)

    def _wait(self, ticket: Ticket, now: Instant) -> list[Effect]:
        """One request for a block serves everyone who comes before it is granted."""
        waiting = self._raft.producer_ids.waiting
        waiting.append(ticket)
        if len(waiting) > 1:
            return []

        def then(response: AllocateProducerIdsResponse | Refusal, now: Instant) -> list[Effect]:
            tickets, waiting[:] = list(waiting), []
            if isinstance(response, Refusal) or response.error_code:
                return [_refusal(each, KafkaError.COORDINATOR_NOT_AVAILABLE) for each in tickets]
            first = response.producer_id_start
            block = ProducerIdBlock(first, first + response.producer_id_len)
            self._raft.producer_ids.refill(block)
            return self._serve(tickets, now)

        return self._channel.send(ApiKey.ALLOCATE_PRODUCER_IDS, self._allocation(), then, now)

    def _allocation(self) -> AllocateProducerIdsRequest:
        own = self._raft.image.brokers.get(self._config.node_id)
        broker_epoch = NO_BROKER_EPOCH if own is None else own.broker_epoch
        return AllocateProducerIdsRequest(broker_id=self._config.node_id, broker_epoch=broker_epoch)

    def _serve(self, tickets: list[Ticket], now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for ticket in tickets:
            producer_id = self._raft.producer_ids.take()
            if producer_id is None:  # more were waiting than a block holds
                effects += self._wait(ticket, now)
            else:
                effects.append(_grant(ticket, producer_id))
        return effects


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


def _grant(ticket: Ticket, producer_id: ProducerId) -> Effect:
    return Reply(ticket, InitProducerIdResponse(producer_id=producer_id, producer_epoch=0))


def _refusal(ticket: Ticket, error: KafkaError) -> Effect:
    return Reply(ticket, InitProducerIdResponse(error_code=error, producer_epoch=NO_EPOCH))
