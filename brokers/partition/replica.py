"""What this node holds of one partition, whoever writes it, in whichever role.

    alone      the only replica: what the disk reported written (and synced, where the topic asks for it) is committed
    leads      with others: its `leadership` knows how far they all are
    follows    the leader says how far they all are; what is committed here is at most that

Always: log start <= high watermark <= written <= log end. The high watermark falls only with the log's end, when a
follower must give up what an unclean election made void.
"""

from typing import Protocol

from brokers.effects import Changed, Effect, TruncateLog
from brokers.errors import KafkaError, Refusal
from brokers.ids import BrokerId, Instant, LeaderEpoch, Offset, TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.metadata.image.image import NO_LEADER, PartitionImage
from brokers.partition.delayed_operations import DelayedOperations, Placed
from brokers.partition.leadership import Leadership, Others

OPENING = "opening"
CUTTING = "cutting what its leader does not have"
PASSING = frozenset((OPENING, CUTTING))  # without a log for a moment, as is meant
ALL_REPLICAS = -1  # acks=all


class ReplicaSource(Protocol):
    """The fetch of a follower; notified when the replica can append more."""

    def written(self, now: Instant) -> list[Effect]: ...

    def opened(self, now: Instant) -> list[Effect]: ...

    def failed(self, now: Instant) -> list[Effect]: ...


