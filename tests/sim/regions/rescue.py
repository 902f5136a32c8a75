"""What an operator does for partitions that nobody may lead any more, once the faults are over: an unclean election.

A topic may be made in the moments before the region hears that the only broker it lies on came back with an empty
disk. What an observer holds might be more than that disk then does, as far as the controllers can tell; so the
partition waits for an operator. This one knows where nothing was acknowledged, and has a leader elected there.
"""

from brokers.errors import KafkaError
from brokers.ids import TopicPartition
from brokers.wire.messages.metadata import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponsePartition,
)
from brokers.wire.messages.replication import ElectLeadersRequest, TopicPartitions
from tests.sim.regions.admins import brief
from tests.sim.regions.cluster import Cluster
from tests.sim.regions.routes import Routes

ELECT_LEADERS, DESCRIBE_TOPIC_PARTITIONS = 43, 75
UNCLEAN = 1
LOOK_MS = 5_000  # far longer than the region takes to elect whoever may be elected


class Rescuer:
    """`watch` looks now and then; regions whose disks all last need none."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._routes = Routes(cluster, "rescuer")

    async def watch(self) -> None:
        while self._cluster.scenario.wipe_mean_ms:
            await self._world.sleep(LOOK_MS)
            for partition in await self._deserted():
                await self._elect(partition)

    async def _deserted(self) -> list[TopicPartition]:
        request = DescribeTopicPartitionsRequest(
            topics=[], response_partition_limit=2_000, cursor=None
        )
        answer = await self._routes.ask_anyone(DESCRIBE_TOPIC_PARTITIONS, request)
        found = [] if answer is None else answer.topics
        return [
            TopicPartition(topic.name, each.partition_index)
            for topic in found
            for each in topic.partitions
            if is_deserted(each)
            and not self._holds(TopicPartition(topic.name, each.partition_index))
        ]

    def _holds(self, partition: TopicPartition) -> bool:
        """Whether anything was acknowledged there."""
        stored = self._cluster.statements.acknowledged
        return any(each.place.partition == partition for each in stored)

    async def _elect(self, partition: TopicPartition) -> None:
        topic = TopicPartitions(topic=partition.topic, partitions=[partition.partition])
        request = ElectLeadersRequest(
            election_type=UNCLEAN, topic_partitions=[topic], timeout_ms=20_000
        )
        answer = await self._routes.ask_anyone(ELECT_LEADERS, request)
        said = "no answer" if answer is None else brief(answer)
        self._world.note("rescuer", f"elects uncleanly for {partition}: {said}")


def is_deserted(told: DescribeTopicPartitionsResponsePartition) -> bool:
    """Nobody leads, and nobody will by itself: none is in sync or eligible, and the last leader's records are lost."""
    members = (
        *told.isr_nodes,
        *(told.eligible_leader_replicas or ()),
        *(told.last_known_elr or ()),
    )
    return told.error_code == KafkaError.LEADER_NOT_AVAILABLE and not members
