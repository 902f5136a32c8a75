"""The topic configs of a log. Names and defaults are Kafka's."""

from dataclasses import dataclass

INT64_MAX = 2**63 - 1
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The settings of one log; comments have Kafka's key where the name differs."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    retention_ms: int = 7 * DAY_MS  # -1: for ever
    retention_bytes: int = -1  # -1: without limit
    delete_expired: bool = True  # cleanup.policy=delete; False keeps everything
    compact: bool = False  # cleanup.policy=compact
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = INT64_MAX
    delete_retention_ms: int = DAY_MS
    segment_jitter_ms: int = (
        0  # what is taken off segment_ms at most, another time for each segment
    )
    index_interval_bytes: int = 4_096  # of log between two entries of a segment's indexes
    segment_index_bytes: int = 10 << 20  # segment.index.bytes
    file_delete_delay_ms: int = 60_000  # of the files of deleted segments
    preallocate: bool = False
    flush_messages: int = INT64_MAX  # 1: every append is acknowledged after its sync
    flush_ms: int = INT64_MAX
    codec: int | None = None  # compression.type; None: producer, batches are kept as they came
    compression_level: int = 0  # of the codec, where it has levels
    max_message_bytes: int = 1_048_588
    min_insync_replicas: int = 1
    append_time: bool = False  # message.timestamp.type=LogAppendTime
    timestamp_before_max_ms: int = INT64_MAX  # message.timestamp.before.max.ms
    timestamp_after_max_ms: int = 3_600_000  # message.timestamp.after.max.ms (KIP-1030)

    @property
    def preallocate_bytes(self) -> int:
        """Of disk that a new segment takes at once; 0: as it grows."""
        return self.segment_bytes if self.preallocate else 0

    @property
    def roll_ms(self) -> int:
        """`segment.ms`, or less where compaction must see a record earlier than that (KIP-354)."""
        return min(self.segment_ms, self.max_compaction_lag_ms) if self.compact else self.segment_ms

    @property
    def sync(self) -> bool:
        """Whether every append is synced before it is acknowledged: `flush.messages=1`."""
        return self.flush_messages == 1

    @property
    def counts_unflushed(self) -> bool:
        """Whether `flush.messages` or `flush.ms` limits what may be lost with the operating system."""
        return self.flush_messages < INT64_MAX or self.flush_ms < INT64_MAX