class Replica:
    """One partition on this node. `log` is None while it is opening or offline (`offline` says why)."""

    __slots__ = (
        "_held_back",
        "_others",
        "_unsettled_bytes",
        "config",
        "follows",
        "high_watermark",
        "leader",
        "leader_epoch",
        "leader_high_watermark",
        "leader_is_gone",
        "leadership",
        "log",
        "offline",
        "partition",
        "source",
        "topic_id",
        "waiting",
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
        others: Others | None = None,
    ) -> None:
        self.partition = partition
        self.topic_id = topic_id
        self.leader_epoch = leader_epoch
        self.writer = writer
        self.config = config
        self.log: Log | None = None
        self.offline = OPENING
        self.high_watermark: Offset = 0
        self.waiting = DelayedOperations()
        self.follows = False
        self.leader: BrokerId = NO_LEADER if others is None else others.node_id
        self.leader_high_watermark: Offset = 0
        self.leadership: Leadership | None = None
        self.source: ReplicaSource | None = None
        self.leader_is_gone = False  # nobody listens where it was; the image does not know yet
        self._others = others
        self._held_back: Log | None = None
        self._unsettled_bytes = 0

    @property
    def last_stable_offset(self) -> Offset:
        """No transaction is ever open here: transactional batches are refused."""
        return self.high_watermark

    @property
    def is_settled(self) -> bool:
        """Whether everything that earlier leaders committed is known to be committed (KIP-207)."""
        leadership = self.leadership
        return leadership is None or self.high_watermark >= leadership.progress.epoch_start

    @property
    def is_stranded(self) -> bool:
        """Whether this node leads, for all it knows, and another may, for all it can know."""
        return self.leadership is not None and self.leadership.is_stranded

    @property
    def knows_no_leader(self) -> bool:
        """Whether clients are to ask again rather than to believe the image."""
        return self.leader_is_gone or self.is_stranded

    # --- roles ---

    def led(self, leader_epoch: LeaderEpoch, writer: str | None) -> list[Effect]:
        """A leadership begins, or has another writer. A leader epoch under which we write begins at the log's end, data
        or not.
        """
        began = writer is None and (leader_epoch != self.leader_epoch or self.writer is not None)
        self.leader_epoch, self.writer = leader_epoch, writer
        return list(self.log.begin_epoch(leader_epoch)) if began and self.log is not None else []

    def lead(self, placed: PartitionImage, writer: str | None, now: Instant) -> list[Effect]:
        """This node is the leader, as `placed` says."""
        is_new = self.follows or placed.leader_epoch != self.leader_epoch
        effects = self._take_back() if is_new else []
        effects += self.led(placed.leader_epoch, writer)
        self.follows, self.source, self.leader = False, None, placed.leader
        self.leader_is_gone = False
        if len(placed.replicas) < 2:
            self.leadership = None
        elif self.leadership is None or is_new:
            assert self._others is not None
            self.leadership = Leadership(self, self._others, placed, now)
        else:
            self.leadership.update(placed, now)
        self.waiting.moved()
        return effects + self.advance(now)

    def follow(self, placed: PartitionImage, writer: str | None, now: Instant) -> list[Effect]:
        """Another node leads, or nobody does."""
        effects = self._take_back()
        led, self.follows, self.leadership = not self.follows, True, None
        if placed.leader_epoch != self.leader_epoch:
            self.leader_high_watermark = 0  # the new leader's may be behind for a while
            self.leader_is_gone = False
        self.leader, self.leader_epoch, self.writer = placed.leader, placed.leader_epoch, writer
        if led:
            effects += self.waiting.fail(KafkaError.NOT_LEADER_OR_FOLLOWER, now)
        return effects

    def _take_back(self) -> list[Effect]:
        """A log that could not be led on is good enough for another leadership."""
        if self._held_back is None:
            return []
        self.log, self._held_back, self.offline = self._held_back, None, ""
        return [Changed(f"partition {self.partition}", "online", "its leadership changed")]

    # --- the log comes and goes ---

    def opened(self, log: Log, now: Instant) -> list[Effect]:
        """The log is there: everything in it was written, so where it is the only one all of it is committed."""
        if self.leadership is not None and log.log_end_offset < self.leadership.given_out:
            return self._hold_back(log, self.leadership.given_out)
        self.log, self.offline, self._unsettled_bytes = log, "", 0
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
        return effects + self.waiting.advance(self.high_watermark, 0, now)

    def _hold_back(self, log: Log, end: Offset) -> list[Effect]:
        """The disk lost what followers were sent: other records at those offsets, under the same leader epoch, could
        never be told from them. The next leadership goes by what is left.
        """
        self._held_back = log
        self.offline = f"ends at {log.log_end_offset}, after {end} was given out: another must lead"
        return [Changed(f"partition {self.partition}", "offline", self.offline)]

    def failed(self, reason: str, now: Instant) -> list[Effect]:
        """The disk refused: nothing is served until the log has been opened again."""
        self.log, self.offline = None, reason
        changed = Changed(f"partition {self.partition}", "offline", reason)
        effects = [changed, *self.waiting.fail(KafkaError.KAFKA_STORAGE_ERROR, now)]
        return effects if self.source is None else effects + self.source.failed(now)

    def stop(self) -> list[Effect]:
        """What a clean shutdown writes of the log, also of one that cannot be led on."""
        log = self._held_back if self.log is None else self.log
        return [] if log is None else [*log.on_stop()]

    def truncate(self, offset: Offset) -> list[Effect]:
        """A follower gives up what lies at `offset` and above; with `TruncateLog` it is offline until `LogOpened`."""
        effects = self.require_log().truncate(offset)
        if any(isinstance(effect, TruncateLog) for effect in effects):
            self.log, self.offline = None, CUTTING
        return [*effects]

    # --- what may be asked of it ---

    def require_log(self) -> Log:
        """The open log, or the refusal that Kafka's clients retry: what lacks one for a moment does not lead yet."""
        if self.log is None:
            passes = self.offline in PASSING
            error = KafkaError.NOT_LEADER_OR_FOLLOWER if passes else KafkaError.KAFKA_STORAGE_ERROR
            raise Refusal(error, f"{self.partition} is offline: {self.offline}")
        return self.log

    def require_leader(self) -> None:
        """Refuses where another node leads."""
        if self.follows:
            if self.log is None and self.offline not in PASSING:
                self.require_log()
            because = f"{self.partition} is led by broker {self.leader}"
            raise Refusal(KafkaError.NOT_LEADER_OR_FOLLOWER, because)

    def require_leader_epoch(self, leader_epoch: LeaderEpoch) -> None:
        """A client's idea of the leader epoch against ours (KIP-320); -1 asks for no check."""
        if leader_epoch == -1 or leader_epoch == self.leader_epoch:
            return
        if leader_epoch < self.leader_epoch:
            raise Refusal(KafkaError.FENCED_LEADER_EPOCH)
        raise Refusal(KafkaError.UNKNOWN_LEADER_EPOCH)

    @property
    def has_enough_in_sync(self) -> bool:
        """Whether what is committed now is on as many replicas as min.insync.replicas wants."""
        return self.leadership is None or self.leadership.has_enough_in_sync

    def is_acknowledged(self, next_offset: Offset, acks: int) -> bool:
        """Whether everything below `next_offset` is as safe as `acks` wants it."""
        if acks != ALL_REPLICAS and self.leadership is not None and self.log is not None:
            return next_offset <= self.log.written_offset
        return next_offset <= self.high_watermark

    def acknowledge(self, next_offset: Offset, acks: int, then: Placed) -> None:
        """`then` runs once it is."""
        if acks != ALL_REPLICAS and self.leadership is not None:
            self.waiting.for_written(next_offset, then)
        else:
            self.waiting.for_offset(next_offset, then)

    # --- it moves ---

    def appended(self, size: int) -> None:
        """Bytes handed to the log and not yet reported written."""
        self._unsettled_bytes += size
        if self.leadership is not None:
            self.leadership.appended()

    def written(self, next_offset: Offset, now: Instant) -> list[Effect]:
        log = self.log
        if log is None:
            return []  # it failed after this write; recovery will say what remained
        log.on_written(next_offset)
        if self.leadership is not None:
            return self.waiting.written(next_offset, now) + self.advance(now)
        if not self.follows:
            return self._commit(next_offset, now)
        effects = self._commit(min(self.leader_high_watermark, next_offset), now)
        return effects if self.source is None else effects + self.source.written(now)

    def sealed(self, base_offset: Offset, size: int) -> None:
        """All of a sealed segment is on the disk."""
        if self.log is not None:
            self.log.on_sealed(base_offset, size)

    def follow_leader(self, high_watermark: Offset, now: Instant) -> list[Effect]:
        """The leader's high watermark, as of its last answer."""
        self.leader_high_watermark = high_watermark
        return self._commit(min(high_watermark, self.require_log().written_offset), now)

    def advance(self, now: Instant) -> list[Effect]:
        """A leader's high watermark moves as far as it may."""
        if self.log is None:
            return []
        leadership = self.leadership
        reached = self.log.written_offset if leadership is None else leadership.reached(now)
        return [] if reached is None else self._commit(reached, now)

    def _commit(self, offset: Offset, now: Instant) -> list[Effect]:
        """The high watermark moves to `offset`, if that is forward."""
        if offset <= self.high_watermark:
            return []
        self.high_watermark = offset
        size = self._unsettled_bytes
        if self.log is not None and offset == self.log.log_end_offset:
            self._unsettled_bytes = 0
        if self.leadership is not None:
            self.waiting.moved()
        effects = self.waiting.advance(offset, size, now)
        return effects if self._others is None else effects + self._others.advanced(self)

    def trim(self, log_start_offset: Offset) -> list[Effect]:
        """Let the log begin at `log_start_offset`; followers do the same when they hear of it."""
        effects: list[Effect] = [*self.require_log().trim(log_start_offset)]
        if effects and self.leadership is not None:
            self.waiting.moved()
        return effects

    def low_watermark(self) -> Offset:
        """Below, no live replica holds anything."""
        if self.leadership is not None:
            return self.leadership.low_watermark
        return self.require_log().log_start_offset

    def moved(self, now: Instant) -> list[Effect]:
        """The log was restarted at another offset: what it holds is what there is."""
        log = self.require_log()
        self.high_watermark = log.log_end_offset
        if self.leadership is not None:
            self.leadership.end = log.log_end_offset
            self.waiting.moved()
        return self.waiting.advance(self.high_watermark, 0, now)
