"""DeleteRecords (key 21): move a partition's log start offset up (KIP-107). Versions 0-2; -1 is the high watermark.

It is answered once every replica that is alive has done the same. The node's own answer leaves in the same step as the
effect that persists the new start: a crash in between brings records back, which loses nothing, and a repeated request
deletes them again.
"""

from collections.abc import Mapping

from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import INTERNAL_TOPICS, Instant, Offset, Ticket, TopicPartition
from brokers.membership.operation_recorder import OperationRecorder
from brokers.metadata.commands.mirror_commands import read_only_because, superseder_of
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.partition.replica import Replica
from brokers.purgatory import Purgatory
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.partition_offsets import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

KEY = ApiKey.DELETE_RECORDS
VERSIONS = (0, 2)
HIGH_WATERMARK = -1
REPARTITION_SUFFIX = "-repartition"


class PendingTrims:
    """One request; the last partition that all replicas have trimmed releases the reply."""

    def __init__(self, ticket: Ticket) -> None:
        self._ticket = ticket
        self._open: dict[int, DeleteRecordsPartitionResult] = {}  # what still waits, by `id`
        self.response = DeleteRecordsResponse()

    @property
    def is_done(self) -> bool:
        return not self._open

    def trim(
        self, replica: Replica, asked: DeleteRecordsPartition, item: DeleteRecordsPartitionResult
    ) -> list[Effect]:
        mark = replica.high_watermark
        offset = mark if asked.offset == HIGH_WATERMARK else asked.offset
        if offset < 0 or offset > mark:
            raise Refusal(KafkaError.OFFSET_OUT_OF_RANGE)
        effects = replica.delete_records(offset)
        item.low_watermark = replica.low_watermark()
        if item.low_watermark >= offset:
            return effects
        self._open[id(item)] = item

        def trimmed(error: KafkaError, now: Instant) -> list[Effect]:
            if self._open.pop(id(item), None) is None:
                return []  # its time was up
            item.error_code = error
            item.low_watermark = -1 if error else replica.low_watermark()
            return self.answer()

        replica.delayed.for_trim(offset, trimmed)
        return effects

    def answer(self) -> list[Effect]:
        return [] if self._open else [Reply(self._ticket, self.response)]

    def expire(self, now: Instant) -> list[Effect]:
        for item in self._open.values():
            item.error_code, item.low_watermark = KafkaError.REQUEST_TIMED_OUT, -1
        self._open.clear()
        return self.answer()


class DeleteRecordsHandler:
    """Answers DeleteRecords requests."""

    def __init__(
        self, replicas: HostedPartitions, purgatory: Purgatory, recorder: OperationRecorder
    ) -> None:
        self._replicas = replicas
        self._purgatory = purgatory
        self._recorder = recorder

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DeleteRecordsRequest)
        effects: list[Effect] = []
        pending = PendingTrims(request.ticket)
        trimmed: dict[TopicPartition, Offset] = {}
        for topic in message.topics:
            answer = DeleteRecordsTopicResult(name=topic.name)
            pending.response.topics.append(answer)
            for asked in topic.partitions:
                item = DeleteRecordsPartitionResult(
                    partition_index=asked.partition_index, low_watermark=-1
                )
                answer.partitions.append(item)
                partition = TopicPartition(topic.name, asked.partition_index)
                try:
                    replica = self._admit(partition)
                    log = replica.require_log()
                    before = log.log_start_offset
                    effects += pending.trim(replica, asked, item)
                    if log.log_start_offset > before:
                        trimmed[partition] = log.log_start_offset
                except Refusal as refusal:
                    item.error_code = refusal.error
        self._record(request, trimmed)
        if not pending.is_done:
            self._purgatory.put(pending, message.timeout_ms, now)
        return effects + pending.answer()

    def _record(self, request: Request, trimmed: Mapping[TopicPartition, Offset]) -> None:
        """Kafka Streams deletes what it has read of its repartition topics every 30 s: nobody asks for that."""
        told = {
            name: offset
            for name, offset in trimmed.items()
            if not name.topic.endswith(REPARTITION_SUFFIX)
        }
        topics = [("topic", partition.topic) for partition in told]
        details = [f"{name} below {offset}" for name, offset in told.items()]
        self._recorder.record(request, "DeleteRecords", topics, details)

    def _admit(self, partition: TopicPartition) -> Replica:
        replica = self._replicas.require_leader(partition)
        replica.require_log()
        if partition.topic in INTERNAL_TOPICS:
            raise Refusal(KafkaError.INVALID_TOPIC_EXCEPTION)
        if replica.config.compact and not replica.config.delete_expired:
            raise Refusal(KafkaError.POLICY_VIOLATION, "cleanup.policy does not have delete")
        if replica.writer is not None:
            is_superseded = superseder_of(replica.writer) is not None
            because = (
                read_only_because(partition.topic, replica.writer)
                if is_superseded
                else "a mirror follows its source's log start"
            )
            raise Refusal(KafkaError.POLICY_VIOLATION, because)
        return replica
