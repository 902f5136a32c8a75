"""Commands about configurations: of topics, and of brokers while they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from brokers.errors import KafkaError


class ResourceType(IntEnum):
    """Kafka's ConfigResource types, by their codes."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


Resource: TypeAlias = tuple[
    int, str
]  # (type, name); a broker's name is its id, "" the default of all


class ConfigOperation(IntEnum):
    """The operation on one key of an incremental change (KIP-339), by Kafka's codes."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """`changes`: key -> (operation, value); `replace` first removes every key that `changes` does not name."""

    resource: Resource
    changes: Mapping[str, tuple[ConfigOperation, str | None]]
    replace: bool = False


@dataclass(frozen=True, slots=True)
class AlterConfigs:
    """-> `ConfigOutcome` per resource, in order; a repeated resource gets one outcome, an error.

    `writer` is the link that sends the command: only a mirror topic's own link may set keys that follow the source.
    """

    items: tuple[ConfigChange, ...]
    validate_only: bool = False
    writer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigOutcome:
    resource: Resource
    error: KafkaError = KafkaError.NONE
    because: str | None = None
