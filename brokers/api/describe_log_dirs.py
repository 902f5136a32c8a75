"""DescribeLogDirs (key 35): bytes per partition (KIP-113). Versions 1-5.

Sizes of the volume (from version 4) are -1, "unknown": a core has no disk to ask.
"""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.events import Request
from brokers.ids import Instant, TopicPartition
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
    message = request.message
    assert isinstance(message, DescribeLogDirsRequest)
    topics: dict[str, DescribeLogDirsTopic] = {}
    for partition in _asked(context, message):
        replica = context.partitions.get(partition)
        if replica is None or replica.log is None:
            continue
        topic = topics.setdefault(partition.topic, DescribeLogDirsTopic(name=partition.topic))
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=partition.partition, partition_size=replica.log.size
            )
        )
    directory = DescribeLogDirsResult(log_dir=context.config.log_dirs, topics=list(topics.values()))
    return [Reply(request.ticket, DescribeLogDirsResponse(results=[directory]))]


def _asked(context: Context, message: DescribeLogDirsRequest) -> list[TopicPartition]:
    if message.topics is None:
        return list(context.partitions)
    named = (
        TopicPartition(item.topic, index) for item in message.topics for index in item.partitions
    )
    return list(dict.fromkeys(named))
