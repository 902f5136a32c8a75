"""AlterPartitionReassignments (key 45): replicas move to other brokers, or stop moving (KIP-455). Versions 0-1.

The answer comes once the move has begun; ListPartitionReassignments tells when it is over.
"""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.metadata.commands.replica_commands import (
    AlterPartitionReassignments,
    PartitionOutcome,
    Reassignment,
)
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

KEY = 45
VERSIONS = (0, 1)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, AlterPartitionReassignmentsRequest)
    command = AlterPartitionReassignments(
        tuple(
            Reassignment(
                TopicPartition(topic.name, asked.partition_index),
                None if asked.replicas is None else tuple(asked.replicas),
            )
            for topic in message.topics
            for asked in topic.partitions
        ),
        may_change_factor=message.allow_replication_factor_change,
    )

    def then(result: tuple[PartitionOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        response = AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=message.allow_replication_factor_change,
            error_message=None,
        )
        if isinstance(result, Refusal):
            response.error_code, response.error_message = result.error, result.because
        else:
            response.responses = _topics(result)
        return [Reply(request.ticket, response)]

    return context.propose(command, then, now)


def _topics(outcomes: tuple[PartitionOutcome, ...]) -> list[ReassignableTopicResponse]:
    topics: dict[str, ReassignableTopicResponse] = {}
    for outcome in outcomes:
        name, index = outcome.partition
        topic = topics.setdefault(name, ReassignableTopicResponse(name=name))
        topic.partitions.append(
            ReassignablePartitionResponse(
                partition_index=index, error_code=outcome.error, error_message=outcome.because
            )
        )
    return list(topics.values())
