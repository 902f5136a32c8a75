"""AlterPartition (key 56): a leader proposes who is in sync (KIP-497). Versions 2-3, between nodes.

Since version 3 members come with their broker epochs, so that one that came back empty is told from what it was
(KIP-903).
"""

from uuid import UUID

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.replica_commands import (
    AlterPartition,
    InSyncChange,
    InSyncMember,
    InSyncOutcome,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    AlterPartitionRequest,
    AlterPartitionRequestPartition,
    AlterPartitionResponse,
    AlterPartitionResponsePartition,
    AlterPartitionResponseTopic,
)

KEY = ApiKey.ALTER_PARTITION
VERSIONS = (2, 3)


class AlterPartitionHandler:
    """Answers AlterPartition requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: object, then: Then, now: Instant) -> list[Effect]:
        assert isinstance(message, AlterPartitionRequest)
        if not self._controller.is_active:
            return then(AlterPartitionResponse(error_code=KafkaError.NOT_CONTROLLER), now)

        def decided(result: tuple[InSyncOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
            if isinstance(result, Refusal):
                return then(AlterPartitionResponse(error_code=result.error), now)
            return then(_response(result), now)

        command = AlterPartition(
            message.broker_id,
            message.broker_epoch,
            tuple(
                (topic.topic_id, tuple(map(_change, topic.partitions))) for topic in message.topics
            ),
        )
        return self._controller.decide(command, decided, now)


def _change(asked: AlterPartitionRequestPartition) -> InSyncChange:
    members = [
        InSyncMember(each.broker_id, each.broker_epoch) for each in asked.new_isr_with_epochs
    ]
    return InSyncChange(
        partition=asked.partition_index,
        leader_epoch=asked.leader_epoch,
        partition_epoch=asked.partition_epoch,
        isr=tuple(members or (InSyncMember(each, -1) for each in asked.new_isr)),
        recovery_state=asked.leader_recovery_state,
    )


def _response(outcomes: tuple[InSyncOutcome, ...]) -> AlterPartitionResponse:
    topics: dict[UUID, AlterPartitionResponseTopic] = {}
    for outcome in outcomes:
        topic = topics.setdefault(
            outcome.topic_id, AlterPartitionResponseTopic(topic_id=outcome.topic_id)
        )
        topic.partitions.append(
            AlterPartitionResponsePartition(
                partition_index=outcome.partition,
                error_code=outcome.error,
                leader_id=outcome.leader,
                leader_epoch=outcome.leader_epoch,
                isr=list(outcome.isr),
                leader_recovery_state=outcome.recovery_state,
                partition_epoch=outcome.partition_epoch,
            )
        )
    return AlterPartitionResponse(topics=list(topics.values()))
