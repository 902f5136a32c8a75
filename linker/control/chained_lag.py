"""How far topics of this region that are mirrors are behind the region in which their records begin."""

from collections.abc import Mapping

from brokers.ids import Instant, TopicPartition
from linker.control.cluster_link import ClusterLink
from linker.offset_bounds import AT_ORIGIN, NOTHING_TOLD, BehindOrigin
from linker.region_client import RegionClient


class ChainedLag:
    """For what this broker leads. `links` are those of this region, as their destination."""

    def __init__(self, region: RegionClient, links: Mapping[str, ClusterLink]) -> None:
        self._region = region
        self._links = links

    def __call__(self, partition: TopicPartition, now: Instant) -> BehindOrigin:
        """Of what is no mirror any more: nothing is missing."""
        for link in self._links.values():
            mirror = link.mirrors.get(partition.topic)
            if mirror is None or mirror.record.cut is not None:
                continue
            replicator = mirror.replicators.by_index.get(partition.partition)
            state = self._region.view.partition_state(partition)
            if replicator is None or state is None:
                return NOTHING_TOLD
            return replicator.lag.behind_origin(state.high_watermark, now)
        return AT_ORIGIN
