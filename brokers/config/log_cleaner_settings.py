"""The settings of compaction. Memory and rate are those of all threads together."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from brokers.config import endpoints

MIB = 1 << 20
DAY_MS = 86_400_000
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
Millis = Annotated[int, Field(ge=1, le=INT64_MAX)]


class LogCleanerSettings(BaseModel):
    """Those of `BrokerConfig` that concern compaction, and the policy of topics that have none of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    log_cleaner_enable: Annotated[bool, Field(alias="log.cleaner.enable")] = True
    log_cleanup_policy: Annotated[str, Field(alias="log.cleanup.policy")] = "delete"
    log_cleaner_threads: Annotated[int, Field(ge=1, le=64, alias="log.cleaner.threads")] = 1
    log_cleaner_backoff_ms: Annotated[
        int, Field(ge=0, le=INT64_MAX, alias="log.cleaner.backoff.ms")
    ] = 15_000
    log_cleaner_dedupe_buffer_size: Annotated[
        int, Field(ge=1 * MIB, le=INT64_MAX, alias="log.cleaner.dedupe.buffer.size")
    ] = 128 * MIB
    log_cleaner_io_buffer_load_factor: Annotated[
        float, Field(gt=0, le=1, alias="log.cleaner.io.buffer.load.factor")
    ] = 0.9
    log_cleaner_io_buffer_size: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="log.cleaner.io.buffer.size")
    ] = 512 * 1024
    log_cleaner_io_max_bytes_per_second: Annotated[
        float, Field(gt=0, alias="log.cleaner.io.max.bytes.per.second")
    ] = 1.7976931348623157e308
    log_cleaner_min_cleanable_ratio: Annotated[
        float, Field(ge=0, le=1, alias="log.cleaner.min.cleanable.ratio")
    ] = 0.5
    log_cleaner_min_compaction_lag_ms: Annotated[
        int, Field(ge=0, le=INT64_MAX, alias="log.cleaner.min.compaction.lag.ms")
    ] = 0
    log_cleaner_max_compaction_lag_ms: Annotated[
        Millis, Field(alias="log.cleaner.max.compaction.lag.ms")
    ] = INT64_MAX
    log_cleaner_delete_retention_ms: Annotated[
        int, Field(ge=0, le=INT64_MAX, alias="log.cleaner.delete.retention.ms")
    ] = DAY_MS

    @field_validator("log_cleanup_policy")
    @classmethod
    def _cleanup_policy(cls, value: str) -> str:
        policies = set(endpoints.names(value))
        if not policies <= {"delete", "compact"}:
            raise ValueError("give delete, compact, or compact,delete")
        return value
