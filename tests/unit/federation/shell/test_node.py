"""What a node listens on beside its Kafka listeners."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from brokers.config.broker_config import BrokerConfig, from_settings
from brokers.config.endpoints import endpoint
from federation.shell.node import LinkServices


def bound(directory: Path, **settings: str) -> BrokerConfig:
    given: dict[str, Any] = {"node.id": 1, "log.dirs": str(directory)}
    given.update({name.replace("_", "."): value for name, value in settings.items()})

    async def run() -> BrokerConfig:
        services = LinkServices(from_settings(given), lambda event: None)
        try:
            return services.bind()
        finally:
            await services.stop()

    return asyncio.run(run())


def test_without_a_setting_links_and_administration_are_on_loopback_alone(tmp_path: Path) -> None:
    config = bound(tmp_path)
    for address in (config.link_listener, config.admin_listener):
        assert address is not None
        assert endpoint(address).host == "127.0.0.1"
        assert endpoint(address).port > 0
    assert config.rest_listener is None


@pytest.mark.parametrize("name", ["link_listener", "admin_listener"])
def test_each_is_where_it_is_set_and_the_other_stays(tmp_path: Path, name: str) -> None:
    config = bound(tmp_path, **{name: "127.0.0.2:0"})
    hosts = {
        key: endpoint(getattr(config, key)).host for key in ("link_listener", "admin_listener")
    }
    assert hosts.pop(name) == "127.0.0.2"
    assert list(hosts.values()) == ["127.0.0.1"]
