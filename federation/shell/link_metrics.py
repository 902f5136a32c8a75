"""The metrics of links for Prometheus, beside those of the broker.

MaxLag, link-count and mirror-topic-count are Confluent's for Cluster Linking, as the JMX exporter spells them; like
those, link-count is 1 on the link coordinator and 0 elsewhere. What begins with `causeway_` is ours. A broker tells of
the mirror partitions that it leads; of topics as a whole, the link coordinator does. What is not known has no sample.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from brokers.ids import Instant
from brokers.region import MirrorPartitionStatus
from brokers.telemetry.exposition import family, labelled
from federation.shell.orphan_files import OrphanFiles
from linker.administration.registry import shown_state, worse_half
from linker.control.cluster_link import ClusterLink
from linker.control.source_link import SourceLink
from linker.linker import Linker
from linker.records.mirror_state import LIVE

MAX_LAG: Final = "kafka_server_link_clusterlinkfetchermanager_maxlag"
LINK_COUNT: Final = "kafka_server_cluster_link_metrics_link_count"
TOPIC_COUNT: Final = "kafka_server_cluster_link_metrics_mirror_topic_count"
_TOPICS_AT_ONCE: Final = 500  # between which the node may run


class _Led(NamedTuple):
    """A mirror partition that this broker leads."""

    link: str
    topic: str
    status: MirrorPartitionStatus

    @property
    def labels(self) -> str:
        return labelled(link_name=self.link, topic=self.topic, partition=self.status.index)

    @property
    def lag(self) -> int:
        """Records that the mirror's high watermark is behind the source's; -1 unknown."""
        source, mirror = self.status.source_high_watermark, self.status.high_watermark
        return max(0, source - mirror) if source >= 0 and mirror >= 0 else -1


class LinkMetrics:
    """Of one node. `text` in pieces, between which the node may run."""

    def __init__(self, linker: Linker, orphans: OrphanFiles) -> None:
        self._linker = linker
        self._orphans = orphans

    def text(self, now: Instant) -> Iterator[str]:
        yield from self._links()
        led: list[_Led] = []
        for name, link in list(self._linker.links.items()):
            for topic in list(link.mirrors):
                led += _led(name, link, topic, now)
                yield ""
        yield from self._lags(led)
        yield from self._holds()
        yield from self._startup()
        if self._linker.is_coordinator:
            yield from self._topics()
            yield from self._taken_over()
        yield from self._orphan_store()

    def _links(self) -> Iterator[str]:
        own = int(self._linker.is_coordinator)
        links: dict[str, ClusterLink | SourceLink] = {
            **self._linker.source_links,
            **self._linker.links,
        }
        samples = (
            (
                own,
                labelled(
                    mode=str(link.config.value("link.mode")).lower(),
                    state=worse_half(link, self._linker.source_links.get(name)).state.value.lower(),
                    link_name=name,
                ),
            )
            for name, link in links.items()
        )
        yield from family(LINK_COUNT, "gauge", "1 on the coordinator of the link", samples)

    def _lags(self, led: list[_Led]) -> Iterator[str]:
        about = "Records by which the slowest mirror partition here is behind its source, of those of which it is known"
        by_link = (
            (lag, labelled(clientId="ClusterLink", link_name=name))
            for name, lag in _most(led).items()
        )
        yield from family(MAX_LAG, "gauge", about, by_link)
        known = [each for each in led if each.lag >= 0]
        about = "Records by which a mirror partition is behind its source"
        records = ((each.lag, each.labels) for each in known)
        yield from family("causeway_mirror_lag_records", "gauge", about, records)
        about = "Bytes of record batches by which a mirror partition is behind its source"
        sizes = ((one.status.lag_bytes, one.labels) for one in known if one.status.lag_bytes >= 0)
        yield from family("causeway_mirror_lag_bytes", "gauge", about, sizes)
        about = "The age of the newest state of the source that a mirror partition holds entirely"
        times = ((each.status.lag_ms, each.labels) for each in led if each.status.lag_ms >= 0)
        yield from family("causeway_mirror_lag_milliseconds", "gauge", about, times)
        about = "1 while nothing is heard of the source's partition: records and bytes may be more"
        bounds = ((int(one.status.is_lower_bound), one.labels) for one in known)
        yield from family("causeway_mirror_lag_is_lower_bound", "gauge", about, bounds)
        yield from self._origin_lags(known)

    def _origin_lags(self, known: list[_Led]) -> Iterator[str]:
        of_partitions = [(one.status, one.labels) for one in known]
        numbers = {
            "records": [(status.origin_lag, labels) for status, labels in of_partitions],
            "bytes": [(status.origin_lag_bytes, labels) for status, labels in of_partitions],
            "milliseconds": [(status.origin_lag_ms, labels) for status, labels in of_partitions],
        }
        for unit, samples in numbers.items():
            about = f"As causeway_mirror_lag_{unit}, behind the region in which the records begin"
            told = (sample for sample in samples if sample[0] >= 0)
            yield from family(f"causeway_mirror_origin_lag_{unit}", "gauge", about, told)
        about = "1 where causeway_mirror_origin_lag_records and _bytes may be more"
        bounds = (
            (int(status.is_origin_lower_bound), labels)
            for status, labels in of_partitions
            if status.origin_lag >= 0
        )
        yield from family("causeway_mirror_origin_lag_is_lower_bound", "gauge", about, bounds)

    def _topics(self) -> Iterator[str]:
        mirrors = [
            (name, link, mirror)
            for name, link in self._linker.links.items()
            for mirror in link.mirrors.values()
        ]
        states = Counter((name, shown_state(link, mirror).value) for name, link, mirror in mirrors)
        counts = (
            (count, labelled(link_name=name, state=state.lower()))
            for (name, state), count in states.items()
        )
        yield from family(TOPIC_COUNT, "gauge", "Mirror topics of a link by state", counts)
        about = "How often another region or this one has become the topic's writer"
        generations = (
            (mirror.record.generation, labelled(link_name=name, topic=mirror.topic))
            for name, _, mirror in mirrors
        )
        yield from family("causeway_mirror_generation", "gauge", about, generations)
        skipped = (
            (
                self._linker.skipped_offsets(mirror.topic),
                labelled(link_name=name, topic=mirror.topic),
            )
            for name, _, mirror in mirrors
        )
        about = "Offsets of the source that the mirror does not have, by the hole ledger"
        yield from family("causeway_mirror_skipped_offsets", "gauge", about, skipped)

    def _taken_over(self) -> Iterator[str]:
        """As the source."""
        counts: Counter[str] = Counter()
        for number, superseder in enumerate(self._linker.superseders()):
            if superseder is not None:
                counts[superseder.cluster_id] += 1
            if number % _TOPICS_AT_ONCE == 0:
                yield ""
        about = "Topics of this region that are read-only since another one has taken them over"
        samples = ((count, labelled(taken_over_by=name)) for name, count in counts.items())
        yield from family("causeway_taken_over_topics", "gauge", about, samples)

    def _startup(self) -> Iterator[str]:
        """As the source: whom writes wait for, or have not waited for any longer."""
        wait = self._linker.startup_wait
        about = "Links of other regions that writes wait for since this broker has started"
        count = iter([(len(wait.awaited), "")] if wait.has_begun else [])
        yield from family("causeway_startup_awaited_destinations", "gauge", about, count)
        about = "1 for a link of another region that was not heard in link.source.startup.wait.ms"
        missed = ((1, labelled(destination=name)) for name in wait.missed)
        yield from family("causeway_startup_missed_destinations", "gauge", about, missed)

    def _holds(self) -> Iterator[str]:
        """As the source: of each replica here that is held for a mirror, once, whoever holds it."""
        about = "Bytes that retention would have deleted, were they not held for mirrors in other regions"
        samples = (
            (size, labelled(topic=partition.topic, partition=partition.partition))
            for partition, size in self._linker.held_bytes()
            if size >= 0
        )
        yield from family("causeway_retention_hold_bytes", "gauge", about, samples)

    def _orphan_store(self) -> Iterator[str]:
        totals = self._orphans.totals()
        tails, sizes = ([totals[0]], [totals[1]]) if totals is not None else ([], [])
        about = "Sealed tails in the orphan stores of this broker"
        yield from family("causeway_orphan_tails", "gauge", about, ((one, "") for one in tails))
        about = "Bytes of their files"
        yield from family("causeway_orphan_bytes", "gauge", about, ((one, "") for one in sizes))


def _led(name: str, link: ClusterLink, topic: str, now: Instant) -> list[_Led]:
    """None of a mirror that is STOPPED: it is behind nobody, whatever was heard of its source before."""
    mirror, status = link.mirrors.get(topic), link.status(topic, now)
    if mirror is None or status is None or mirror.record.state not in LIVE:
        return []
    return [_Led(name, topic, each) for each in status.partitions]


def _most(led: list[_Led]) -> dict[str, int]:
    """The largest lag by link. A link is left out where none is known, or 0 is the most and another one is unknown."""
    most: dict[str, int] = {}
    unknown = {each.link for each in led if each.lag < 0}
    for each in led:
        most[each.link] = max(most.get(each.link, -1), each.lag)
    return {
        name: lag for name, lag in most.items() if lag > 0 or (lag == 0 and name not in unknown)
    }
