"""One partition that is fetched from its leader: the request's item, and the handling of the response's."""

from enum import Enum
from typing import Protocol
from uuid import UUID

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset
from brokers.partition import follower
from brokers.partition.replica import Replica
from brokers.replication.fetch_sessions import Key
from brokers.replication.settings import ReplicationSettings
from brokers.wire.messages.fetch import FetchPartition, PartitionData


class FetchOutcome(Enum):
    """The result of one partition of a response."""

    NOTHING = "nothing"  # no data: the next request need not list it
    AGAIN = "again"  # list it in the next request
    STORING = "storing"  # list it once the data are written
    PAUSED = "paused"  # until its log is open again
    FAILED = "failed"  # fetch it again after a delay
    NOT_TAKEN = "not taken"  # its disk is nearly full: what came was dropped


class PartitionFetcher(Protocol):
    """What a fetched partition needs of its `ReplicaFetcher`."""

    def stored(self, fetch: "PartitionFetch", now: Instant) -> list[Effect]: ...

    def ready(self, fetch: "PartitionFetch", now: Instant) -> list[Effect]: ...

    def not_ready(self, fetch: "PartitionFetch", now: Instant) -> list[Effect]: ...

    def changed(self, fetch: "PartitionFetch") -> None: ...

    def is_full(self, fetch: "PartitionFetch") -> bool:
        """Whether its disk takes no records now: only the leader's offsets are of use."""


class PartitionFetch:
    """The `ReplicaSource` of its replica. `request_epoch` is the leader epoch of the last request."""

    __slots__ = ("_fetcher", "request_epoch", "failures", "key", "replica")

    def __init__(self, replica: Replica, fetcher: PartitionFetcher) -> None:
        self.replica = replica
        self.key: Key = (UUID(bytes=replica.topic_id), replica.partition.partition)
        self.request_epoch: LeaderEpoch = -1
        self.failures = 0
        self._fetcher = fetcher

    @property
    def is_ready(self) -> bool:
        """Whether it can be fetched: batches that this node appended as a leader must be written first."""
        log = self.replica.log
        return log is not None and log.written_offset == log.log_end_offset

    # --- from the replica ---

    def written(self, now: Instant) -> list[Effect]:
        return self._fetcher.stored(self, now) if self.is_ready else []

    def opened(self, now: Instant) -> list[Effect]:
        return self._fetcher.ready(self, now)

    def failed(self, now: Instant) -> list[Effect]:
        return self._fetcher.not_ready(self, now)

    def trimmed(self) -> None:
        self._fetcher.changed(self)

    # --- to and from the leader ---

    def item(self, settings: ReplicationSettings) -> FetchPartition:
        """The request's item. Everything below its fetch offset is written, and synced if the topic requires it."""
        replica = self.replica
        log = replica.require_log()
        self.request_epoch = replica.leader_epoch
        return FetchPartition(
            partition=replica.partition.partition,
            current_leader_epoch=replica.leader_epoch,
            fetch_offset=log.written_offset,
            last_fetched_epoch=log.epochs.latest,
            log_start_offset=log.log_start_offset,
            partition_max_bytes=1 if self._fetcher.is_full(self) else settings.partition_bytes_max,
            high_watermark=replica.leader_high_watermark,
        )

    def on_response(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        """Apply the response's item."""
        replica = self.replica
        if replica.log is None:
            return [], FetchOutcome.PAUSED
        if self.request_epoch != replica.leader_epoch:
            return [], FetchOutcome.AGAIN  # of an older leader epoch
        try:
            return self._apply(item, now)
        except Refusal as refusal:
            self.failures += 1
            changed = Changed(f"partition {replica.partition}", "not copied", refusal.because)
            return [changed], FetchOutcome.FAILED

    def _apply(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        if item.error_code == KafkaError.OFFSET_OUT_OF_RANGE and item.log_start_offset >= 0:
            return self._out_of_range(item, now)
        if item.error_code:
            self.failures += 1
            return [], FetchOutcome.FAILED
        self.failures = 0
        if item.diverging_epoch is not None:
            return self._diverged(item.diverging_epoch.epoch, item.diverging_epoch.end_offset)
        replica = self.replica
        effects: list[Effect] = []
        outcome = FetchOutcome.NOTHING
        if item.records and self._fetcher.is_full(self):
            outcome = FetchOutcome.NOT_TAKEN
        elif item.records:
            assert isinstance(item.records, bytes | bytearray | memoryview)
            done = follower.append_fetched(
                replica, item.records, self.request_epoch, now, item.complete_from
            )
            effects += done.effects
            outcome = FetchOutcome.STORING if done.appended else FetchOutcome.AGAIN
        effects += replica.update_leader_high_watermark(item.high_watermark, now)
        trimmed = follower.follow_log_start(replica, item.log_start_offset)
        if trimmed and outcome is FetchOutcome.NOTHING:
            outcome = FetchOutcome.AGAIN  # the leader may wait for it (DeleteRecords)
        return effects + trimmed, outcome

    def _out_of_range(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        replica, end = self.replica, self.replica.require_log().log_end_offset
        effects = follower.on_out_of_range(replica, item.log_start_offset, item.high_watermark, now)
        if replica.log is None:
            return [
                self._truncated(end, "the leader does not know its epoch"),
                *effects,
            ], FetchOutcome.PAUSED
        if not effects:
            self.failures += 1
            return [], FetchOutcome.FAILED
        return effects, FetchOutcome.AGAIN

    def _diverged(
        self, leader_epoch: LeaderEpoch, end_offset: Offset
    ) -> tuple[list[Effect], FetchOutcome]:
        replica = self.replica
        log = replica.require_log()
        offset, high_watermark = (
            follower.truncation_offset(log, leader_epoch, end_offset),
            replica.high_watermark,
        )
        effects = replica.truncate(offset)
        if replica.log is not None:
            return effects, FetchOutcome.AGAIN
        why = f"its leader's epoch {leader_epoch} ends at {end_offset}"
        if offset < high_watermark:
            why += f"; {high_watermark} was committed before an unclean election"
        return [self._truncated(offset, why), *effects], FetchOutcome.PAUSED

    def _truncated(self, offset: Offset, why: str) -> Changed:
        return Changed(f"partition {self.replica.partition}", f"cut from {offset} on", why)
