"""AssignReplicasToDirs (key 73): a broker reports the log directory of each of its replicas
(KIP-858).

Version 0, for nodes.
"""

from collections.abc import Iterator
from uuid import UUID

from brokers.api.controller_apis import ControllerService
from brokers.errors import Refusal
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


class AssignReplicasToDirsHandler(ControllerService):
    """Answers AssignReplicasToDirs requests."""

    def command(self, message: AssignReplicasToDirsRequest) -> AssignReplicasToDirs:
        return AssignReplicasToDirs(
            message.broker_id, message.broker_epoch, tuple(_replicas(message))
        )

    def response(self, result: tuple[AssignedReplica, ...]) -> AssignReplicasToDirsResponse:
        return _response(result)

    def refusal(self, refusal: Refusal) -> AssignReplicasToDirsResponse:
        return AssignReplicasToDirsResponse(error_code=refusal.error)


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
