"""One replica of a partition on this node.

    alone      the only replica: what is written (and synced, if the topic requires it) is committed
    leads      other replicas: its `leadership` computes the high watermark
    follows    a leader: its high watermark is at most the leader's

Always: log start <= high watermark <= written <= log end. The high watermark decreases only when a log is truncated
below it: a follower's after an unclean election, or a mirror's whose source has other records.
"""

from collections.abc import Sequence
from typing import Protocol

from brokers.effects import Changed, Effect, TruncateLog
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset, TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.metadata.image.image import NO_LEADER, PartitionImage
from brokers.partition.delayed_operations import DelayedOperations, OnComplete
from brokers.partition.leadership import LeaderHost, Leadership

OPENING = "opening"
CUTTING = "cutting what its leader does not have"
TRANSIENT = frozenset((OPENING, CUTTING))  # offline for a moment
ALL_REPLICAS = -1  # acks=all


class ReplicaSource(Protocol):
    """The fetch of a follower; notified of its log."""

    def written(self, now: Instant) -> list[Effect]: ...

    def opened(self, now: Instant) -> list[Effect]: ...

    def failed(self, now: Instant) -> list[Effect]: ...

    def trimmed(self) -> None:
        """By this node's own retention."""


class Replica:
    """One partition on this node. `log` is None while it is opening or offline (`offline` says why)."""

    __slots__ = (
        "_withheld_log",
        "_host",
        "_uncommitted_bytes",
        "config",
        "follows",
        "high_watermark",
        "leader",
        "leader_epoch",
        "leader_high_watermark",
        "leader_is_gone",
        "leadership",
        "log",
        "may_be_cut",
        "offline",
        "partition",
        "source",
        "topic_id",
        "delayed",
        "writer",
    )

    def __init__(
        self,
        partition: TopicPartition,
        *,
        topic_id: bytes,
        leader_epoch: LeaderEpoch,
        writer: str | None,
        config: LogConfig,
        host: LeaderHost | None = None,
    ) -> None:
        self.partition = partition
        self.topic_id = topic_id
        self.leader_epoch = leader_epoch
        self.writer = writer
        self.config = config
        self.log: Log | None = None
        self.offline = OPENING
        self.high_watermark: Offset = 0
        self.delayed = DelayedOperations()
        self.follows = False
        self.leader: BrokerId = NO_LEADER if host is None else host.node_id
        self.leader_high_watermark: Offset = 0
        # A link writes the partition, and the leader has not found yet that this log is like its own.
        self.may_be_cut = writer is not None
        self.leadership: Leadership | None = None
        self.source: ReplicaSource | None = None
        self.leader_is_gone = False  # its process ended; not in the image yet
        self._host = host
        self._withheld_log: Log | None = None
        self._uncommitted_bytes = 0

    @property
    def last_stable_offset(self) -> Offset:
        """Equal to the high watermark: transactional batches are refused."""
        return self.high_watermark

    @property
    def is_settled(self) -> bool:
        """Whether everything that earlier leaders committed is known to be committed (KIP-207)."""
        leadership = self.leadership
        return leadership is None or self.high_watermark >= leadership.isr_state.epoch_start

    @property
    def is_isolated(self) -> bool:
        """Whether this node leads, and another broker may lead by now."""
        return self.leadership is not None and self.leadership.is_isolated

    @property
    def knows_no_leader(self) -> bool:
        """Whether responses name no leader, although the image does."""
        return self.leader_is_gone or self.is_isolated

    # --- leader or follower ---

    def begin_leader_epoch(self, leader_epoch: LeaderEpoch, writer: str | None) -> list[Effect]:
        """Set leader epoch and writer. Unless a link writes the partition, a new leader epoch starts at the log end."""
        began = writer is None and (leader_epoch != self.leader_epoch or self.writer is not None)
        self.leader_epoch, self.writer = leader_epoch, writer
        return list(self.log.begin_epoch(leader_epoch)) if began and self.log is not None else []

    def make_leader(self, image: PartitionImage, writer: str | None, now: Instant) -> list[Effect]:
        """This node leads the partition."""
        is_new = self.follows or image.leader_epoch != self.leader_epoch
        effects = self._restore_log() if is_new else []
        effects += self.begin_leader_epoch(image.leader_epoch, writer)
        self.follows, self.source, self.leader = False, None, image.leader
        self.leader_is_gone = False
        if len(image.replicas) < 2:
            self.leadership = None
        elif self.leadership is None or is_new:
            assert self._host is not None
            self.leadership = Leadership(self, self._host, image, now)
        else:
            self.leadership.update(image, now)
        self.delayed.moved()
        return effects + self.advance(now)

    def make_follower(
        self, image: PartitionImage, writer: str | None, now: Instant
    ) -> list[Effect]:
        """Another broker leads, or none does."""
        effects = self._restore_log()
        led, self.follows, self.leadership = not self.follows, True, None
        if image.leader_epoch != self.leader_epoch:
            self.leader_high_watermark = 0  # the new leader's may be behind for a while
            self.may_be_cut |= writer is not None
            self.leader_is_gone = False
        self.leader, self.leader_epoch, self.writer = image.leader, image.leader_epoch, writer
        if led:
            effects += self.delayed.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, now)
        return effects

    def _restore_log(self) -> list[Effect]:
        """A withheld log is usable again in another leader epoch."""
        if self._withheld_log is None:
            return []
        self.log, self._withheld_log, self.offline = self._withheld_log, None, ""
        self.high_watermark = min(self.high_watermark, self.log.log_end_offset)
        return [Changed(f"partition {self.partition}", "online", "its leadership changed")]

    # --- the log ---

    def opened(self, log: Log, now: Instant) -> list[Effect]:
        """The log is open. All of it is written, and committed if this is the only replica."""
        if self.leadership is not None and log.log_end_offset < self.leadership.sent_offset:
            return self._withhold(log, self.leadership.sent_offset)
        self.log, self.offline, self._uncommitted_bytes = log, "", 0
        log.completeness.markers_removed_at = now
        known = max(self.high_watermark, log.high_watermark_checkpoint, log.log_start_offset)
        self.high_watermark = min(known, log.log_end_offset)
        if self.follows:
            return [] if self.source is None else self.source.opened(now)
        effects: list[Effect] = []
        if self.writer is None:
            effects += log.begin_epoch(self.leader_epoch)
        if self.leadership is not None:
            self.leadership.opened(log.log_end_offset)
            return effects + self.advance(now)
        self.high_watermark = log.log_end_offset
        return effects + self.delayed.advance(self.high_watermark, 0, now)

    def _withhold(self, log: Log, end: Offset) -> list[Effect]:
        """The disk lost records that followers may hold: this replica must not append others at their offsets in the
        same leader epoch. The next leader epoch starts with what is left."""
        self._withheld_log = log
        self.offline = f"ends at {log.log_end_offset}, after {end} was given out: another must lead"
        return [Changed(f"partition {self.partition}", "offline", self.offline)]

    def failed(self, reason: str, now: Instant) -> list[Effect]:
        """The log failed: the replica is offline until it is opened again."""
        self.log, self.offline = None, reason
        changed = Changed(f"partition {self.partition}", "offline", reason)
        effects = [changed, *self.delayed.fail(KafkaError.KAFKA_STORAGE_ERROR, now)]
        return effects if self.source is None else effects + self.source.failed(now)

    def stop(self) -> list[Effect]:
        """What a clean shutdown writes, also of a withheld log."""
        log = self._withheld_log if self.log is None else self.log
        return [] if log is None else [*log.on_stop()]

    def truncate(self, offset: Offset) -> list[Effect]:
        """Remove the records from `offset` on; with `TruncateLog` the replica is offline until `LogOpened`."""
        effects = self.require_log().truncate(offset)
        if any(isinstance(effect, TruncateLog) for effect in effects):
            self.log, self.offline = None, CUTTING
        return [*effects]

    # --- checks ---

    def require_log(self) -> Log:
        """The open log. Raises `Refusal` while offline; clients retry the error of a moment."""
        if self.log is None:
            brief = self.offline in TRANSIENT
            error = KafkaError.NOT_LEADER_OR_FOLLOWER if brief else KafkaError.KAFKA_STORAGE_ERROR
            raise Refusal(error, f"{self.partition} is offline: {self.offline}")
        return self.log

    def require_leader(self) -> None:
        """Raises `Refusal` if another broker leads."""
        if self.follows:
            if self.log is None and self.offline not in TRANSIENT:
                self.require_log()
            because = f"{self.partition} is led by broker {self.leader}"
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)

    def require_uncut(self) -> None:
        """Raises `Refusal` of a follower that may have to cut its log below its high watermark, after a restore."""
        if self.follows and self.may_be_cut:
            because = (
                f"the leader of {self.partition} was not heard of in epoch {self.leader_epoch}"
            )
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)

    def require_leader_epoch(self, leader_epoch: LeaderEpoch) -> None:
        """Raises `Refusal` if the client's leader epoch is another (KIP-320); -1 is not checked."""
        if leader_epoch == -1 or leader_epoch == self.leader_epoch:
            return
        if leader_epoch < self.leader_epoch:
            raise Refusal(KafkaError.FENCED_LEADER_EPOCH)
        raise Refusal(KafkaError.UNKNOWN_LEADER_EPOCH)

    @property
    def has_enough_in_sync(self) -> bool:
        """Whether at least min.insync.replicas replicas are in sync."""
        return self.leadership is None or self.leadership.has_enough_in_sync

    def is_acknowledged(self, next_offset: Offset, acks: int) -> bool:
        """Whether everything below `next_offset` is acknowledged for `acks`."""
        if acks != ALL_REPLICAS and self.leadership is not None and self.log is not None:
            return next_offset <= self.log.written_offset
        return next_offset <= self.high_watermark

    def acknowledge(self, next_offset: Offset, acks: int, then: OnComplete) -> None:
        """`then` runs once `is_acknowledged`."""
        if acks != ALL_REPLICAS and self.leadership is not None:
            self.delayed.for_written(next_offset, then)
        else:
            self.delayed.for_offset(next_offset, then)

    # --- offsets ---

    def appended(self, size: int) -> None:
        """`size` bytes were appended; they are not written yet."""
        self._uncommitted_bytes += size
        if self.leadership is not None:
            self.leadership.appended()

    def written(self, next_offset: Offset, now: Instant) -> list[Effect]:
        log = self.log
        if log is None:
            return []  # the log failed after this write
        log.on_written(next_offset)
        if self.leadership is not None:
            return self.delayed.written(next_offset, now) + self.advance(now)
        if not self.follows:
            return self._commit(next_offset, now)
        effects = self._commit(min(self.leader_high_watermark, next_offset), now)
        return effects if self.source is None else effects + self.source.written(now)

    def sealed(self, base_offset: Offset, size: int) -> None:
        """All of a sealed segment is synced."""
        if self.log is not None:
            self.log.on_sealed(base_offset, size)

    def update_leader_high_watermark(self, high_watermark: Offset, now: Instant) -> list[Effect]:
        """The high watermark of the leader's last response."""
        self.leader_high_watermark, self.may_be_cut = high_watermark, False
        return self._commit(min(high_watermark, self.require_log().written_offset), now)

    def advance(self, now: Instant) -> list[Effect]:
        """Advance a leader's high watermark."""
        if self.log is None:
            return []
        leadership = self.leadership
        reached = self.log.written_offset if leadership is None else leadership.committed(now)
        return [] if reached is None else self._commit(reached, now)

    def _commit(self, offset: Offset, now: Instant) -> list[Effect]:
        """Advance the high watermark to `offset`, if it is lower."""
        if offset <= self.high_watermark:
            return []
        self.high_watermark = offset
        size = self._uncommitted_bytes
        if self.log is not None and offset == self.log.log_end_offset:
            self._uncommitted_bytes = 0
        if self.leadership is not None:
            self.delayed.moved()
        effects = self.delayed.advance(offset, size, now)
        return effects if self._host is None else effects + self._host.advanced(self)

    def trim(self, log_start_offset: Offset) -> list[Effect]:
        """Advance the log start offset: followers apply it from the next response, a leader hears of a follower's."""
        effects = self.require_log().trim(log_start_offset)
        if effects and self.source is not None:
            self.source.trimmed()
        return self._trimmed(effects)

    def delete_records(self, offset: Offset) -> list[Effect]:
        """The same, as a client asked."""
        return self._trimmed(self.require_log().delete_records(offset))

    def _trimmed(self, effects: Sequence[Effect]) -> list[Effect]:
        if effects and self.leadership is not None:
            self.delayed.moved()
        return [*effects]

    def low_watermark(self) -> Offset:
        """The lowest log start offset of all live replicas (KIP-107)."""
        if self.leadership is not None:
            return self.leadership.low_watermark
        return self.require_log().log_start_offset

    @property
    def in_sync_log_start(self) -> Offset:
        """The lowest log start offset of the replicas in sync, one of which leads next; 0 while one has told none."""
        own = self.require_log().log_start_offset
        return own if self.leadership is None else min(own, self.leadership.in_sync_log_start)

    def restarted(self, now: Instant) -> list[Effect]:
        """The log was restarted at another offset; all of it is committed."""
        log = self.require_log()
        self.high_watermark = log.log_end_offset
        if self.leadership is not None:
            self.leadership.end = log.log_end_offset
            self.delayed.moved()
        return self.delayed.advance(self.high_watermark, 0, now)
