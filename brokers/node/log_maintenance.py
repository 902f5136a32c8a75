"""What a node does by the clock: retention, flushes, producer expiry, checkpoints of high watermarks.

An upper layer that watches the region is asked first what retention is to leave alone (`RetentionDue`).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from brokers.config.broker_config import BrokerConfig
from brokers.effects import Effect, SaveHighWatermarks
from brokers.ids import METADATA_PARTITION, OFFSET_MAX, Instant, Offset, TopicPartition
from brokers.log.config import INT64_MAX
from brokers.log.retention_hold import (
    HeldSegment,
    MarkerHold,
    RetentionHold,
    held_segments,
    released,
)
from brokers.metadata.log.raft_manager import RaftManager
from brokers.partition.hosted_partitions import HostedPartitions
from brokers.region import RetentionDue
from brokers.timers import Timers

KEEP_ALL: Final = MarkerHold(0, INT64_MAX)
KEEP_NONE: Final = MarkerHold(OFFSET_MAX, 0)
METADATA_EVERY_MS = 60_000
FLUSH_CHECK_MIN_MS = 10


class LogMaintenance:
    """Sets its own timers; one round of each is one step."""

    def __init__(
        self,
        config: BrokerConfig,
        partitions: HostedPartitions,
        raft: RaftManager,
        timers: Timers,
    ) -> None:
        self._config = config
        self._partitions = partitions
        self._raft = raft
        self._timers = timers
        self._saved: dict[TopicPartition, Offset] = {}
        self.is_watched = False
        self._holds: Mapping[TopicPartition, Sequence[RetentionHold]] | None = None  # unknown yet
        self.held_bytes: Mapping[
            TopicPartition, int
        ] = {}  # that holds have kept, in the last round
        self._next_at: Instant = 0
        self._is_flushing = False  # whether the timer of `_flush` is set

    def start(self, now: Instant) -> None:
        config = self._config
        self._timers.set(now + config.log_retention_check_interval_ms, self._retain_due)
        self._timers.set(
            now + config.replica_high_watermark_checkpoint_interval_ms, self._checkpoint
        )

    def _retain_due(self, now: Instant) -> list[Effect]:
        interval = self._config.log_retention_check_interval_ms
        self._timers.set(now + interval, self._retain_due)
        return [RetentionDue()] if self.is_watched else self.retain({}, now)

    def retain(
        self, holds: Mapping[TopicPartition, Sequence[RetentionHold]], now: Instant
    ) -> list[Effect]:
        """Deletes old segments. A mirror follows its source's log start, so it has no retention of its own.

        Nor has a follower of what is held: only its leader knows how far mirrors are, and follower and leader may not
        differ in what the bound of all holds together takes. It follows its leader's log start.
        """
        self._holds = holds
        log_starts: dict[TopicPartition, Offset] = {}
        held: dict[TopicPartition, list[HeldSegment]] = {}
        following: dict[TopicPartition, list[HeldSegment]] = {}
        for partition, replica in self._partitions.all.items():
            if replica.log is None:
                continue
            replica.log.producers.expire(now, self._config.producer_id_expiration_ms)
            if replica.writer is not None:
                continue
            log_start = replica.log.retention(now, replica.config, replica.high_watermark)
            if log_start is None:
                continue
            kept = held_segments(replica.log, log_start, holds.get(partition, ()), now)
            if replica.follows and partition in holds:
                following[partition] = kept
                continue
            log_starts[partition] = log_start
            if kept:
                held[partition] = kept
        for partition, count in released(held, self._config.link_retention_hold_max_bytes).items():
            held[partition] = held[partition][count:]
        self.held_bytes = {
            partition: sum(one.size for one in kept)
            for partition, kept in (held | following).items()
            if kept
        }
        effects: list[Effect] = []
        for partition, log_start in log_starts.items():
            still = held.get(partition)
            start = still[0].base_offset if still else log_start
            effects += self._partitions.all[partition].trim(start)
        return effects

    def held_bytes_of(self, partition: TopicPartition) -> int:
        """-1: unknown. No round has been since the start, or the log is not open."""
        replica = self._partitions.all.get(partition)
        is_known = self._holds is not None and replica is not None and replica.log is not None
        return self.held_bytes.get(partition, 0) if is_known else -1

    def marker_hold(self, partition: TopicPartition) -> MarkerHold:
        """As the holds were in the last round. What mirrors lack is unknown before the first one."""
        if self._holds is None:
            return KEEP_ALL if self.is_watched else KEEP_NONE
        holds = self._holds.get(partition, ())
        return MarkerHold(
            min((hold.offset for hold in holds), default=OFFSET_MAX),
            max((hold.max_ms for hold in holds), default=0),
        )

    def _checkpoint(self, now: Instant) -> list[Effect]:
        interval = self._config.replica_high_watermark_checkpoint_interval_ms
        self._timers.set(now + interval, self._checkpoint)
        if not self._is_flushing and self._shortest_flush_ms() is not None:
            self._is_flushing = True
            return [*self._flush(now), *self.checkpoint(now)]
        return self.checkpoint(now)

    def _flush(self, now: Instant) -> list[Effect]:
        """Syncs what `flush.ms` no longer allows to wait; as often as the shortest one needs."""
        shortest = self._shortest_flush_ms()
        self._is_flushing = shortest is not None
        if shortest is None:
            return []
        self._timers.set(now + max(FLUSH_CHECK_MIN_MS, shortest // 2), self._flush)
        effects: list[Effect] = []
        for replica in self._partitions.all.values():
            if replica.log is not None:
                effects += replica.log.flush(replica.config, now)
        return effects

    def _shortest_flush_ms(self) -> int | None:
        """Of the logs here; None where none has `flush.ms`."""
        every = (replica.config.flush_ms for replica in self._partitions.all.values())
        return min((each for each in every if each < INT64_MAX), default=None)

    def stop(self) -> list[Effect]:
        """What a clean shutdown writes of all partitions."""
        effects: list[Effect] = self.checkpoint(None)
        for replica in self._partitions.all.values():
            effects += replica.stop()
        return effects

    def checkpoint(self, now: Instant | None) -> list[Effect]:
        """None: at a clean stop. Nothing is written unless a high watermark has moved.

        The metadata log's, which moves all the time, is for who begins a quorum anew: it goes along, or once a minute.
        """
        marks = {
            name: replica.high_watermark
            for name, replica in self._partitions.all.items()
            if replica.log is not None
        }
        if marks == self._saved and now is not None and now < self._next_at:
            return []
        self._saved, self._next_at = marks, (now or 0) + METADATA_EVERY_MS
        return [SaveHighWatermarks({**marks, METADATA_PARTITION: self._raft.committed_offset + 1})]
