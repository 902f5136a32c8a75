"""All links of the region, each with the lag of its live mirrors, in slices: there can be many partitions."""

from dataclasses import replace
from typing import Final

from linker.administration import status
from linker.administration.registry import AnyLink, Registry, Respond
from linker.answers import Links, PartitionLag, total_lag
from linker.control.cluster_link import ClusterLink
from linker.sliced_work import Job, SlicedWork, Step

LINK_COST: Final = 50
PARTITION_COST: Final = 20


def list_links(registry: Registry, work: SlicedWork, respond: Respond) -> Job:
    """As `link describe` has them. A link of which this region is the source only has no lag here."""
    links: dict[str, AnyLink] = {**registry.source_links, **registry.links}
    described = []
    for _, link in sorted(links.items()):
        lags: list[PartitionLag] = []
        if isinstance(link, ClusterLink):
            yield from _find_lags(link, work, lags)
        described.append(replace(status.describe_any_link(registry, link), lag=total_lag(lags)))
        yield Step(LINK_COST, [])
    yield Step(1, respond(Links(tuple(described)), work.now))


def _find_lags(link: ClusterLink, work: SlicedWork, lags: list[PartitionLag]) -> Job:
    """Adds them to `lags`."""
    # A copy: mirrors may be made and deleted between two slices.
    for mirror in list(link.mirrors.values()):
        found = status.live_lags(link, mirror, work.now)
        lags += found
        yield Step(1 + len(found) * PARTITION_COST, [])
