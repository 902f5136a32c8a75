"""ListOffsets (key 2): where a partition starts and ends, and the first record at or after an instant.

Versions 1-11. Timestamps are looked up at record level (KIP-79); -1 latest, -2 earliest, -3 largest timestamp
(KIP-734), -4 earliest local and -5 latest tiered (KIP-1005), -6 earliest pending upload (no tier here: -1).
"""

from brokers.continuations import Continuations
from brokers.effects import Effect, FindTimestamp, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import LogAnswer, Request, TimestampFound
from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.partition_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

KEY = ApiKey.LIST_OFFSETS
VERSIONS = (1, 11)
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING = (
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
)
LEADER_EPOCHS_FROM = 4
NOT_AVAILABLE_FROM = 5
FIRST_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING: 11}
READ_COMMITTED = 1


class PendingLookup:
    """One request; timestamp searches are answered by the host, the last one releases the reply."""

    def __init__(
        self,
        replicas: HostedPartitions,
        continuations: Continuations,
        request: Request,
        message: ListOffsetsRequest,
    ) -> None:
        self._replicas = replicas
        self._continuations = continuations
        self._request = request
        self._isolation = message.isolation_level
        self._missing = 1
        self._twice = _asked_twice(message)
        self.response = ListOffsetsResponse()

    def look_up(
        self, topic: str, asked: ListOffsetsPartition
    ) -> tuple[list[Effect], ListOffsetsPartitionResponse]:
        item = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
        partition = TopicPartition(topic, asked.partition_index)
        try:
            if partition in self._twice:
                raise Refusal(KafkaError.INVALID_REQUEST)
            if (
                self._request.api_version < FIRST_VERSION.get(asked.timestamp, 0)
                or asked.timestamp < -6
            ):
                raise Refusal(KafkaError.UNSUPPORTED_VERSION)
            replica = self._replicas.require_leader(partition)
            replica.require_log()
            replica.require_leader_epoch(asked.current_leader_epoch)
            return self._answer(replica, asked.timestamp, item), item
        except Refusal as refusal:
            item.error_code = refusal.error
            return [], item

    def _answer(
        self, replica: Replica, timestamp: Instant, item: ListOffsetsPartitionResponse
    ) -> list[Effect]:
        bound = (
            replica.last_stable_offset
            if self._isolation == READ_COMMITTED
            else replica.high_watermark
        )
        log = replica.require_log()
        if timestamp == LATEST:
            self._require_settled(replica)
            self._place(item, bound, log.epochs.epoch_at(bound))
            return []
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            self._place(item, log.log_start_offset, log.epochs.epoch_at(log.log_start_offset))
            return []
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING):
            return []
        self._missing += 1

        def found(event: LogAnswer, now: Instant) -> list[Effect]:
            assert isinstance(event, TimestampFound)
            if event.offset < 0 and not replica.is_settled:
                item.error_code = self._unsettled
                return self.release()
            item.timestamp = event.timestamp
            self._place(item, event.offset, event.leader_epoch)
            return self.release()

        ticket = self._continuations.on_storage(found)
        return [FindTimestamp(ticket, replica.partition, timestamp, bound)]

    def _require_settled(self, replica: Replica) -> None:
        """A new leader does not know yet how much was committed: offsets must not run backwards (KIP-207)."""
        if not replica.is_settled:
            raise Refusal(self._unsettled)

    @property
    def _unsettled(self) -> KafkaError:
        if self._request.api_version < NOT_AVAILABLE_FROM:
            return KafkaError.LEADER_NOT_AVAILABLE
        return KafkaError.OFFSET_NOT_AVAILABLE

    def _place(
        self, item: ListOffsetsPartitionResponse, offset: Offset, leader_epoch: LeaderEpoch
    ) -> None:
        item.offset = offset
        if self._request.api_version >= LEADER_EPOCHS_FROM:
            item.leader_epoch = leader_epoch

    def release(self) -> list[Effect]:
        self._missing -= 1
        return [] if self._missing else [Reply(self._request.ticket, self.response)]


def _asked_twice(message: ListOffsetsRequest) -> set[TopicPartition]:
    """Kafka refuses a partition that appears twice; also, each lookup of a timestamp reads from the disk."""
    seen: set[TopicPartition] = set()
    twice: set[TopicPartition] = set()
    for topic in message.topics:
        for asked in topic.partitions:
            partition = TopicPartition(topic.name, asked.partition_index)
            (twice if partition in seen else seen).add(partition)
    return twice


class ListOffsetsHandler:
    """Answers ListOffsets requests."""

    def __init__(self, replicas: HostedPartitions, continuations: Continuations) -> None:
        self._replicas = replicas
        self._continuations = continuations

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, ListOffsetsRequest)
        pending = PendingLookup(self._replicas, self._continuations, request, message)
        effects: list[Effect] = []
        for topic in message.topics:
            answer = ListOffsetsTopicResponse(name=topic.name)
            pending.response.topics.append(answer)
            for asked in topic.partitions:
                searches, item = pending.look_up(topic.name, asked)
                effects += searches
                answer.partitions.append(item)
        return effects + pending.release()
