"""The settings of the operator log, and of the topics that clients create by asking for them."""

from typing import Annotated

from pydantic import ConfigDict, Field

from brokers.config.listener_settings import ListenerSettings

DAY_MS = 86_400_000
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


class OperationSettings(ListenerSettings):
    """Those of `BrokerConfig` that concern what operators and clients change."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    # Ours: what the operator log keeps, by number and age; -1: without limit. The active controller's settings count.
    operation_log_max_entries: Annotated[
        int, Field(ge=-1, le=100_000, alias="operation.log.max.entries")
    ] = 10_000
    operation_log_retention_ms: Annotated[
        int, Field(ge=-1, le=INT64_MAX, alias="operation.log.retention.ms")
    ] = 90 * DAY_MS
    # Ours: the partitions a second that a broker creates because clients ask for topics that are not; -1: any number.
    # Counted as Kafka's quota controller_mutation_rate of a client is, over the windows of the next two settings.
    auto_create_topics_mutation_rate: Annotated[
        int, Field(ge=-1, le=INT32_MAX, alias="auto.create.topics.mutation.rate")
    ] = 10
    controller_quota_window_num: Annotated[
        int, Field(ge=1, le=INT32_MAX, alias="controller.quota.window.num")
    ] = 11
    controller_quota_window_size_seconds: Annotated[
        int, Field(ge=1, le=INT32_MAX, alias="controller.quota.window.size.seconds")
    ] = 1
