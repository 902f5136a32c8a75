"""DescribeProducers (key 61): the state of a partition's idempotent producers (KIP-664). Version 0."""

from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.log.producers import Producer
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    DescribeProducersResponsePartition,
    DescribeProducersResponseTopic,
    ProducerState,
)

KEY = ApiKey.DESCRIBE_PRODUCERS
VERSIONS = (0, 0)


class DescribeProducersHandler:
    """Answers DescribeProducers requests."""

    def __init__(self, replicas: HostedPartitions) -> None:
        self._replicas = replicas

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeProducersRequest)
        topics = [
            DescribeProducersResponseTopic(
                name=topic.name,
                partitions=[
                    self._partition(TopicPartition(topic.name, index))
                    for index in topic.partition_indexes
                ],
            )
            for topic in message.topics
        ]
        return [Reply(request.ticket, DescribeProducersResponse(topics=topics))]

    def _partition(self, partition: TopicPartition) -> DescribeProducersResponsePartition:
        item = DescribeProducersResponsePartition(partition_index=partition.partition)
        try:
            log = self._replicas.require(partition).require_log()
        except Refusal as refusal:
            item.error_code, item.error_message = refusal.error, refusal.because
        else:
            item.active_producers = [_state(*known) for known in log.producers]
        return item


def _state(producer_id: int, producer: Producer) -> ProducerState:
    return ProducerState(
        producer_id=producer_id,
        producer_epoch=producer.epoch,
        last_sequence=producer.batches[-1].last_sequence if producer.batches else -1,
        last_timestamp=producer.seen_at,
        coordinator_epoch=producer.coordinator_epoch,
        current_txn_start_offset=producer.transaction_offset,
    )
