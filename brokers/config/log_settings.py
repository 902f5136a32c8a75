"""The defaults of topics that a node's file sets, beside those in `BrokerConfig`."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from brokers.config.listener_settings import ListenerSettings

INT64_MAX = 2**63 - 1

Millis = Annotated[int, Field(ge=0, le=INT64_MAX)]


Delay = Annotated[int, Field(ge=1, le=INT64_MAX)]


class LogSettings(ListenerSettings):
    """Those of `BrokerConfig` that are defaults of topics only."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    log_index_size_max_bytes: Annotated[
        int, Field(ge=4, le=2**31 - 1, alias="log.index.size.max.bytes")
    ] = 10 << 20
    # None: never, unless log.roll.jitter.hours says otherwise.
    log_roll_jitter_ms: Annotated[Millis | None, Field(alias="log.roll.jitter.ms")] = None
    log_segment_delete_delay_ms: Annotated[Millis, Field(alias="log.segment.delete.delay.ms")] = (
        60_000
    )
    log_preallocate: Annotated[bool, Field(alias="log.preallocate")] = False
    # 1: every append is acknowledged after its fsync; the maximum, Kafka's default: the page cache is trusted.
    log_flush_interval_messages: Annotated[Delay, Field(alias="log.flush.interval.messages")] = (
        INT64_MAX
    )
    log_flush_interval_ms: Annotated[Millis | None, Field(alias="log.flush.interval.ms")] = None
    compression_type: Annotated[
        Literal["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"],
        Field(alias="compression.type"),
    ] = "producer"
    compression_gzip_level: Annotated[
        Literal[-1, 1, 2, 3, 4, 5, 6, 7, 8, 9], Field(alias="compression.gzip.level")
    ] = -1
    compression_lz4_level: Annotated[int, Field(ge=1, le=17, alias="compression.lz4.level")] = 9
    compression_zstd_level: Annotated[
        int, Field(ge=-131_072, le=22, alias="compression.zstd.level")
    ] = 3
    log_message_timestamp_before_max_ms: Annotated[
        Millis, Field(alias="log.message.timestamp.before.max.ms")
    ] = INT64_MAX
    log_message_timestamp_after_max_ms: Annotated[
        Millis, Field(alias="log.message.timestamp.after.max.ms")
    ] = 3_600_000
