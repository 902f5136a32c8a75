"""Which APIs each listener serves."""

import random
from typing import Any

import pytest

from brokers.api import api_versions, create_topics, metadata, produce, versions
from brokers.config.broker_config import from_settings
from brokers.effects import Reply
from brokers.events import Listener, Request
from brokers.node.broker import Broker
from brokers.wire.messages.api_versions import ApiVersionsRequest
from tests.playbooks.metadata.host import NOW
from tests.unit.brokers.api.asking import Node


@pytest.mark.parametrize("listener", Listener)
def test_each_listener_tells_what_it_serves(listener: Listener) -> None:
    broker = Broker(from_settings({"node.id": 1, "log.dirs": "data"}), "one", random.Random(1))
    message = ApiVersionsRequest(client_software_name="a", client_software_version="1")
    (answer,) = broker.step(Request(1, 18, 4, None, "host", message, listener), NOW)
    assert isinstance(answer, Reply)
    response: Any = answer.message
    told = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
    assert told == versions.advertised(listener) and list(told) == sorted(told)
    for key, (lowest, highest) in told.items():
        assert versions.is_served(key, highest, listener)
        assert not versions.is_served(key, highest + 1, listener)
        assert versions.is_served(key, lowest, listener) == (key != produce.KEY)


@pytest.mark.parametrize("listener", Listener)
def test_each_listener_has_a_handler_of_everything_that_it_tells(listener: Listener) -> None:
    handlers = Node().wiring.handlers.by_listener
    assert set(handlers[listener]) == set(versions.advertised(listener))


def test_a_controllers_listener_serves_no_clients() -> None:
    served = versions.advertised(Listener.CONTROLLER)
    assert {api_versions.KEY, create_topics.KEY} <= set(served)
    assert not {metadata.KEY, produce.KEY} & set(served)
    assert not versions.is_served(metadata.KEY, 9, Listener.CONTROLLER)
    assert versions.is_served(metadata.KEY, 9)
