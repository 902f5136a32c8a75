"""A controller tells the active one where it is: once, and again only after it was not heard."""

from typing import Any
from uuid import UUID

import pytest

from brokers.errors import KafkaError
from brokers.node.controller_registration import AGAIN_MS, ControllerRegistration
from brokers.wire.messages.broker_lifecycle import ControllerRegistrationResponse, Listener
from tests.unit.brokers.node.test_broker_lifecycle import Node

LIFE = UUID(int=8)
CONTROLLER = {
    "process_roles": "broker,controller",
    "listeners": "PLAINTEXT://127.0.0.1:97,CONTROLLER://127.0.0.1:98",
    "controller_quorum_voters": "1@127.0.0.1:91,7@voter-7:98",
}


class Controller(Node):
    """Its plane knows the active controller; what it asks is in `asks`."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**settings)
        self.registration = ControllerRegistration(
            self.wiring.config,
            LIFE,
            self.wiring.controller,
            self.wiring.channel,
            self.wiring.timers,
        )

    def progress(self) -> None:
        self.take(self.registration.progressed(self.now))


def test_it_says_where_the_voters_find_it() -> None:
    node = Controller(**CONTROLLER)
    node.progress()
    (ask,) = node.asks
    message: Any = ask.message
    assert (ask.api_key, ask.api_version, ask.channel) == (70, 0, "controller")
    assert (message.controller_id, message.incarnation_id) == (7, LIFE)
    assert message.listeners == [Listener(name="CONTROLLER", host="voter-7", port=98)]
    assert {each.name: each.max_supported_version for each in message.features} == {
        "causeway.version": 1, "kraft.version": 1, "metadata.version": 30
    }  # fmt: skip


def test_it_says_so_once() -> None:
    node = Controller(**CONTROLLER)
    node.progress()
    node.progress()
    assert len(node.asks) == 1
    node.answer(ControllerRegistrationResponse(error_message=None))
    node.progress()
    node.wait(10 * AGAIN_MS)
    assert node.asks == []


def test_it_waits_for_an_active_controller() -> None:
    node = Controller(**CONTROLLER)
    node.plane.controller = None
    node.progress()
    assert node.asks == []


@pytest.mark.parametrize("error", [KafkaError.UNKNOWN_SERVER_ERROR, 999])
def test_it_asks_again_after_a_refusal(error: int) -> None:
    node = Controller(**CONTROLLER)
    node.progress()
    node.answer(ControllerRegistrationResponse(error_code=error))
    assert node.asks == []
    node.wait(AGAIN_MS)
    assert len(node.asks) == 1


@pytest.mark.parametrize(
    "settings",
    [{"process_roles": "broker"}, {"process_roles": "broker,controller", "controller_quorum_voters": "7@127.0.0.1:97"}],
    ids=["a broker", "alone"],
)  # fmt: skip
def test_whom_nobody_could_reach_says_nothing(settings: dict[str, object]) -> None:
    node = Controller(**settings)
    node.progress()
    assert node.asks == []
