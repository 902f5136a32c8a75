"""ElectLeaders (key 43): preferred elections, or unclean ones where no replica leads (KIP-460). Versions 0-2.

Version 0 knows preferred elections only. A request without a list is for all partitions; its response
names those whose leader changes or cannot change.
"""

from collections.abc import Iterable

from brokers.api.controller_apis import ControllerApi
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import TopicPartition
from brokers.metadata.commands.replica_commands import ElectionType, ElectLeaders, PartitionOutcome
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.replication import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

KEY = ApiKey.ELECT_LEADERS
VERSIONS = (0, 2)
ERROR_OF_ALL_FROM = 1  # before, there are only those of the partitions


class ElectLeadersHandler(ControllerApi):
    """Answers ElectLeaders requests."""

    def command(self, request: Request) -> ElectLeaders:
        message = request.message
        assert isinstance(message, ElectLeadersRequest)
        try:
            election = ElectionType(message.election_type)
        except ValueError:
            because = f"there is no election of type {message.election_type}"
            raise Refusal(KafkaError.INVALID_REQUEST, because) from None
        return ElectLeaders(election, _names(message))

    def response(
        self, request: Request, result: tuple[PartitionOutcome, ...]
    ) -> ElectLeadersResponse:
        return _response(result)

    def refusal(self, request: Request, refusal: Refusal) -> ElectLeadersResponse:
        message = request.message
        assert isinstance(message, ElectLeadersRequest)
        response = _response(
            PartitionOutcome(name, refusal.error, refusal.because) for name in _names(message) or ()
        )
        if request.api_version >= ERROR_OF_ALL_FROM:
            response.error_code = refusal.error
        return response


def _names(message: ElectLeadersRequest) -> tuple[TopicPartition, ...] | None:
    if message.topic_partitions is None:
        return None
    return tuple(
        TopicPartition(asked.topic, index)
        for asked in message.topic_partitions
        for index in asked.partitions
    )


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
