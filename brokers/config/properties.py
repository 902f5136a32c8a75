"""Kafka's `server.properties` -> settings, as java.util.Properties and Kafka's ConfigDef read them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import javaproperties

from brokers.config.broker_config import FIELD_KEYS, ConfigError
from brokers.config.config_providers import Providers, resolve
from brokers.config.given_settings import uses
from brokers.config.typed_settings import typed

# What Kafka takes where the file says nothing; a node by itself serves only its own machine.
DEFAULTS = {"listeners": "PLAINTEXT://:9092"}
NO_ROLES = (
    "process.roles: required; give broker, controller, or broker,controller. A file without it is of a cluster "
    "with ZooKeeper"
)


def from_properties(
    text: str, overrides: Mapping[str, str], providers: Providers
) -> dict[str, Any]:
    """Settings with typed values; `overrides` win. Raises ConfigError."""
    try:
        read = javaproperties.loads(text)
    except javaproperties.InvalidUEscapeError as error:
        raise ConfigError([f"not a properties file: {error}"]) from None
    texts = {**read, **overrides}
    given = resolve(texts, providers, lambda name: uses(name, FIELD_KEYS))
    if "process.roles" not in given and "zookeeper.connect" not in given:
        raise ConfigError([NO_ROLES])
    settings = typed(given)
    return {**settings, **{key: DEFAULTS[key] for key in DEFAULTS.keys() - settings.keys()}}


def repeated_keys(text: str) -> tuple[str, ...]:
    """Keys that a file gives more than once: the last value counts, as in Java."""
    counts = Counter(
        line.key for line in javaproperties.parse(text) if isinstance(line, javaproperties.KeyValue)
    )
    return tuple(key for key, count in counts.items() if count > 1)
