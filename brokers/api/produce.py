"""Produce (key 0): batches from a producer, each appended whole or refused whole.

Versions 3-13 work; 0 is advertised because librdkafka looks it up before it compresses (KAFKA-18659) and is refused
by closing the connection, as Kafka does. Version 13 names topics by id. Transactions are not supported: a
transactional id is refused for every partition.
"""

from brokers.api.context import Context
from brokers.effects import Effect, Hangup, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import INTERNAL_TOPICS, Instant, Ticket, TopicPartition
from brokers.partition import leader
from brokers.partition.replica import Replica
from brokers.wire.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

KEY = 0
VERSIONS = (0, 13)
TOPIC_IDS_FROM = 13
LEADER_HINTS_FROM = 10  # KIP-951
ADMIN_CLIENT = (
    "__admin_client"  # Kafka's own name for the one client that may write internal topics
)


class PendingProduce:
    """One request whose batches wait for the high watermark; the last one releases the reply."""

    __slots__ = ("_acks", "_missing", "_ticket", "response")

    def __init__(self, ticket: Ticket, acks: int) -> None:
        self._ticket = ticket
        self._acks = acks
        self._missing = 0
        self.response = ProduceResponse()

    def appended(
        self, replica: Replica, item: PartitionProduceResponse, done: leader.Appended
    ) -> None:
        item.base_offset, next_offset, item.log_append_time_ms, item.log_start_offset, _ = done
        if next_offset <= replica.high_watermark:
            return
        self._missing += 1

        def placed(error: KafkaError, now: Instant) -> list[Effect]:
            if error:
                _refuse(item, Refusal(error, replica.offline))
            self._missing -= 1
            return self.answer()

        replica.waiting.for_offset(next_offset, placed)

    def answer(self) -> list[Effect]:
        """The reply, unless something is still to come, or none is wanted."""
        if self._missing or self._acks == 0:
            return []
        return [Reply(self._ticket, self.response)]


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message, version = request.message, request.api_version
    assert isinstance(message, ProduceRequest)
    pending = PendingProduce(request.ticket, message.acks)
    effects: list[Effect] = []
    for topic in message.topic_data:
        answer = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
        pending.response.responses.append(answer)
        for data in topic.partition_data:
            item = PartitionProduceResponse(index=data.index, base_offset=-1)
            answer.partition_responses.append(item)
            try:
                replica = _admit(context, request, message, topic, data.index)
                done = leader.append(replica, data.records, version, now)
                pending.appended(replica, item, done)
                effects += done.effects
            except Refusal as refusal:
                _refuse(item, refusal)
                _hint(context, version, refusal, item, pending.response)
    if message.acks == 0:
        return effects + _after_unacknowledged(request.ticket, pending.response)
    effects += pending.answer()
    return effects


def _admit(
    context: Context, request: Request, message: ProduceRequest, topic: TopicProduceData, index: int
) -> Replica:
    if message.acks not in (-1, 0, 1):
        raise Refusal(KafkaError.INVALID_REQUIRED_ACKS)
    if message.transactional_id is not None:
        raise Refusal(
            KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions are not supported"
        )
    name = topic.name
    if request.api_version >= TOPIC_IDS_FROM:
        known = context.image.topics_by_id.get(topic.topic_id)
        if known is None:
            raise Refusal(KafkaError.UNKNOWN_TOPIC_ID)
        name = known.name
    if name in INTERNAL_TOPICS and request.client_id != ADMIN_CLIENT:
        raise Refusal(KafkaError.INVALID_TOPIC_EXCEPTION, f"{name} is written by the brokers only")
    partition = TopicPartition(name, index)
    replica = context.partitions.get(partition) or context.require(partition)
    if replica.writer is not None:
        raise Refusal(
            KafkaError.POLICY_VIOLATION,
            f"{name} is a mirror topic of link {replica.writer!r} and read-only; "
            "promote it or fail it over to write here",
        )
    return replica


def _refuse(item: PartitionProduceResponse, refusal: Refusal) -> None:
    item.error_code = refusal.error
    item.error_message = refusal.because or None
    item.base_offset = -1
    item.log_append_time_ms = -1


def _hint(
    context: Context,
    version: int,
    refusal: Refusal,
    item: PartitionProduceResponse,
    response: ProduceResponse,
) -> None:
    """Who leads instead, so that the client moves without asking for metadata (KIP-951)."""
    if version < LEADER_HINTS_FROM or refusal.error is not KafkaError.NOT_LEADER_OR_FOLLOWER:
        return
    item.current_leader = LeaderIdAndEpoch()
    for broker in context.image.brokers.values():
        if all(known.node_id != broker.id for known in response.node_endpoints):
            response.node_endpoints.append(
                NodeEndpoint(
                    node_id=broker.id, host=broker.host, port=broker.port, rack=broker.rack
                )
            )


def _after_unacknowledged(ticket: Ticket, response: ProduceResponse) -> list[Effect]:
    """acks=0 has no reply; after an error Kafka closes the connection, so that the producer looks again."""
    for topic in response.responses:
        for item in topic.partition_responses:
            if item.error_code:
                return [Hangup(ticket, f"acks=0 and {KafkaError(item.error_code).name}")]
    return [Reply(ticket, None)]
