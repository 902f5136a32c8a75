"""Effective configuration values, and where each is set.

A topic's value is its own, else the dynamic value of its broker, else the dynamic value of all brokers, else the value
in the node's file, else Kafka's default. KIP-226 calls this chain the synonyms of a key.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from brokers.config.broker_config import BrokerConfig
from brokers.ids import BrokerId
from brokers.log.config import LogConfig
from brokers.metadata.commands.config_commands import Resource, ResourceType
from brokers.metadata.configs.config_def import ConfigKey, elements
from brokers.metadata.configs.config_keys import LEVEL_KEYS, TOPIC_KEYS
from brokers.metadata.image.image import Image
from brokers.records.recompression import CODECS


class ConfigSource(IntEnum):
    """Where a value is set, by the codes of DescribeConfigs, in order of precedence."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A value, the key under which it is set, and its source."""

    name: str
    value: str | None
    source: ConfigSource


def topic_config_synonyms(
    image: Image, config: BrokerConfig, topic: str, key: ConfigKey
) -> Iterator[ConfigEntry]:
    """The synonyms of a topic's key in order of precedence: the first is the effective value."""
    own = image.config((ResourceType.TOPIC, topic)).get(key.name)
    if own is not None:
        yield ConfigEntry(key.name, own, ConfigSource.TOPIC)
    if key.broker_key is not None:
        yield from dynamic_config_synonyms(image, config.node_id, key.broker_key)
        static = static_values(config).get(key.broker_key)
        if static is not None:
            yield ConfigEntry(key.broker_key, static, ConfigSource.STATIC_BROKER)
    yield ConfigEntry(key.broker_key or key.name, key.default, ConfigSource.DEFAULT)


def dynamic_config_synonyms(image: Image, node_id: BrokerId, name: str) -> Iterator[ConfigEntry]:
    """The dynamic values of a broker's key: of this broker, then of all brokers."""
    resources: tuple[tuple[Resource, ConfigSource], ...] = (
        ((ResourceType.BROKER, str(node_id)), ConfigSource.DYNAMIC_BROKER),
        ((ResourceType.BROKER, ""), ConfigSource.DYNAMIC_DEFAULT_BROKER),
    )
    for resource, source in resources:
        value = image.config(resource).get(name)
        if value is not None:
            yield ConfigEntry(name, value, source)


class _Static(NamedTuple):
    """What follows from a node's file alone; `log_configs` by the settings of topics and brokers that they are of."""

    config: BrokerConfig
    values: Mapping[str, str]
    log_configs: dict[tuple[object, ...], LogConfig]


_STATIC_MAX: Final = 64  # one per node of a process; a simulator has many
_LOG_CONFIGS_MAX: Final = 1024
# By identity, which is a config's own while it is here: to hash all its fields takes long.
_static: Final[dict[int, _Static]] = {}


def _of_file(config: BrokerConfig) -> _Static:
    known = _static.get(id(config))
    if known is None:
        if len(_static) >= _STATIC_MAX:
            _static.clear()
        known = _static[id(config)] = _Static(config, _static_values(config), {})
    return known


def static_values(config: BrokerConfig) -> Mapping[str, str]:
    """The values in the node's file, by Kafka's names."""
    return _of_file(config).values


def _static_values(config: BrokerConfig) -> Mapping[str, str]:
    fields = type(config).model_fields
    return {
        fields[field].alias or field: value
        for field in sorted(config.model_fields_set)
        if (value := text(getattr(config, field))) is not None
    }


def text(value: object) -> str | None:
    """A value as Kafka prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def topic_values(image: Image, config: BrokerConfig, topic: str) -> dict[str, str]:
    """Every key of a topic with its effective value; the topic need not exist."""
    return {name: topic_value(image, config, topic, key) for name, key in TOPIC_KEYS.items()}


def topic_value(image: Image, config: BrokerConfig, topic: str, key: ConfigKey) -> str:
    """The effective value of one key of a topic; the topic need not exist."""
    value = next(topic_config_synonyms(image, config, topic, key)).value
    assert value is not None, key.name
    return value


def log_config(image: Image, config: BrokerConfig, topic: str) -> LogConfig:
    """The part of a topic's configuration that its logs use. Most topics have the same."""
    known = _of_file(config).log_configs
    resources = (
        (ResourceType.TOPIC, topic),
        (ResourceType.BROKER, str(config.node_id)),
        (ResourceType.BROKER, ""),
    )
    settings = tuple(tuple(image.config(resource).items()) for resource in resources)
    found = known.get(settings)
    if found is None:
        if len(known) >= _LOG_CONFIGS_MAX:
            known.clear()
        found = known[settings] = _log_config(image, config, topic)
    return found


def _log_config(image: Image, config: BrokerConfig, topic: str) -> LogConfig:
    own = image.config((ResourceType.TOPIC, topic))

    def value(name: str) -> str:
        return topic_value(image, config, topic, TOPIC_KEYS[name])

    codec = value("compression.type").strip()
    segment_bytes = own.get("internal.segment.bytes") or value("segment.bytes")
    return LogConfig(
        segment_bytes=int(segment_bytes),
        segment_ms=int(value("segment.ms")),
        retention_ms=int(value("retention.ms")),
        retention_bytes=int(value("retention.bytes")),
        delete_expired="delete" in elements(value("cleanup.policy")),
        segment_jitter_ms=int(value("segment.jitter.ms")),
        index_interval_bytes=int(value("index.interval.bytes")),
        segment_index_bytes=int(value("segment.index.bytes")),
        compact="compact" in elements(value("cleanup.policy")),
        min_cleanable_dirty_ratio=float(value("min.cleanable.dirty.ratio")),
        min_compaction_lag_ms=int(value("min.compaction.lag.ms")),
        max_compaction_lag_ms=int(value("max.compaction.lag.ms")),
        delete_retention_ms=int(value("delete.retention.ms")),
        file_delete_delay_ms=int(value("file.delete.delay.ms")),
        preallocate=value("preallocate").strip().lower() == "true",
        flush_messages=int(value("flush.messages")),
        flush_ms=int(value("flush.ms")),
        codec=CODECS.get(codec),  # None for producer
        compression_level=int(value(level)) if (level := LEVEL_KEYS.get(codec)) else 0,
        max_message_bytes=int(value("max.message.bytes")),
        min_insync_replicas=int(value("min.insync.replicas")),
        append_time=value("message.timestamp.type").strip() == "LogAppendTime",
        timestamp_before_max_ms=int(value("message.timestamp.before.max.ms")),
        timestamp_after_max_ms=int(value("message.timestamp.after.max.ms")),
    )
