"""The settings of consumer groups and of the topic with their offsets."""

from typing import Annotated

from pydantic import ConfigDict, Field

from brokers.config.listener_settings import ListenerSettings

MIB = 1 << 20
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

Bytes32 = Annotated[int, Field(ge=1, le=INT32_MAX)]
Millis = Annotated[int, Field(ge=1, le=INT64_MAX)]


class GroupSettings(ListenerSettings):
    """Those of `BrokerConfig` that concern groups."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    offsets_topic_num_partitions: Annotated[
        int, Field(ge=1, le=10_000, alias="offsets.topic.num.partitions")
    ] = 50
    # By default at most the number of brokers, so that small regions need no setting.
    offsets_topic_replication_factor: Annotated[
        int, Field(ge=1, le=32_767, alias="offsets.topic.replication.factor")
    ] = 3
    offsets_topic_segment_bytes: Annotated[
        int, Field(ge=1 * MIB, le=INT32_MAX, alias="offsets.topic.segment.bytes")
    ] = 100 * MIB

    group_initial_rebalance_delay_ms: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="group.initial.rebalance.delay.ms")
    ] = 3_000
    group_min_session_timeout_ms: Annotated[
        Bytes32, Field(alias="group.min.session.timeout.ms")
    ] = 6_000
    group_max_session_timeout_ms: Annotated[
        Bytes32, Field(alias="group.max.session.timeout.ms")
    ] = 1_800_000
    group_max_size: Annotated[Bytes32, Field(alias="group.max.size")] = INT32_MAX
    offset_metadata_max_bytes: Annotated[
        int, Field(ge=0, le=INT32_MAX, alias="offset.metadata.max.bytes")
    ] = 4096
    offsets_retention_minutes: Annotated[Bytes32, Field(alias="offsets.retention.minutes")] = 10_080
    offsets_retention_check_interval_ms: Annotated[
        Millis, Field(alias="offsets.retention.check.interval.ms")
    ] = 600_000
