"""The settings that limit what peers may ask: each has bounds, and those of one peer fit into those of all."""

import pytest

from brokers.config.broker_config import ConfigError, from_settings
from brokers.config.peer_limits import MIB, PeerLimits

LEAST = {"node.id": 1, "log.dirs": "data"}
TOO_LOW = {
    "admin.max.commands": 0,
    "admin.max.commands.per.ip": 0,
    "admin.max.connections": 63,
    "admin.queued.max.bytes": 2 * MIB - 1,
    "admin.request.max.bytes": 2 * MIB - 1,
    "http.max.connections": 0,
    "http.max.connections.per.ip": 0,
    "link.max.connections": 63,
    "link.max.subscriptions": 9_999,
    "link.max.subscriptions.per.stream": 9_999,
    "link.max.topics": 0,
    "link.watched.max.bytes": 40 * MIB - 1,
}
TOO_HIGH = {
    "admin.request.max.bytes": 64 * MIB + 1,
    "link.max.topics": 20_001,
}


def test_every_limit_is_in_the_table_above() -> None:
    assert TOO_LOW.keys() == {field.alias for field in PeerLimits.model_fields.values()}


@pytest.mark.parametrize(("name", "value"), [*TOO_LOW.items(), *TOO_HIGH.items()])
def test_a_value_out_of_bounds_is_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigError) as refused:
        from_settings(LEAST | {name: value})
    (problem,) = refused.value.problems
    assert problem.startswith(f"{name}: Input should be") and f"(given {value})" in problem


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"admin.request.max.bytes": 17 * MIB},
            "admin.queued.max.bytes: below twice admin.request",
        ),
        ({"link.max.subscriptions": 10_000}, "link.max.subscriptions: below link.max"),
    ],
)
def test_what_one_may_have_fits_into_what_all_may_have(given: dict[str, int], problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        from_settings(LEAST | given)
    assert [one[: len(problem)] for one in refused.value.problems] == [problem]
