"""What a topic's configuration says to its logs. Names and defaults are Kafka's."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

TimestampType: TypeAlias = Literal["CreateTime", "LogAppendTime"]

INT64_MAX = 2**63 - 1
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The settings of one log; -1 means without limit where Kafka says so."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    retention_ms: int = 7 * DAY_MS  # -1: for ever
    retention_bytes: int = -1  # -1: without limit
    index_interval_bytes: int = 4096
    flush_messages: int = INT64_MAX
    max_message_bytes: int = 1_048_588
    message_timestamp_type: TimestampType = "CreateTime"
    message_timestamp_before_max_ms: int = INT64_MAX
    message_timestamp_after_max_ms: int = 3_600_000  # Kafka 4.0 (KIP-1030)
    delete_enabled: bool = True  # cleanup.policy contains `delete`
    min_insync_replicas: int = 1

    @property
    def syncs_every_append(self) -> bool:
        """`flush.messages=1`: an append is acknowledged after fsync."""
        return self.flush_messages == 1
