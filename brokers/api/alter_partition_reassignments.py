"""AlterPartitionReassignments (key 45): replicas move to other brokers, or stop moving (KIP-455). Versions 0-1.

The response is sent once the reassignment has begun; ListPartitionReassignments shows whether it has ended.
"""

from brokers.api.controller_apis import ControllerApi
from brokers.errors import Refusal
from brokers.events import Request
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import (
    AlterPartitionReassignments,
    PartitionOutcome,
    Reassignment,
)
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

KEY = ApiKey.ALTER_PARTITION_REASSIGNMENTS
VERSIONS = (0, 1)


class AlterPartitionReassignmentsHandler(ControllerApi):
    """Answers AlterPartitionReassignments requests."""

    def command(self, request: Request) -> AlterPartitionReassignments:
        message = request.message
        assert isinstance(message, AlterPartitionReassignmentsRequest)
        return AlterPartitionReassignments(
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

    def response(
        self, request: Request, result: tuple[PartitionOutcome, ...]
    ) -> AlterPartitionReassignmentsResponse:
        response = _response(request)
        response.responses = _topics(result)
        return response

    def refusal(self, request: Request, refusal: Refusal) -> AlterPartitionReassignmentsResponse:
        response = _response(request)
        response.error_code, response.error_message = refusal.error, refusal.because
        return response


def _response(request: Request) -> AlterPartitionReassignmentsResponse:
    message = request.message
    assert isinstance(message, AlterPartitionReassignmentsRequest)
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=message.allow_replication_factor_change,
        error_message=None,
    )


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
