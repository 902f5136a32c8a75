"""ElectLeaders (key 43): leaders back to where they belong, or anyone rather than none (KIP-460). Versions 0-2.

Version 0 knows preferred elections only. Without a list the question is for all partitions, and the answer names those
whose leader changes or can't.
"""

from collections.abc import Iterable

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.metadata.commands.replica_commands import ElectionType, ElectLeaders, PartitionOutcome
from brokers.wire.messages.replication import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

KEY = 43
VERSIONS = (0, 2)
ERROR_OF_ALL_FROM = 1  # before, there are only those of the partitions


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, ElectLeadersRequest)
    names = _names(message)
    try:
        election = ElectionType(message.election_type)
    except ValueError:
        because = f"there is no election of type {message.election_type}"
        refused = Refusal(KafkaError.INVALID_REQUEST, because)
        return [Reply(request.ticket, _refusal(names, refused, request.api_version))]

    def then(result: tuple[PartitionOutcome, ...] | Refusal, now: Instant) -> list[Effect]:
        if isinstance(result, Refusal):
            response = _refusal(names, result, request.api_version)
        else:
            response = _response(result)
        return [Reply(request.ticket, response)]

    return context.propose(ElectLeaders(election, names), then, now)


def _names(message: ElectLeadersRequest) -> tuple[TopicPartition, ...] | None:
    if message.topic_partitions is None:
        return None
    return tuple(
        TopicPartition(asked.topic, index)
        for asked in message.topic_partitions
        for index in asked.partitions
    )


def _refusal(
    names: tuple[TopicPartition, ...] | None, refused: Refusal, version: int
) -> ElectLeadersResponse:
    response = _response(
        PartitionOutcome(name, refused.error, refused.because) for name in names or ()
    )
    if version >= ERROR_OF_ALL_FROM:
        response.error_code = refused.error
    return response


def _response(outcomes: Iterable[PartitionOutcome]) -> ElectLeadersResponse:
    topics: dict[str, ReplicaElectionResult] = {}
    for outcome in outcomes:
        topic, index = outcome.partition
        result = topics.setdefault(topic, ReplicaElectionResult(topic=topic))
        result.partition_result.append(
            PartitionResult(
                partition_id=index, error_code=outcome.error, error_message=outcome.because
            )
        )
    return ElectLeadersResponse(replica_election_results=list(topics.values()))
