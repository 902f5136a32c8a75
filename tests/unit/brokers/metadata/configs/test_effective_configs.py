"""A value comes from the strongest place that has one."""

import pytest

from brokers.config.broker_config import from_settings
from brokers.log.config import LogConfig
from brokers.metadata.commands.config_commands import AlterConfigs, ConfigChange, ConfigOperation
from brokers.metadata.commands.topic_commands import CreateTopics, NewTopic
from brokers.metadata.configs.config_keys import TOPIC_KEYS
from brokers.metadata.configs.effective_configs import (
    ConfigEntry,
    ConfigSource,
    log_config,
    static_values,
    text,
    topic_config_synonyms,
    topic_values,
)
from brokers.metadata.image.image import Image
from tests.unit.brokers.metadata.images import NODE, Region

KEY = TOPIC_KEYS["retention.ms"]


def put(region: Region, kind: int, owner: str, **settings: str) -> None:
    changes = {
        name.replace("_", "."): (ConfigOperation.SET, value) for name, value in settings.items()
    }
    region.do(AlterConfigs((ConfigChange((kind, owner), changes),)))


def test_the_chain_of_values_strongest_first() -> None:
    config = from_settings({"node.id": 1, "log.dirs": "data", "log.retention.ms": 4})
    region = Region(config)
    region.do(CreateTopics((NewTopic(name="t", configs={"retention.ms": "1"}),)))
    put(region, 4, "1", log_retention_ms="2")
    put(region, 4, "", log_retention_ms="3")
    assert list(topic_config_synonyms(region.image, config, "t", KEY)) == [
        ConfigEntry("retention.ms", "1", ConfigSource.TOPIC),
        ConfigEntry("log.retention.ms", "2", ConfigSource.DYNAMIC_BROKER),
        ConfigEntry("log.retention.ms", "3", ConfigSource.DYNAMIC_DEFAULT_BROKER),
        ConfigEntry("log.retention.ms", "4", ConfigSource.STATIC_BROKER),
        ConfigEntry("log.retention.ms", "604800000", ConfigSource.DEFAULT),
    ]


def test_without_any_setting_there_is_the_default_alone() -> None:
    settings = list(topic_config_synonyms(Image("r"), NODE, "t", KEY))
    assert settings == [ConfigEntry("log.retention.ms", "604800000", ConfigSource.DEFAULT)]
    values = topic_values(Image("r"), NODE, "t")
    assert values == {name: key.default for name, key in TOPIC_KEYS.items()}


def test_logs_follow_every_change_of_what_they_are_configured_by() -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t"), NewTopic(name="other"))))

    def retained(topic: str) -> int:
        return log_config(region.image, NODE, topic).retention_ms

    found = [(retained("t"), retained("other"))]
    for kind, owner, name in ((4, "", "log_"), (4, str(NODE.node_id), "log_"), (2, "t", "")):
        put(region, kind, owner, **{f"{name}retention_ms": f"{len(found)}"})
        found.append((retained("t"), retained("other")))
    assert found == [(604_800_000, 604_800_000), (1, 1), (2, 2), (3, 2)]


def test_static_values_are_those_of_the_file_as_kafka_prints_them() -> None:
    config = from_settings({"node.id": 7, "log.dirs": "d", "auto.create.topics.enable": False})
    assert static_values(config) == {
        "node.id": "7",
        "log.dirs": "d",
        "auto.create.topics.enable": "false",
    }
    assert (text(True), text(None), text(5)) == ("true", None, "5")


def test_a_log_without_settings_has_the_logs_own_defaults() -> None:
    assert log_config(Image("r"), NODE, "t") == LogConfig()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"retention.ms": "-1"}, {"retention_ms": -1}),
        ({"retention.bytes": " 5 "}, {"retention_bytes": 5}),
        ({"segment.bytes": "2000000"}, {"segment_bytes": 2_000_000}),
        ({"internal.segment.bytes": "300"}, {"segment_bytes": 300}),
        ({"segment.ms": "7"}, {"segment_ms": 7}),
        ({"index.interval.bytes": "0"}, {"index_interval_bytes": 0}),
        ({"segment.index.bytes": "4"}, {"segment_index_bytes": 4}),
        ({"segment.jitter.ms": "6"}, {"segment_jitter_ms": 6}),
        ({"file.delete.delay.ms": "0"}, {"file_delete_delay_ms": 0}),
        ({"flush.messages": "1"}, {"flush_messages": 1}),
        ({"flush.ms": "9"}, {"flush_ms": 9}),
        ({"compression.type": "producer"}, {"codec": None}),
        ({"compression.type": "uncompressed"}, {"codec": 0}),
        ({"compression.type": " zstd "}, {"codec": 4, "compression_level": 3}),
        ({"compression.type": "gzip"}, {"codec": 1, "compression_level": -1}),
        (
            {
                "compression.type": "lz4",
                "compression.lz4.level": "17",
                "compression.zstd.level": "1",
            },
            {"codec": 3, "compression_level": 17},
        ),
        ({"compression.type": "snappy"}, {"codec": 2}),
        ({"max.message.bytes": "9"}, {"max_message_bytes": 9}),
        ({"message.timestamp.type": "LogAppendTime"}, {"append_time": True}),
        ({"message.timestamp.before.max.ms": "8"}, {"timestamp_before_max_ms": 8}),
        ({"message.timestamp.after.max.ms": "8"}, {"timestamp_after_max_ms": 8}),
    ],
)
def test_a_topics_settings_reach_its_log(setting: dict[str, str], expected: dict[str, int]) -> None:
    region = Region()
    region.do(CreateTopics((NewTopic(name="t", configs=setting),)))
    assert log_config(region.image, NODE, "t") == LogConfig(**expected)  # type: ignore[arg-type]


def test_a_compacted_topic_never_expires() -> None:
    region = Region()
    configs = {"cleanup.policy": "compact"}
    region.do(CreateTopics((NewTopic(name="__consumer_offsets", configs=configs),)))
    assert not log_config(region.image, NODE, "__consumer_offsets").delete_expired


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (
            {"compression.type": "lz4", "compression.lz4.level": 3},
            {"codec": 3, "compression_level": 3},
        ),
        ({"log.index.interval.bytes": 5}, {"index_interval_bytes": 5}),
        ({"log.segment.delete.delay.ms": 7}, {"file_delete_delay_ms": 7}),
        ({"log.index.size.max.bytes": 99}, {"segment_index_bytes": 99}),
        ({"log.roll.jitter.hours": 1}, {"segment_jitter_ms": 3_600_000}),
        (
            {"log.flush.interval.messages": 10, "log.flush.interval.ms": 20},
            {"flush_messages": 10, "flush_ms": 20},
        ),
        ({"log.retention.minutes": 2}, {"retention_ms": 120_000}),
        ({"log.message.timestamp.before.max.ms": 3}, {"timestamp_before_max_ms": 3}),
        ({"log.message.timestamp.after.max.ms": 4}, {"timestamp_after_max_ms": 4}),
    ],
)
def test_a_nodes_settings_are_the_defaults_of_its_topics(
    setting: dict[str, object], expected: dict[str, int]
) -> None:
    config = from_settings({"node.id": 1, "log.dirs": "data", **setting})
    assert log_config(Image("r"), config, "t") == LogConfig(**expected)  # type: ignore[arg-type]
