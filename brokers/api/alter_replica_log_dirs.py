"""AlterReplicaLogDirs (key 34): replicas move to other log directories of this broker (KIP-113). Versions 1-2.

The answer comes at once; DescribeLogDirs shows how far the copy is. A replica that is not here yet will be begun in the
directory named, which kafka-reassign-partitions relies on: it asks again until the replica is there.
"""

from uuid import UUID

from brokers.effects import CopyLog, Effect, Reply
from brokers.errors import KafkaError, Refusal
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
from brokers.membership.log_dirs import Future, OwnDirectories, OwnDirectory
from brokers.membership.operation_recorder import OperationRecorder
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

KEY = ApiKey.ALTER_REPLICA_LOG_DIRS
VERSIONS = (1, 2)


class AlterReplicaLogDirsHandler:
    """Answers AlterReplicaLogDirs requests."""

    def __init__(
        self, replicas: HostedPartitions, log_dirs: OwnDirectories, recorder: OperationRecorder
    ) -> None:
        self._replicas = replicas
        self._log_dirs = log_dirs
        self._recorder = recorder

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, AlterReplicaLogDirsRequest)
        effects: list[Effect] = []
        moves: dict[TopicPartition, str] = {}
        topics: dict[str, AlterReplicaLogDirTopicResult] = {}
        for wanted in message.dirs:
            for topic in wanted.topics:
                result = topics.setdefault(
                    topic.name, AlterReplicaLogDirTopicResult(topic_name=topic.name)
                )
                for index in topic.partitions:
                    error = KafkaError.NONE
                    partition = TopicPartition(topic.name, index)
                    try:
                        moved = self._move(partition, wanted.path)
                        if moved:
                            moves[partition] = f"{partition} to {wanted.path}"
                        effects += moved
                    except Refusal as refusal:
                        error = refusal.error
                    outcome = AlterReplicaLogDirPartitionResult(
                        partition_index=index, error_code=error
                    )
                    result.partitions.append(outcome)
        names = [("topic", partition.topic) for partition in moves]
        self._recorder.record(request, "AlterReplicaLogDirs", names, list(moves.values()))
        response = AlterReplicaLogDirsResponse(results=list(topics.values()))
        return [*effects, Reply(request.ticket, response)]

    def _move(self, partition: TopicPartition, path: str) -> list[Effect]:
        directories = self._log_dirs
        directory = _online(directories.all, path)
        replica = self._replicas.get(partition)
        if replica is None:
            directories.preferred[partition] = directory
            raise Refusal(KafkaError.REPLICA_NOT_AVAILABLE)
        if replica.log is None:
            raise Refusal(KafkaError.KAFKA_STORAGE_ERROR, replica.offline)
        future = directories.futures.get(partition)
        if directories.home(partition) == directory:
            directories.futures.pop(partition, None)
            return [] if future is None else [CopyLog(partition, None)]
        if future is not None and future.directory == directory:
            return []
        directories.futures[partition] = Future(directory)
        return [CopyLog(partition, directory)]


def _online(log_dirs: tuple[OwnDirectory, ...], path: str) -> UUID:
    found = next((each for each in log_dirs if each.path == path), None)
    if found is None:
        raise Refusal(KafkaError.LOG_DIR_NOT_FOUND)
    if found.id is None or found.failure:
        raise Refusal(KafkaError.KAFKA_STORAGE_ERROR, found.failure)
    return found.id
