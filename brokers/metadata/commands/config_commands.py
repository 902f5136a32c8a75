"""Commands about configurations: of topics, and of brokers while they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from brokers.errors import KafkaError


class ResourceType(IntEnum):
    """What a configuration belongs to, by Kafka's codes."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


Resource: TypeAlias = tuple[
    int, str
]  # (type, name); a broker's name is its id, "" the default of all


class ConfigOperation(IntEnum):
    """How one key of an incremental change is meant. KIP-339."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """`changes` is key -> (operation, value); `replace` first drops every key that is not named."""

    resource: Resource
    changes: Mapping[str, tuple[ConfigOperation, str | None]]
    replace: bool = False


@dataclass(frozen=True, slots=True)
class AlterConfigs:
    """-> `ConfigOutcome` per resource, in order; a resource given twice has one, which refuses it.

    `writer` is the link that asks: a mirror's own link may set what it keeps in step, nobody else.
    """

    items: tuple[ConfigChange, ...]
    validate_only: bool = False
    writer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOutcome:
    resource: Resource
    error: KafkaError = KafkaError.NONE
    because: str | None = None
