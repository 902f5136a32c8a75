"""A broker's configuration, as DescribeConfigs returns it."""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic_core import PydanticUndefined

from brokers.config.broker_config import FIELD_KEYS, BrokerConfig
from brokers.config.given_settings import verdict
from brokers.metadata.commands.config_commands import ResourceType
from brokers.metadata.configs.config_def import ConfigType
from brokers.metadata.configs.config_keys import DYNAMIC_BROKER_KEYS, TOPIC_KEYS
from brokers.metadata.configs.effective_configs import (
    ConfigEntry,
    ConfigSource,
    dynamic_config_synonyms,
    static_values,
    text,
)
from brokers.metadata.image.image import Image

# Keys that Kafka's tools look up, with fixed values in this release.
_FIXED = {
    "inter.broker.protocol.version": "4.3-IV0",  # Kafka's name for metadata.version 30
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
}
_TYPES = {bool: ConfigType.BOOLEAN, int: ConfigType.LONG}


@dataclass(frozen=True, slots=True)
class BrokerConfigEntry:
    """One key; the first of `values` is the effective one."""

    name: str
    type: ConfigType
    values: tuple[ConfigEntry, ...]
    documentation: str | None
    is_dynamic: bool


def broker_config_entries(image: Image, config: BrokerConfig) -> list[BrokerConfigEntry]:
    """Every key of this node, by name; also what its file gives without an effect, so that it can be found again."""
    settings = {
        name: _own(image, config, name, value, default)
        for name, value, default in config.by_kafka_name()
    }
    for key in TOPIC_KEYS.values():
        if key.broker_key is not None and key.broker_key not in settings:
            settings[key.broker_key] = _own(image, config, key.broker_key, key.default, key.default)
    for name, key in DYNAMIC_BROKER_KEYS.items():
        if name not in settings:
            settings[name] = _own(image, config, name, key.default, key.default)
    for name, value in config.given:
        given = (ConfigEntry(name, value, ConfigSource.STATIC_BROKER),)
        _, why = verdict(name, FIELD_KEYS)
        documentation = f"{why[:1].upper()}{why[1:]}." if why else None
        entry = BrokerConfigEntry(name, ConfigType.STRING, given, documentation, is_dynamic=False)
        settings.setdefault(name, entry)
    for name, value in _FIXED.items():
        fixed = (ConfigEntry(name, value, ConfigSource.DEFAULT),)
        settings[name] = BrokerConfigEntry(name, ConfigType.STRING, fixed, None, is_dynamic=False)
    return [settings[name] for name in sorted(settings)]


def dynamic_defaults(image: Image) -> Iterator[BrokerConfigEntry]:
    """The dynamic values of all brokers."""
    for name, value in sorted(image.config((ResourceType.BROKER, "")).items()):
        key = DYNAMIC_BROKER_KEYS[name]
        values = (ConfigEntry(name, value, ConfigSource.DYNAMIC_DEFAULT_BROKER),)
        yield BrokerConfigEntry(name, key.type, values, key.documentation, is_dynamic=True)


def _own(
    image: Image, config: BrokerConfig, name: str, value: object, default: object
) -> BrokerConfigEntry:
    values = list(dynamic_config_synonyms(image, config.node_id, name))
    if name in static_values(config):
        values.append(ConfigEntry(name, static_values(config)[name], ConfigSource.STATIC_BROKER))
    key = DYNAMIC_BROKER_KEYS.get(name)
    if default is not PydanticUndefined:
        known = key.default if key is not None else text(default)
        values.append(ConfigEntry(name, known, ConfigSource.DEFAULT))
    kind = key.type if key is not None else _TYPES.get(type(value), ConfigType.STRING)
    documentation = key.documentation if key is not None else None
    return BrokerConfigEntry(name, kind, tuple(values), documentation, is_dynamic=key is not None)
