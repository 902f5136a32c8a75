"""A node's settings, as the coordinator hears them."""

from brokers.config.broker_config import from_settings
from brokers.groups.config import GroupCoordinatorConfig, group_config


def test_the_defaults_are_the_same_on_both_sides() -> None:
    assert (
        group_config(from_settings({"node.id": 1, "log.dirs": "data"})) == GroupCoordinatorConfig()
    )


def test_every_setting_arrives() -> None:
    settings = {
        "offsets.topic.num.partitions": 3,
        "group.initial.rebalance.delay.ms": 1,
        "group.min.session.timeout.ms": 2,
        "group.max.session.timeout.ms": 4,
        "group.max.size": 5,
        "offset.metadata.max.bytes": 6,
        "offsets.retention.minutes": 7,
        "offsets.retention.check.interval.ms": 8,
    }
    assert group_config(
        from_settings({"node.id": 1, "log.dirs": "data", **settings})
    ) == GroupCoordinatorConfig(
        offsets_partitions=3,
        initial_rebalance_delay_ms=1,
        session_timeout_ms_min=2,
        session_timeout_ms_max=4,
        members_max=5,
        metadata_length_max=6,
        offsets_retention_ms=7 * 60_000,
        expiry_interval_ms=8,
    )
