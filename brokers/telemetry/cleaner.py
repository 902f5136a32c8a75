"""Compaction: Kafka's MBeans kafka.log:type=LogCleaner and type=LogCleanerManager."""

from collections.abc import Iterator
from typing import Final

from brokers.ids import Instant
from brokers.log.cleanable import log_to_clean
from brokers.node.log_cleaner import LogCleaner
from brokers.node.parts import Parts
from brokers.telemetry.exposition import family, head, labelled, sample

_CLEANER: Final = "kafka_log_logcleaner_"
_MANAGER: Final = "kafka_log_logcleanermanager_"


def cleaner_text(parts: Parts, now: Instant) -> Iterator[str]:
    cleaner = parts.cleaner
    metrics = cleaner.metrics
    last, since = metrics.last, metrics.last_run
    recopied = 100 * last.bytes_written / last.bytes_read if last.bytes_read else 0
    for name, about, value in (
        (
            f"{_CLEANER}max_buffer_utilization_percent",
            "How much of its memory for keys the last cleaning used",
            int(100 * last.map_utilization),
        ),
        (
            f"{_CLEANER}cleaner_recopy_percent",
            "What the last cleaning wrote, of what it read",
            int(recopied),
        ),
        (
            f"{_CLEANER}max_clean_time_secs",
            "How long the last cleaning took",
            metrics.max_clean_time_ms // 1000,
        ),
        (
            f"{_CLEANER}max_compaction_delay_secs",
            "How long a record has waited beyond max.compaction.lag.ms",
            metrics.max_compaction_delay_ms // 1000,
        ),
        (
            f"{_MANAGER}max_dirty_percent",
            "The dirty part of the dirtiest log, as it was last looked at",
            int(100 * metrics.max_dirty_ratio),
        ),
        (
            f"{_MANAGER}time_since_last_run_ms",
            "Time since the logs were last looked at",
            0 if since is None else now - since,
        ),
    ):
        yield head(name, "gauge", about) + sample(name, value)
    yield from _uncleanable(parts, cleaner, now)


def _uncleanable(parts: Parts, cleaner: LogCleaner, now: Instant) -> Iterator[str]:
    """By log directory: the logs that are not cleaned any more, and the bytes in them that should be."""
    counts = dict.fromkeys((each.path for each in parts.log_dirs.all), 0)
    sizes = dict.fromkeys(counts, 0)
    paths = {each.id: each.path for each in parts.log_dirs.all}
    for partition in list(cleaner.uncleanable):
        path = paths.get(parts.log_dirs.home(partition))
        replica = parts.partitions.get(partition)
        if path is None or replica is None or replica.log is None:
            continue
        counts[path] += 1
        found = log_to_clean(replica.log, replica.config, replica.last_stable_offset, now)
        sizes[path] += found.cleanable_bytes
    for name, about, values in (
        ("uncleanable_partitions_count", "Logs that are not cleaned any more", counts),
        ("uncleanable_bytes", "What should be cleaned of those logs", sizes),
    ):
        samples = ((value, labelled(logDirectory=path)) for path, value in values.items())
        yield from family(_MANAGER + name, "gauge", about, samples)
