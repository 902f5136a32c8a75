"""DescribeQuorum (key 55): who leads the metadata log and how far its voters are (KIP-595). Versions 0-2."""

from brokers.api.context import Context
from brokers.effects import Effect, Reply
from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import METADATA_PARTITION, Instant
from brokers.wire.messages.quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartition,
    DescribeQuorumResponseTopic,
    QuorumListener,
    QuorumNode,
    QuorumReplicaState,
)

KEY = 55
VERSIONS = (0, 2)
NODES_FROM = 2


def handle(context: Context, request: Request, now: Instant) -> list[Effect]:
    message = request.message
    assert isinstance(message, DescribeQuorumRequest)
    response = DescribeQuorumResponse(
        topics=[
            DescribeQuorumResponseTopic(
                topic_name=topic.topic_name,
                partitions=[
                    _partition(context, (topic.topic_name, partition.partition_index), now)
                    for partition in topic.partitions
                ],
            )
            for topic in message.topics
        ],
        error_message=None,
        nodes=_nodes(context) if request.api_version >= NODES_FROM else [],
    )
    return [Reply(request.ticket, response)]


def _partition(
    context: Context, partition: tuple[str, int], now: Instant
) -> DescribeQuorumResponsePartition:
    index = partition[1]
    if partition != METADATA_PARTITION:
        error = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
        because = f"only {METADATA_PARTITION} has a quorum"
        return DescribeQuorumResponsePartition(
            partition_index=index, error_code=error, error_message=because
        )
    plane = context.plane
    return DescribeQuorumResponsePartition(
        partition_index=index,
        error_message=None,
        leader_id=context.config.node_id,
        leader_epoch=plane.leader_epoch,
        high_watermark=plane.committed_offset + 1,
        current_voters=[
            QuorumReplicaState(
                replica_id=voter,
                log_end_offset=plane.log_end_offset,
                last_fetch_timestamp=now,
                last_caught_up_timestamp=now,
            )
            for voter in plane.voters
        ],
    )


def _nodes(context: Context) -> list[QuorumNode]:
    return [
        QuorumNode(
            node_id=broker.id,
            listeners=[QuorumListener(name="PLAINTEXT", host=broker.host, port=broker.port)],
        )
        for _, broker in sorted(context.image.brokers.items())
    ]
