"""The group coordinator's configuration."""

from dataclasses import dataclass

from brokers.config.broker_config import BrokerConfig

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCoordinatorConfig:
    """Kafka's GroupCoordinatorConfig: `group.*` and `offsets.*`, with Kafka's defaults."""

    offsets_partitions: int = 50
    initial_rebalance_delay_ms: int = 3_000
    session_timeout_ms_min: int = 6_000
    session_timeout_ms_max: int = 1_800_000
    members_max: int = 2**31 - 1
    metadata_length_max: int = 4_096  # of one committed offset, in UTF-16 code units as in Kafka
    offsets_retention_ms: int = 7 * 24 * 60 * MINUTE_MS
    expiry_interval_ms: int = 10 * MINUTE_MS


def group_config(config: BrokerConfig) -> GroupCoordinatorConfig:
    """The coordinator's part of a broker's configuration."""
    return GroupCoordinatorConfig(
        offsets_partitions=config.offsets_topic_num_partitions,
        initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
        session_timeout_ms_min=config.group_min_session_timeout_ms,
        session_timeout_ms_max=config.group_max_session_timeout_ms,
        members_max=config.group_max_size,
        metadata_length_max=config.offset_metadata_max_bytes,
        offsets_retention_ms=config.offsets_retention_minutes * MINUTE_MS,
        expiry_interval_ms=config.offsets_retention_check_interval_ms,
    )
