"""A consumer is sent to a replica in its rack that has what it wants, and to no other."""

import pytest

from brokers.replication.replica_selector import preferred_replica
from tests.unit.brokers.replication.hosting import Node

LAG = 1_000


def leading(*, isr: tuple[int, ...] = (1, 2, 3), observers: tuple[int, ...] = ()) -> Node:
    """Broker 1 leads in rack a, 2 and 3 follow in b; all have ten records."""
    node = Node(1)
    for broker, rack in ((1, "a"), (2, "b"), (3, "b")):
        node.broker(broker, rack=rack)
    node.place(1, isr=isr, observers=observers)
    node.append(count=10)
    for broker in (2, 3):
        node.fetch({0: 10}, broker=broker, wait_ms=0)
    return node


def chosen(node: Node, rack: str = "b", offset: int = 5, waited: int = 0) -> int | None:
    return preferred_replica(node.image, node.replica(), rack, offset, LAG, node.now + waited)


def test_the_most_caught_up_one_in_the_rack_is_chosen() -> None:
    node = leading()
    node.append()
    node.fetch({0: 11}, broker=2, wait_ms=0)
    assert chosen(node) == 2
    node.fetch({0: 11}, broker=3, wait_ms=0)
    assert chosen(node) == 3


@pytest.mark.parametrize("rack", ["", "a", "elsewhere"])
def test_the_leader_serves_its_own_rack_and_those_where_nobody_is(rack: str) -> None:
    assert chosen(leading(), rack) is None


def test_one_that_does_not_hold_the_offset_is_not_chosen() -> None:
    assert chosen(leading(), offset=10) == 3
    assert chosen(leading(), offset=11) is None


@pytest.mark.parametrize("case", ["fenced", "gone", "another life", "never heard of"])
def test_one_that_is_not_known_to_be_there_is_not_chosen(case: str) -> None:
    node = leading()
    node.broker(2, rack="elsewhere")
    match case:
        case "fenced":
            node.broker(3, rack="b", fenced=True)
        case "gone":
            del node.image.brokers[3]
        case "another life":
            node.broker(3, rack="b", epoch=31)
        case "never heard of":
            node.place(1, 2)
    assert chosen(node) is None


def test_an_observer_serves_while_it_keeps_up() -> None:
    node = leading(isr=(1, 2), observers=(3,))
    node.broker(2, rack="elsewhere")
    assert chosen(node) == 3
    node.append()
    assert chosen(node, waited=LAG // 2) == 3
    assert chosen(node, waited=LAG + 1) is None


def test_an_idle_replica_that_is_not_asked_for_any_more_is_not_chosen() -> None:
    node = leading(isr=(1, 2, 3))
    session = node.replies[node.fetch({0: 10}, broker=3)].session_id
    node.place(1, isr=(1, 2), partition_epoch=2)
    node.broker(2, rack="elsewhere")
    assert chosen(node) == 3
    node.fetch(session=(session, 1), broker=3, forget=[0])
    assert chosen(node) is None


def test_nobody_is_sent_away_unless_the_operator_wants_it() -> None:
    node = leading()
    assert node.replication.preferred_replica(node.replica(), "b", 5, node.now) is None
    aware = Node(1, rack_aware=True)
    for broker, rack in ((1, "a"), (2, "b")):
        aware.broker(broker, rack=rack)
    aware.place(1)
    aware.fetch({0: 0}, wait_ms=0)
    assert aware.replication.preferred_replica(aware.replica(), "b", 0, aware.now) == 2
