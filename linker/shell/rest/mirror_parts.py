"""Parts of the resources of links and mirror topics: lags, cuts, holes, and what is under way.

What Confluent's API does not have is ours, under the names that `admin.proto` has; each of those says what it is in the
OpenAPI description. Numbers that are not known are -1.
"""

from typing import Annotated, TypeAlias

from pydantic import BaseModel, Field

LagRecords: TypeAlias = Annotated[
    int, Field(description="Records that are behind the source; -1 unknown")
]
LagBytes: TypeAlias = Annotated[
    int, Field(description="Ours. Bytes of record batches that are behind the source; -1 unknown")
]
LagMs: TypeAlias = Annotated[
    int,
    Field(
        description="Ours. Age in milliseconds of the newest state of the source that is held entirely; -1 unknown"
    ),
]
IsLowerBound: TypeAlias = Annotated[
    bool,
    Field(
        description="Ours. Nothing is heard of the source now, which may have more than `lag` and `lag_bytes` say"
    ),
]
OriginLagRecords: TypeAlias = Annotated[
    int,
    Field(description="Ours. As `lag`, behind the region in which the records begin; -1 unknown"),
]
OriginLagBytes: TypeAlias = Annotated[
    int,
    Field(
        description="Ours. As `lag_bytes`, behind the region in which the records begin; -1 unknown"
    ),
]
OriginLagMs: TypeAlias = Annotated[
    int,
    Field(
        description="Ours. As `lag_ms`, behind the region in which the records begin; -1 unknown"
    ),
]
IsOriginLowerBound: TypeAlias = Annotated[
    bool, Field(description="Ours. As `lag_is_lower_bound`, of `origin_lag` and `origin_lag_bytes`")
]
Hint: TypeAlias = Annotated[
    str, Field(description="Ours. What to do next; empty where there is no error")
]


class MirrorLagData(BaseModel):
    """A partition of a mirror topic, as its leader knows it."""

    partition: int
    lag: LagRecords
    lag_bytes: LagBytes
    lag_ms: LagMs
    lag_is_lower_bound: IsLowerBound
    last_source_fetch_offset: int = Field(
        description="The source's high watermark as last heard; -1 unknown"
    )
    origin_lag: OriginLagRecords
    origin_lag_bytes: OriginLagBytes
    origin_lag_ms: OriginLagMs
    origin_lag_is_lower_bound: IsOriginLowerBound
    local_log_start_offset: int = Field(description="Ours. -1 unknown")
    local_log_end_offset: int = Field(description="Ours. -1 unknown")
    time_since_last_fetch_ms: int = Field(
        description="Ours. Milliseconds since the source was last heard of it; -1: never"
    )
    partition_state: str = Field(
        description="Ours. As `mirror_status`, of this partition, with what hinders it; OFFLINE: no leader answers"
    )


class MirrorTransitionErrorData(BaseModel):
    """What went wrong with a change of a mirror topic's state."""

    error_code: str
    error_message: str
    at_ms: int = Field(description="Ours. When that was, in milliseconds since 1970")


class MirrorTransitionData(BaseModel):
    """What a mirror topic is in the middle of: the verb that began it, its step, and what that waits for. Ours."""

    verb: str
    step: str
    since_ms: int
    waits_for: str
    can_be_cancelled: bool
    gives_up_at_ms: int | None = None
    asked_by: str = ""
    reason: str = ""


class CutPartitionData(BaseModel):
    """Where one partition of the mirror ended, and what was known of its source then; -1 unknown. Ours."""

    partition: int
    offset: int
    source_high_watermark: int
    source_clock_ms: int
    missing: int = Field(description="Records of the source beyond the cut that are known of")
    leader_epoch: int = Field(description="The first leader epoch of the new history")


class MirrorCutData(BaseModel):
    """Where a mirror topic became writable. `known_missing` records of the source beyond it were known of; -1 unknown.
    The source may have had more unless `is_known_missing_exact`. Ours."""

    kind: str
    at_ms: int
    partitions: list[CutPartitionData]
    known_missing: int
    is_known_missing_exact: bool


class MirrorHoleData(BaseModel):
    """Offsets that a mirror skipped: `from_offset` is the first that it does not hold, `to_offset` the next that it
    may. Ours. `topic_id` is empty in entries of releases that did not record it."""

    mirror_topic_name: str
    topic_id: str
    partition: int
    from_offset: int
    to_offset: int
    bytes: int | None = Field(description="Of record batches; null where it is not known")
    cause: str
    first_seen_ms: int
    deleted_at_ms: int | None = Field(
        description="When the topic was deleted; null while it exists"
    )


class PartitionLevelTruncationData(BaseModel):
    """What a partition lost to truncate-and-restore; it is in the orphan store."""

    partition_id: int
    offset_truncated_to: int
    messages_truncated: int
