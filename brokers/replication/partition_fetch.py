"""One partition that is fetched from its leader: the request's entry, and what to do with the response's."""

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
    """What became of one partition of an answer."""

    NOTHING = "nothing"  # only bounds moved, if anything: there is nothing to say
    AGAIN = "again"  # ask again, for something else
    STORING = "storing"  # once the disk has it
    PAUSED = "paused"  # once its log is open again
    FAILED = "failed"  # after a while


class PartitionFetcher(Protocol):
    """What a fetched partition needs of its `ReplicaFetcher`."""

    def stored(self, following: "PartitionFetch", now: Instant) -> list[Effect]: ...

    def able(self, following: "PartitionFetch", now: Instant) -> list[Effect]: ...

    def unable(self, following: "PartitionFetch", now: Instant) -> list[Effect]: ...


class PartitionFetch:
    """A `Source` of its replica. `asked_epoch` is the leader epoch under which the last request went out."""

    __slots__ = ("_asker", "asked_epoch", "failures", "key", "replica")

    def __init__(self, replica: Replica, asker: PartitionFetcher) -> None:
        self.replica = replica
        self.key: Key = (UUID(bytes=replica.topic_id), replica.partition.partition)
        self.asked_epoch: LeaderEpoch = -1
        self.failures = 0
        self._asker = asker

    @property
    def is_able(self) -> bool:
        """Whether it can be asked for: what a leadership of its own left unwritten is part of its history."""
        log = self.replica.log
        return log is not None and log.written_offset == log.log_end_offset

    # --- from the replica ---

    def written(self, now: Instant) -> list[Effect]:
        return self._asker.stored(self, now) if self.is_able else []

    def opened(self, now: Instant) -> list[Effect]:
        return self._asker.able(self, now)

    def failed(self, now: Instant) -> list[Effect]:
        return self._asker.unable(self, now)

    # --- to and from the leader ---

    def item(self, settings: ReplicationSettings) -> FetchPartition:
        """What is asked for: all of it is on this node's disk, as far as the topic wants it to be."""
        replica = self.replica
        log = replica.require_log()
        self.asked_epoch = replica.leader_epoch
        return FetchPartition(
            partition=replica.partition.partition,
            current_leader_epoch=replica.leader_epoch,
            fetch_offset=log.written_offset,
            last_fetched_epoch=log.epochs.latest,
            log_start_offset=log.log_start_offset,
            partition_max_bytes=settings.partition_bytes_max,
            high_watermark=replica.leader_high_watermark,
        )

    def answered(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        """One partition of an answer."""
        replica = self.replica
        if replica.log is None:
            return [], FetchOutcome.PAUSED
        if self.asked_epoch != replica.leader_epoch:
            return [], FetchOutcome.AGAIN  # said under a leadership that is over
        try:
            return self._take(item, now)
        except Refusal as refusal:
            self.failures += 1
            changed = Changed(f"partition {replica.partition}", "not copied", refusal.because)
            return [changed], FetchOutcome.FAILED

    def _take(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        if item.error_code == KafkaError.OFFSET_OUT_OF_RANGE and item.log_start_offset >= 0:
            return self._left_behind(item, now)
        if item.error_code:
            self.failures += 1
            return [], FetchOutcome.FAILED
        self.failures = 0
        if item.diverging_epoch is not None:
            return self._diverged(item.diverging_epoch.epoch, item.diverging_epoch.end_offset)
        replica = self.replica
        effects: list[Effect] = []
        outcome = FetchOutcome.NOTHING
        if item.records:
            assert isinstance(
                item.records, bytes | bytearray | memoryview
            )  # as a decoder makes them
            taken = follower.take(replica, item.records, self.asked_epoch, now)
            effects += taken.effects
            outcome = FetchOutcome.STORING if taken.appended else FetchOutcome.AGAIN
        effects += replica.follow_leader(item.high_watermark, now)
        trimmed = follower.follow_log_start(replica, item.log_start_offset)
        if trimmed and outcome is FetchOutcome.NOTHING:
            outcome = FetchOutcome.AGAIN  # the leader may wait for every replica to have deleted it
        return effects + trimmed, outcome

    def _left_behind(self, item: PartitionData, now: Instant) -> tuple[list[Effect], FetchOutcome]:
        replica, end = self.replica, self.replica.require_log().log_end_offset
        effects = follower.left_behind(replica, item.log_start_offset, item.high_watermark, now)
        if replica.log is None:
            return [
                self._cut_from(end, "the leader does not know its epoch"),
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
            follower.cut_for(log, leader_epoch, end_offset),
            replica.high_watermark,
        )
        effects = replica.truncate(offset)
        if replica.log is not None:
            return effects, FetchOutcome.AGAIN
        why = f"its leader's epoch {leader_epoch} ends at {end_offset}"
        if offset < high_watermark:
            why += f"; {high_watermark} was committed before an unclean election"
        return [self._cut_from(offset, why), *effects], FetchOutcome.PAUSED

    def _cut_from(self, offset: Offset, why: str) -> Changed:
        return Changed(f"partition {self.replica.partition}", f"cut from {offset} on", why)
