"""The list of Kafka's broker keys that unit tests use is Kafka's own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.brokers.config.kafka_4_3 import KAFKA_DEFAULTS, KAFKA_KEY_TYPES

pytestmark = pytest.mark.compat


def test_the_list_of_broker_keys_is_kafkas(tool: Callable[..., str]) -> None:
    printed = tool(str(Path(__file__).with_name("BrokerKeys.java")))
    lines = [line.split(" ", 2) for line in printed.splitlines()]
    assert {name: (kind, default) for name, kind, default in lines} == {
        name: (KAFKA_KEY_TYPES[name], default) for name, default in KAFKA_DEFAULTS.items()
    }
