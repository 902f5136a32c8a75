"""DescribeLogDirs (key 35): each log directory, whether it is online, and the bytes of each partition (KIP-113).

Versions 1-5; from version 2 on with what each log lacks because of compaction, in tags of our own, for audits; from
version 4 on with the sizes of the volumes (KIP-827), which the host measures; from version 5 on with whether it takes
new replicas (KIP-1066).
"""

from collections.abc import Iterable
from functools import partial

from brokers.continuations import Continuations
from brokers.effects import Effect, MeasureDirectories, Reply
from brokers.errors import KafkaError
from brokers.events import DirectoriesMeasured, LogAnswer, Request
from brokers.ids import Instant, TopicPartition
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

KEY = ApiKey.DESCRIBE_LOG_DIRS
VERSIONS = (1, 5)


class DescribeLogDirsHandler:
    """Answers DescribeLogDirs requests."""

    def __init__(
        self, replicas: HostedPartitions, continuations: Continuations, log_dirs: OwnDirectories
    ) -> None:
        self._replicas = replicas
        self._continuations = continuations
        self._log_dirs = log_dirs

    def handle(self, request: Request, now: Instant) -> list[Effect]:
        ticket = self._continuations.on_storage(partial(self._measured, request))
        return [MeasureDirectories(ticket)]

    def _measured(self, request: Request, measured: LogAnswer, now: Instant) -> list[Effect]:
        message = request.message
        assert isinstance(message, DescribeLogDirsRequest)
        assert isinstance(measured, DirectoriesMeasured)
        asked = self._asked(message)
        results = [self._described(each, asked, measured) for each in self._log_dirs.all]
        return [Reply(request.ticket, DescribeLogDirsResponse(results=results))]

    def _asked(self, message: DescribeLogDirsRequest) -> Iterable[TopicPartition]:
        if message.topics is None:
            return list(self._replicas.all)
        named = (
            TopicPartition(item.topic, index)
            for item in message.topics
            for index in item.partitions
        )
        return list(dict.fromkeys(named))

    def _described(
        self,
        directory: OwnDirectory,
        asked: Iterable[TopicPartition],
        measured: DirectoriesMeasured,
    ) -> DescribeLogDirsResult:
        volume = None if directory.id is None else measured.volumes.get(directory.id)
        if directory.failure or volume is None:
            error = KafkaError.KAFKA_STORAGE_ERROR
            return DescribeLogDirsResult(log_dir=directory.path, error_code=error)
        topics: dict[str, DescribeLogDirsTopic] = {}
        for partition in asked:
            described = self._log(directory, partition)
            if described is not None:
                topic = topics.setdefault(
                    partition.topic, DescribeLogDirsTopic(name=partition.topic)
                )
                topic.partitions.append(described)
        return DescribeLogDirsResult(
            log_dir=directory.path,
            topics=list(topics.values()),
            total_bytes=volume.total_bytes,
            usable_bytes=volume.usable_bytes,
            is_cordoned=directory.id in self._log_dirs.cordoned,
        )

    def _log(
        self, directory: OwnDirectory, partition: TopicPartition
    ) -> DescribeLogDirsPartition | None:
        """The partition's log in this directory, or the copy of it that is being made there."""
        replica, own, index = (
            self._replicas.get(partition),
            self._log_dirs,
            partition.partition,
        )
        if replica is None or replica.log is None:
            return None
        if own.home(partition) == directory.id:
            lacks = replica.log.completeness
            return DescribeLogDirsPartition(
                partition_index=index,
                partition_size=replica.log.size,
                complete_from=lacks.complete_from,
                markers_from=lacks.markers_from,
            )
        future = own.futures.get(partition)
        if future is None or future.directory != directory.id:
            return None
        return DescribeLogDirsPartition(
            partition_index=index,
            partition_size=future.size,
            offset_lag=max(0, replica.log.log_end_offset - future.next_offset),
            is_future_key=True,
        )
