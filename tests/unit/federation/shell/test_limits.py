"""A node's settings reach the parts that keep to them."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.config.peer_limits import MIB, PeerLimits
from brokers.connection_quotas import CONNECTIONS
from federation.shell import limits
from linker.node_limits import UNLIMITED
from linker.peer_limits import COMMANDS, WATCHED, StreamLimits

LEAST: dict[str, Any] = {"node.id": 1, "log.dirs": "data"}
OTHERS = {
    "link.max.topics": 5_000,
    "admin.request.max.bytes": 8 * MIB,
}


def flat(config: BrokerConfig) -> dict[str, Any]:
    node = limits.node_limits(config)
    parts: dict[str, Any] = {
        "streams": limits.stream_limits(config),
        "commands": limits.command_limits(config),
        "connections": limits.connection_limits(config),
        "node": replace(node, watch=WATCHED),
        "watch": node.watch,
    }
    return {
        f"{part}.{name}": value
        for part, one in parts.items()
        for name, value in asdict(one).items()
    }


def test_defaults_are_those_of_the_parts() -> None:
    config = from_settings(LEAST)
    assert limits.stream_limits(config) == StreamLimits()
    assert limits.command_limits(config) == COMMANDS
    assert limits.connection_limits(config) == CONNECTIONS
    found = limits.node_limits(config)
    assert found.topics == UNLIMITED.topics
    assert found.watch == WATCHED


@pytest.mark.parametrize(
    ("alias", "default"),
    [(str(field.alias), field.get_default()) for field in PeerLimits.model_fields.values()],
)
def test_each_setting_changes_its_own_limit(alias: str, default: int) -> None:
    value = OTHERS.get(alias, default + 1)
    before, after = flat(from_settings(LEAST)), flat(from_settings(LEAST | {alias: value}))
    changed = {name for name in after if after[name] != before[name]}
    assert changed and all(after[name] == value for name in changed)
