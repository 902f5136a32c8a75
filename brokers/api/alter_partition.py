"""AlterPartition (key 56): a leader proposes an in-sync set (KIP-497). Versions 2-3, between nodes.

Since version 3 members come with their broker epochs, which distinguish a broker that restarted with an
empty log from its former self (KIP-903).
"""

from uuid import UUID

from brokers.api.controller_apis import ControllerService
from brokers.errors import Refusal
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


class AlterPartitionHandler(ControllerService):
    """Answers AlterPartition requests."""

    def command(self, message: AlterPartitionRequest) -> AlterPartition:
        return AlterPartition(
            message.broker_id,
            message.broker_epoch,
            tuple(
                (topic.topic_id, tuple(map(_change, topic.partitions))) for topic in message.topics
            ),
        )

    def response(self, result: tuple[InSyncOutcome, ...]) -> AlterPartitionResponse:
        topics: dict[UUID, AlterPartitionResponseTopic] = {}
        for outcome in result:
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

    def refusal(self, refusal: Refusal) -> AlterPartitionResponse:
        return AlterPartitionResponse(error_code=refusal.error)


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
