"""Replicas of the region's own partitions, for an operator, as this node knows them."""

from collections.abc import Iterable
from typing import Final

from brokers.region import RegionView
from linker.administration.registry import Respond
from linker.answers import Replicas
from linker.sliced_work import Job, SlicedWork, Step

PARTITION_COST: Final = 20


def describe_replicas(
    view: RegionView, topics: Iterable[str], work: SlicedWork, respond: Respond
) -> Job:
    """The replicas of partitions that this node leads; topics that do not exist are left out."""
    image = view.image
    described = []
    links: dict[str, str] = {}
    for name in dict.fromkeys(topics):
        topic = image.topics_by_name.get(name)
        yield Step(1, [])
        if topic is not None and topic.writer is not None:
            links[name] = topic.writer
        for partition in topic.each() if topic is not None else ():
            statuses = view.replica_statuses(partition, work.now) or ()
            described += [(partition, status) for status in statuses]
            yield Step(PARTITION_COST, [])
    yield Step(1, respond(Replicas(tuple(described), links), work.now))
