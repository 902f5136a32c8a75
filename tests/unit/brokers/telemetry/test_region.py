"""How a node stands in its region, as the page tells it."""

from brokers.telemetry.region import BROKER_LAG, BYTES_IN, CONTROLLER_LAG, FAILED_UPDATES, STATE
from tests.unit.brokers.telemetry.counted import Counted


def test_a_lone_node_leads_the_quorum_and_is_never_behind() -> None:
    node = Counted()
    node.now += 60_000
    assert node.value(STATE, state="leader") == 1
    assert node.value(BROKER_LAG) == node.value(CONTROLLER_LAG) == 0
    assert node.value(FAILED_UPDATES) == node.value(BYTES_IN) == 0


def test_what_a_node_is_not_is_left_out() -> None:
    node = Counted()
    parts = node.broker.parts
    parts.config = parts.config.model_copy(update={"process_roles": "controller"})
    assert node.value(CONTROLLER_LAG) == 0
    assert node.value(BROKER_LAG) is None
    assert node.value(BYTES_IN) is None
