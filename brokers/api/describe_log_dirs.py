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
from brokers.membership.directories import OwnDirectory
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
        replica = context.partitions.get(partition)
        is_here = context.directories.home(partition) == directory.id
        if replica is None or replica.log is None or not is_here:
            continue
        topic = topics.setdefault(partition.topic, DescribeLogDirsTopic(name=partition.topic))
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=partition.partition, partition_size=replica.log.size
            )
        )
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=list(topics.values()),
        total_bytes=volume.total_bytes,
        usable_bytes=volume.usable_bytes,
    )
