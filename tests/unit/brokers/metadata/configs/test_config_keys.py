"""Every key of Kafka's is there with Kafka's default, and no value is accepted that is not honoured."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.configs.config_def import VALUE_BYTES_MAX, ConfigType, config_error, elements
from brokers.metadata.configs.config_keys import DYNAMIC_BROKER_KEYS, TOPIC_KEYS, topic_config_error

# Kafka 4.3's topic configurations and their defaults.
KAFKA = {
    "cleanup.policy": "delete",
    "compression.gzip.level": "-1",
    "compression.lz4.level": "9",
    "compression.type": "producer",
    "compression.zstd.level": "3",
    "delete.retention.ms": "86400000",
    "file.delete.delay.ms": "60000",
    "flush.messages": "9223372036854775807",
    "flush.ms": "9223372036854775807",
    "follower.replication.throttled.replicas": "",
    "index.interval.bytes": "4096",
    "leader.replication.throttled.replicas": "",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": "9223372036854775807",
    "max.message.bytes": "1048588",
    "message.timestamp.after.max.ms": "3600000",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "message.timestamp.type": "CreateTime",
    "min.cleanable.dirty.ratio": "0.5",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "preallocate": "false",
    "remote.log.copy.disable": "false",
    "remote.log.delete.on.disable": "false",
    "remote.storage.enable": "false",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
    "segment.index.bytes": "10485760",
    "segment.jitter.ms": "0",
    "segment.ms": "604800000",
    "unclean.leader.election.enable": "false",
}


def test_the_keys_and_defaults_are_kafkas() -> None:
    assert {name: key.default for name, key in TOPIC_KEYS.items() if key.is_listed} == KAFKA


@pytest.mark.parametrize("name", TOPIC_KEYS)
def test_every_default_can_be_set(name: str) -> None:
    key = TOPIC_KEYS[name]
    assert topic_config_error("t", name, key.default) is None
    assert topic_config_error("t", name, f" {key.default} ") is None
    assert key.documentation.endswith(".")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "-1"), ("retention.ms", "0"), ("retention.ms", str(2**63 - 1)),
        ("retention.bytes", "-1"), ("retention.bytes", "1"),
        ("segment.bytes", "1048576"), ("segment.bytes", str(2**31 - 1)),
        ("segment.ms", "1"), ("max.message.bytes", "0"), ("max.message.bytes", str(2**31 - 1)),
        ("message.timestamp.type", "LogAppendTime"),
        ("message.timestamp.before.max.ms", "0"), ("message.timestamp.after.max.ms", "5"),
        ("flush.messages", "1"), ("flush.messages", "2"), ("flush.ms", "0"), ("segment.jitter.ms", "1"),
        ("file.delete.delay.ms", "0"), ("index.interval.bytes", "0"), ("segment.index.bytes", "4"),
        ("compression.type", "zstd"), ("compression.type", "uncompressed"), ("compression.gzip.level", "5"),
        ("compression.gzip.level", "-1"), ("compression.lz4.level", "17"), ("compression.zstd.level", "-131072"),
        ("internal.segment.bytes", "100"),
        ("cleanup.policy", "delete"), ("cleanup.policy", " delete"),
        ("min.cleanable.dirty.ratio", "0.50"), ("preallocate", "FALSE"), ("preallocate", "true"),
        ("min.insync.replicas", "2"), ("unclean.leader.election.enable", "true"),
        ("leader.replication.throttled.replicas", "*"),
        ("follower.replication.throttled.replicas", "0:1, 12:345"),
        ("confluent.placement.constraints", '{"version":2,"replicas":[{"count":1,"constraints":{"rack":"a"}}]}'),
    ],
)  # fmt: skip
def test_honoured_values_are_accepted(name: str, value: str) -> None:
    assert topic_config_error("t", name, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "-2"), ("retention.ms", ""), ("retention.ms", "1.5"), ("retention.ms", "1e3"),
        ("retention.ms", str(2**63)), ("retention.ms", "9" * 5_000), ("retention.ms", "--1"),
        ("retention.ms", "+1"), ("retention.ms", "1_000"), ("retention.ms", "١"), ("retention.ms", "0x10"),
        ("retention.ms", "1\x1f"),
        ("segment.bytes", "1048575"), ("segment.bytes", str(2**31)), ("segment.ms", "0"),
        ("max.message.bytes", "-1"), ("internal.segment.bytes", "0"),
        ("message.timestamp.type", "createtime"), ("message.timestamp.type", ""),
        ("flush.messages", "0"), ("file.delete.delay.ms", "-1"), ("preallocate", "yes"),
        ("min.cleanable.dirty.ratio", "half"),
        ("min.cleanable.dirty.ratio", "1.1"), ("min.cleanable.dirty.ratio", "nan"),
        ("compression.gzip.level", "0"), ("compression.gzip.level", "10"), ("compression.lz4.level", "18"),
        ("compression.zstd.level", "23"), ("compression.type", "lzma"),
        ("cleanup.policy", "keep"), ("cleanup.policy", ""),
        ("min.insync.replicas", "0"), ("leader.replication.throttled.replicas", "0"),
        ("follower.replication.throttled.replicas", "*,0:1"), ("confluent.placement.constraints", "{}"),
    ],
)  # fmt: skip
def test_malformed_values_are_refused_as_such(name: str, value: str) -> None:
    because = topic_config_error("t", name, value)
    assert because is not None and f"configuration {name}" in because


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("remote.storage.enable", "true"),
        ("local.retention.ms", "5"),
    ],
)  # fmt: skip
def test_values_whose_behaviour_does_not_exist_are_refused_as_such(name: str, value: str) -> None:
    because = topic_config_error("t", name, value)
    assert because is not None and "not supported" in because


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cleanup.policy", "compact"), ("cleanup.policy", "compact,delete"), ("delete.retention.ms", "1"),
        ("min.cleanable.dirty.ratio", "0"), ("min.compaction.lag.ms", "5"), ("max.compaction.lag.ms", "1"),
    ],
)  # fmt: skip
def test_a_topic_may_be_compacted(name: str, value: str) -> None:
    assert topic_config_error("t", name, value) is None
    assert topic_config_error("t", "min.cleanable.dirty.ratio", "1.5") is not None


def test_unknown_keys_and_endless_values_are_refused() -> None:
    assert (
        topic_config_error("t", "retention.hours", "1")
        == "Unknown topic config name: retention.hours"
    )
    because = topic_config_error(
        "t", "leader.replication.throttled.replicas", "x" * (VALUE_BYTES_MAX + 1)
    )
    assert because is not None and "longer than" in because


@given(st.sampled_from(sorted(TOPIC_KEYS)), st.text(max_size=20))
def test_any_text_is_judged_without_an_accident(name: str, value: str) -> None:
    because = topic_config_error("t", name, value)
    assert because is None or name in because
    if because is None and TOPIC_KEYS[name].type in (ConfigType.INT, ConfigType.LONG):
        assert int(value) >= TOPIC_KEYS[name].minimum


def test_elements_are_trimmed_and_never_empty() -> None:
    assert elements(" a, b ,,c,") == ["a", "b", "c"] and elements("") == []


def test_brokers_can_be_throttled_while_they_run() -> None:
    key = DYNAMIC_BROKER_KEYS["leader.replication.throttled.rate"]
    assert config_error(key, "", "1000") is None
    assert "configuration leader.replication.throttled.rate" in str(config_error(key, "", "-1"))


def test_every_dynamic_broker_key_is_the_default_of_an_honoured_topic_key() -> None:
    assert "log.retention.ms" in DYNAMIC_BROKER_KEYS and "num.partitions" not in DYNAMIC_BROKER_KEYS
    assert all(key.is_supported is not None for key in DYNAMIC_BROKER_KEYS.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "x" * 32_767),
        ("x" * 32_767, "1"),
        ("remote.storage.enable", " " * 32_700 + "true"),
        ("confluent.placement.constraints", json.dumps({"a" * each: 1 for each in range(1, 240)})),
    ],
)
def test_what_is_said_of_a_long_value_fits_into_a_string_of_the_protocol(
    name: str, value: str
) -> None:
    because = topic_config_error("t", name, value)
    assert because is not None and len(because.encode()) <= 2_500
