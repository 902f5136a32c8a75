"""Which logs are compacted, when, and with what (Kafka's LogCleaner and LogCleanerManager).

Of all logs that are dirty enough, or in which a record has waited too long, the dirtiest is cleaned first, by as many
cleanings at once as `log.cleaner.threads` says. The host does the work; this part begins it and takes its results, and
tells beforehand that there may be some.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from brokers.compaction import CleaningStats
from brokers.config.broker_config import BrokerConfig
from brokers.effects import Changed, CleanLog, Effect, ExpectCleaning
from brokers.events import LogCleaned, RecordsCompacted, SegmentsCleaned
from brokers.ids import Instant, Offset, TopicPartition
from brokers.log.cleanable import LogToClean, last_batches, log_to_clean
from brokers.log.retention_hold import MarkerHold
from brokers.node.cleaner_settings import cleaner_settings
from brokers.partition.hosted_partitions import HostedPartitions, MetadataCache
from brokers.partition.replica import Replica
from brokers.timers import Timers

_CHECKS_EXPECTED: Final = 2  # so the next one comes before the host has given up


@dataclass(slots=True)
class CleanerMetrics:
    """Of the last check and the last cleaning, as Kafka has them."""

    last_run: Instant | None = None
    max_dirty_ratio: float = 0.0
    max_compaction_delay_ms: int = 0
    max_clean_time_ms: int = 0
    last: CleaningStats = field(default_factory=CleaningStats)


@dataclass(frozen=True, slots=True)
class _Begun:
    at: Instant
    first_dirty: Offset


class LogCleaner:
    """`uncleanable` has the logs that are not cleaned any more in this process, with the reason."""

    def __init__(
        self,
        config: BrokerConfig,
        metadata: MetadataCache,
        partitions: HostedPartitions,
        timers: Timers,
        marker_hold: Callable[[TopicPartition], MarkerHold],
    ) -> None:
        """`marker_hold`: the deletion markers that mirrors do not hold yet."""
        self._marker_hold = marker_hold
        self._config = config
        self._metadata = metadata
        self._partitions = partitions
        self._timers = timers
        self._begun: dict[TopicPartition, _Begun] = {}
        self._resting: dict[TopicPartition, str] = {}  # until the next check -> why
        self._reported: dict[TopicPartition, str] = {}
        self.uncleanable: dict[TopicPartition, str] = {}
        self.metrics = CleanerMetrics()

    def start(self, now: Instant) -> None:
        if self._config.log_cleaner_enable:
            self._set_timer(now)

    def _set_timer(self, now: Instant) -> None:
        backoff = cleaner_settings(self._metadata.image, self._config).backoff_ms
        self._timers.set(now + max(1, backoff), self._on_time)

    def _on_time(self, now: Instant) -> list[Effect]:
        self._set_timer(now)
        self._resting.clear()
        self.metrics.last_run = now
        return self._begin(now)

    # --- what is cleaned next ---

    def _begin(self, now: Instant) -> list[Effect]:
        """As many of the dirtiest logs as may be cleaned at once."""
        settings = cleaner_settings(self._metadata.image, self._config)
        free = settings.threads - len(self._begun)
        if free <= 0:
            return []
        found = self._dirty(now)
        self.metrics.max_dirty_ratio = max((each.dirty_ratio for _, each in found), default=0.0)
        self.metrics.max_compaction_delay_ms = max(
            (each.overdue_ms for _, each in found), default=0
        )
        due = [(replica, each) for replica, each in found if each.is_due(replica.config)]
        if not due and not self._begun:
            is_near = any(each.may_soon_be_due(replica.config) for replica, each in found)
            return [ExpectCleaning(_CHECKS_EXPECTED * settings.backoff_ms)] if is_near else []
        due.sort(key=lambda pair: -pair[1].dirty_ratio)
        effects: list[Effect] = []
        for replica, each in due[:free]:
            self._begun[replica.partition] = _Begun(now, each.first_dirty)
            log = replica.require_log()
            effects.append(
                CleanLog(
                    replica.partition,
                    each.first_dirty,
                    each.first_uncleanable,
                    now,
                    replica.config.delete_retention_ms,
                    replica.config.segment_bytes,
                    last_batches(log.producers),
                    settings.limits,
                    *self._marker_hold(replica.partition),
                )
            )
        return effects

    def _dirty(self, now: Instant) -> list[tuple[Replica, LogToClean]]:
        """The compacted logs that may be cleaned."""
        return [
            (replica, log_to_clean(replica.log, replica.config, replica.last_stable_offset, now))
            for partition, replica in self._partitions.all.items()
            if replica.config.compact
            and replica.log is not None
            and partition not in self._begun
            and partition not in self._resting
            and partition not in self.uncleanable
        ]

    # --- results ---

    def records_compacted(self, event: RecordsCompacted, now: Instant) -> list[Effect]:
        replica = self._partitions.get(event.partition)
        if replica is not None and replica.log is not None:
            replica.log.completeness.cleaned(event.complete_from, event.markers_from, now)
        return []

    def segments_cleaned(self, event: SegmentsCleaned, now: Instant) -> list[Effect]:
        replica = self._partitions.get(event.partition)
        if replica is not None and replica.log is not None:
            replica.log.on_cleaned(
                event.base_offset, event.next_offset, event.size, event.max_timestamp
            )
        return []

    def cleaned(self, event: LogCleaned, now: Instant) -> list[Effect]:
        partition = event.partition
        begun = self._begun.pop(partition, None)
        replica = self._partitions.get(partition)
        if begun is None or replica is None or replica.log is None:
            return []  # the log was opened again or closed meanwhile
        if event.next_offset is None:
            return self._ended_early(event) + self._begin(now)
        if event.next_offset <= begun.first_dirty:
            self._resting[partition] = "nothing of it is on the disk yet"
        self._reported.pop(partition, None)
        replica.log.cleaner_offset = event.next_offset
        self.metrics.max_clean_time_ms = now - begun.at
        self.metrics.last = event.stats
        return self._begin(now)

    def _ended_early(self, event: LogCleaned) -> list[Effect]:
        partition, reason = event.partition, event.reason
        if event.is_final:
            self.uncleanable[partition] = reason
        else:
            self._resting[partition] = reason
        if not reason or self._reported.get(partition) == reason:
            return []
        self._reported[partition] = reason
        what = "uncleanable" if event.is_final else "not cleaned for now"
        return [Changed(f"partition {partition}", what, reason)]

    def forget(self, partition: TopicPartition) -> None:
        """The log was opened again, closed, or has failed: the storage has ended its cleaning."""
        self._begun.pop(partition, None)
        self._resting.pop(partition, None)
        self._reported.pop(partition, None)
        self.uncleanable.pop(partition, None)
