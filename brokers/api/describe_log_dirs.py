"""DescribeLogDirs (key 35): each log directory, whether it is well, and the bytes of each partition (KIP-113).

Versions 1-5; from version 4 on with the sizes of the volumes (KIP-827), which are asked of the disks.
"""

from collections.abc import Iterable
from functools import partial

from brokers.api.context import Context
from brokers.effects import Effect, MeasureDirectories, Reply
from brokers.errors import KafkaError
from brokers.events import DirectoriesMeasured, LogAnswer, Request
from brokers.ids import Instant, TopicPartition
from brokers.membership.log_dirs import OwnDirectory
from brokers.wire.messages.log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

KEY = 35
VERSIONS = (1, 5)


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    ticket = context.new_ticket()
    context.answered[ticket] = partial(_measured, context, request)
    return [MeasureDirectories(ticket)]


def _measured(
    context: Context, request: Request, measured: LogAnswer, now: Instant
) -> list[Effect]:
    message = request.message
    assert isinstance(message, DescribeLogDirsRequest)
    assert isinstance(measured, DirectoriesMeasured)
    asked = _asked(context, message)
    results = [_described(context, each, asked, measured) for each in context.directories.all]
    return [Reply(request.ticket, DescribeLogDirsResponse(results=results))]


def _asked(context: Context, message: DescribeLogDirsRequest) -> Iterable[TopicPartition]:
    if message.topics is None:
        return list(context.partitions)
    named = (
        TopicPartition(item.topic, index) for item in message.topics for index in item.partitions
    )
    return list(dict.fromkeys(named))


def _described(
    context: Context,
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
        described = _log(context, directory, partition)
        if described is not None:
            topic = topics.setdefault(partition.topic, DescribeLogDirsTopic(name=partition.topic))
            topic.partitions.append(described)
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=list(topics.values()),
        total_bytes=volume.total_bytes,
        usable_bytes=volume.usable_bytes,
    )


def _log(
    context: Context, directory: OwnDirectory, partition: TopicPartition
) -> DescribeLogDirsPartition | None:
    """The partition's log in this directory, or the copy of it that is being made there."""
    replica, own, index = (
        context.partitions.get(partition),
        context.directories,
        partition.partition,
    )
    if replica is None or replica.log is None:
        return None
    if own.home(partition) == directory.id:
        return DescribeLogDirsPartition(partition_index=index, partition_size=replica.log.size)
    future = own.futures.get(partition)
    if future is None or future.directory != directory.id:
        return None
    return DescribeLogDirsPartition(
        partition_index=index,
        partition_size=future.size,
        offset_lag=max(0, replica.log.log_end_offset - future.next_offset),
        is_future_key=True,
    )
