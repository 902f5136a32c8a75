"""Replicas of the region's own partitions, for an operator, as this node knows them."""

from collections.abc import Iterable

from brokers.ids import Instant
from brokers.region import RegionView
from linker.commands import Replicas


def replicas(view: RegionView, topics: Iterable[str], now: Instant) -> Replicas:
    """The replicas of partitions that this node leads; topics that do not exist are left out."""
    image = view.image
    known = [image.topics_by_name[name] for name in topics if name in image.topics_by_name]
    return Replicas(
        tuple(
            (partition, status)
            for topic in known
            for partition in topic.each()
            for status in view.replica_statuses(partition, now) or ()
        )
    )
