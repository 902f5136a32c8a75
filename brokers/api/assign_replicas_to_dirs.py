"""AssignReplicasToDirs (key 73): a broker says in which of its directories replicas lie (KIP-858).

Version 0, for nodes.
"""

from collections.abc import Iterator
from uuid import UUID

from brokers.api.ports import ControllerPort, reply_to
from brokers.continuations import Then
from brokers.effects import Effect
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant
from brokers.metadata.commands.replica_commands import AssignedReplica, AssignReplicasToDirs
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    AssignReplicasToDirsResponseDirectory,
    AssignReplicasToDirsResponsePartition,
    AssignReplicasToDirsResponseTopic,
)

KEY = ApiKey.ASSIGN_REPLICAS_TO_DIRS
VERSIONS = (0, 0)


class AssignReplicasToDirsHandler:
    """Answers AssignReplicasToDirs requests."""

    def __init__(self, controller: ControllerPort) -> None:
        self._controller = controller

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        return self.serve(request.message, reply_to(request.ticket), now)

    def serve(self, message: object, then: Then, now: Instant) -> list[Effect]:
        assert isinstance(message, AssignReplicasToDirsRequest)
        if not self._controller.is_active:
            return then(AssignReplicasToDirsResponse(error_code=KafkaError.NOT_CONTROLLER), now)

        def decided(result: tuple[AssignedReplica, ...] | Refusal, now: Instant) -> list[Effect]:
            if isinstance(result, Refusal):
                return then(AssignReplicasToDirsResponse(error_code=result.error), now)
            return then(_response(result), now)

        command = AssignReplicasToDirs(
            message.broker_id, message.broker_epoch, tuple(_replicas(message))
        )
        return self._controller.decide(command, decided, now)


def _replicas(message: AssignReplicasToDirsRequest) -> Iterator[tuple[UUID, UUID, int]]:
    for directory in message.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                yield directory.id, topic.topic_id, partition.partition_index


def _response(outcomes: tuple[AssignedReplica, ...]) -> AssignReplicasToDirsResponse:
    found: dict[UUID, dict[UUID, list[AssignReplicasToDirsResponsePartition]]] = {}
    for outcome in outcomes:
        partitions = found.setdefault(outcome.directory, {}).setdefault(outcome.topic_id, [])
        partitions.append(
            AssignReplicasToDirsResponsePartition(
                partition_index=outcome.partition, error_code=outcome.error
            )
        )
    return AssignReplicasToDirsResponse(
        directories=[
            AssignReplicasToDirsResponseDirectory(
                id=directory,
                topics=[
                    AssignReplicasToDirsResponseTopic(topic_id=topic_id, partitions=partitions)
                    for topic_id, partitions in topics.items()
                ],
            )
            for directory, topics in found.items()
        ]
    )
