"""Whether all is well again in a region: asks every broker what it knows, and compares the disks."""

from collections.abc import Iterator
from typing import Any

from brokers.ids import METADATA_PARTITION, BrokerId, TopicPartition
from brokers.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.sim.regions.checks import tip_of
from tests.sim.regions.cluster import Cluster
from tests.sim.regions.racks import far_brokers
from tests.sim.regions.routes import METADATA, Routes

# topic partition -> leader, leader epoch, replicas, in-sync replicas
View = dict[TopicPartition, tuple[BrokerId, int, tuple[BrokerId, ...], tuple[BrokerId, ...]]]


class Inspector:
    """`watch` keeps asking; `missing` says what is not well yet."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._routes = Routes(cluster, cluster.name("inspector"))
        self.views: dict[BrokerId, View] = {}
        self.rounds = 0

    async def watch(self) -> None:
        while True:
            views: dict[BrokerId, View] = {}
            for number in self._cluster.brokers:
                request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
                answer = await self._routes.ask(number, METADATA, request, timeout_ms=2_000)
                if answer is not None:
                    views[number] = _view(answer)
            self.views = views
            self.rounds += 1
            await self._cluster.world.sleep(250)

    def missing(self) -> list[str]:
        """What all brokers say comes before what the disks show."""
        return [*self._disagreements(), *self._out_of_sync()] or list(self._unequal())

    @property
    def agreed(self) -> View:
        """What all say, once nothing is missing."""
        return next(iter(self.views.values()), {})

    def _disagreements(self) -> Iterator[str]:
        for number in self._cluster.brokers:
            if number not in self.views:
                yield f"broker {number} does not answer"
            elif self.views[number] != self.agreed:
                differs = set(self.views[number].items()) ^ set(self.agreed.items())
                yield f"broker {number} says otherwise: {sorted(map(str, differs))[:2]}"

    def _out_of_sync(self) -> Iterator[str]:
        for partition, (leader, _, replicas, in_sync) in self.agreed.items():
            if leader < 0:
                yield f"{partition} has no leader"
            elif set(replicas) - self._observers(partition) != set(in_sync):
                yield f"{partition} on {replicas} is in sync on {in_sync} only"

    def _observers(self, partition: TopicPartition) -> set[BrokerId]:
        """Of topics that an operator made; nobody places Kafka's own."""
        is_placed = not partition.topic.startswith("__")
        return set(far_brokers(self._cluster.scenario)) if is_placed else set()

    def _unequal(self) -> Iterator[str]:
        yield from self._differing(METADATA_PARTITION, tuple(self._cluster.nodes))
        for partition, (_, _, replicas, _) in self.agreed.items():
            yield from self._differing(partition, replicas)

    def _differing(
        self, partition: TopicPartition, replicas: tuple[BrokerId, ...]
    ) -> Iterator[str]:
        """A tail that an earlier leader left may be as long as what takes its place."""
        tips = {each: tip_of(self._cluster.node(each).disk, partition) for each in replicas}
        epochs = {leader_epoch for _, leader_epoch in tips.values() if leader_epoch >= 0}
        if len({end for end, _ in tips.values()}) > 1 or len(epochs) > 1:
            yield f"{partition} ends at {tips} (offset, leader epoch)"


def _view(answer: MetadataResponse) -> View:
    return {
        TopicPartition(str(topic.name), placed.partition_index): _placed(placed)
        for topic in answer.topics
        for placed in topic.partitions
    }


def _placed(placed: Any) -> tuple[BrokerId, int, tuple[BrokerId, ...], tuple[BrokerId, ...]]:
    return (
        placed.leader_id,
        placed.leader_epoch,
        tuple(placed.replica_nodes),
        tuple(sorted(placed.isr_nodes)),
    )
