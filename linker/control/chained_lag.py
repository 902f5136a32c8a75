"""How far topics of this region that are mirrors are behind the region in which their records begin."""

from collections.abc import Mapping

from brokers.ids import Instant, TopicPartition
from linker.control.cluster_link import ClusterLink


class ChainedLag:
    """For what this broker leads. `links` are those of this region, as their destination."""

    def __init__(self, links: Mapping[str, ClusterLink]) -> None:
        self._links = links

    def __call__(self, partition: TopicPartition, now: Instant) -> int:
        """Milliseconds; -1 unknown, 0 for what is no mirror any more."""
        for link in self._links.values():
            mirror = link.mirrors.get(partition.topic)
            if mirror is None or mirror.record.cut is not None:
                continue
            replicator = mirror.replicators.by_index.get(partition.partition)
            if replicator is None:
                return -1
            return replicator.lag.origin_milliseconds(replicator.stream.clock, now)
        return 0
