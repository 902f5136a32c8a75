"""What this node holds of one partition, whoever writes it.

Always: log start <= high watermark <= written <= log end. With one replica the high watermark is what the disk
reported written (and synced, where the topic asks for it).
"""

from brokers.effects import Changed, Effect
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, LeaderEpoch, Offset, TopicPartition
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.partition.waiting import Waiting


class Replica:
    """One partition on this node. `log` is None while it is opening or offline (`offline` says why)."""

    __slots__ = (
        "_unsettled_bytes",
        "config",
        "high_watermark",
        "leader_epoch",
        "log",
        "offline",
        "partition",
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
    ) -> None:
        self.partition = partition
        self.topic_id = topic_id
        self.leader_epoch = leader_epoch
        self.writer = writer
        self.config = config
        self.log: Log | None = None
        self.offline = "opening"
        self.high_watermark: Offset = 0
        self.waiting = Waiting()
        self._unsettled_bytes = 0

    @property
    def last_stable_offset(self) -> Offset:
        """No transaction is ever open here: transactional batches are refused."""
        return self.high_watermark

    def opened(self, log: Log, now: Instant) -> list[Effect]:
        """The log is there: everything in it was written, so with one replica all of it is committed."""
        self.log = log
        self.offline = ""
        self.high_watermark = log.log_end_offset
        self._unsettled_bytes = 0
        effects: list[Effect] = []
        if self.writer is None:
            effects += log.begin_epoch(self.leader_epoch)
        return effects + self.waiting.advance(self.high_watermark, 0, now)

    def led(self, leader_epoch: LeaderEpoch, writer: str | None) -> list[Effect]:
        """The metadata changed. A leader epoch under which we write begins at the log's end, data or not."""
        began = writer is None and (leader_epoch != self.leader_epoch or self.writer is not None)
        self.leader_epoch, self.writer = leader_epoch, writer
        return list(self.log.begin_epoch(leader_epoch)) if began and self.log is not None else []

    def require_log(self) -> Log:
        """The open log, or the refusal that Kafka's clients retry."""
        if self.log is None:
            raise Refusal(
                KafkaError.KAFKA_STORAGE_ERROR, f"{self.partition} is offline: {self.offline}"
            )
        return self.log

    def require_leader_epoch(self, leader_epoch: LeaderEpoch) -> None:
        """A client's idea of the leader epoch against ours (KIP-320); -1 asks for no check."""
        if leader_epoch == -1 or leader_epoch == self.leader_epoch:
            return
        if leader_epoch < self.leader_epoch:
            raise Refusal(KafkaError.FENCED_LEADER_EPOCH)
        raise Refusal(KafkaError.UNKNOWN_LEADER_EPOCH)

    def appended(self, size: int) -> None:
        """Bytes handed to the log and not yet reported written."""
        self._unsettled_bytes += size

    def written(self, next_offset: Offset, now: Instant) -> list[Effect]:
        log = self.log
        if log is None:
            return []  # it failed after this write; recovery will say what remained
        log.on_written(next_offset)
        if next_offset <= self.high_watermark:
            return []
        self.high_watermark = next_offset
        size, self._unsettled_bytes = self._unsettled_bytes, 0
        return self.waiting.advance(next_offset, size, now)

    def moved(self, now: Instant) -> list[Effect]:
        """The log was restarted at another offset: what it holds is what there is."""
        self.high_watermark = self.require_log().log_end_offset
        return self.waiting.advance(self.high_watermark, 0, now)

    def failed(self, reason: str, now: Instant) -> list[Effect]:
        """The disk refused: nothing is served until the log has been opened again."""
        self.log = None
        self.offline = reason
        changed = Changed(f"partition {self.partition}", "offline", reason)
        return [changed, *self.waiting.fail(KafkaError.KAFKA_STORAGE_ERROR, now)]
