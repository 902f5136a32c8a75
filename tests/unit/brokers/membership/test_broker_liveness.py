"""A broker that is gone is fenced in a moment; one that stalls, or is just hard to reach, never by this."""

import pytest

from brokers.events import AskFailure
from brokers.ids import Peer
from brokers.membership.broker_liveness import (
    AGAIN_MS,
    LATE_MS,
    NEVER_HEARD_MS,
    SILENT_MS,
    STALLED_MS,
    BrokerLiveness,
    Fence,
    Probe,
    ProbeEffect,
)

TWO, THREE = Peer(2, "b", 9092), Peer(3, "c", 9092)
START = 10_000


class Tenure:
    """Of a controller that watches brokers 2 and 3; every step returns what it does."""

    def __init__(self) -> None:
        self.now = START
        self.prober = BrokerLiveness()
        self.unfenced = {2: (TWO, 20), 3: (THREE, 30)}
        self._tickets = 0

    def watch(self) -> list[ProbeEffect]:
        return self.prober.watch(self.unfenced, self.now)

    def begin(self) -> "Tenure":
        """Everyone is there and has been heard."""
        self.watch()
        for peer in (TWO, THREE):
            self.probed(peer, AskFailure.NONE)
            self.heard(peer.node_id)
        return self

    def heard(self, broker_id: int) -> int:
        self._tickets += 1
        self.prober.heard(broker_id, self._tickets, self.now)
        return self._tickets

    def probed(self, peer: Peer, failure: AskFailure) -> list[ProbeEffect]:
        return self.prober.probed(peer, failure, self.now)

    def disconnected(self, *tickets: int) -> list[ProbeEffect]:
        return self.prober.disconnected(tickets, self.now)

    def wait_for_it(self) -> tuple[int, list[ProbeEffect]]:
        assert self.prober.deadline is not None
        waited = self.prober.deadline - self.now
        self.now = self.prober.deadline
        return waited, self.prober.on_time(self.now)


def test_a_killed_broker_is_fenced_in_a_moment() -> None:
    tenure = Tenure().begin()
    ticket = tenure.heard(2)
    tenure.heard(3)
    assert tenure.disconnected(ticket) == [Probe(TWO)]
    assert tenure.probed(TWO, AskFailure.CLOSED) == []  # its sockets close one after the other
    assert tenure.wait_for_it() == (AGAIN_MS, [Probe(TWO)])
    assert tenure.probed(TWO, AskFailure.REFUSED) == []
    tenure.wait_for_it()
    assert tenure.now == START + SILENT_MS
    assert tenure.probed(TWO, AskFailure.REFUSED) == [Fence(TWO, 20)]


def test_a_broker_that_changed_its_connection_keeps_everything() -> None:
    tenure = Tenure().begin()
    assert tenure.disconnected(tenure.heard(2)) == [Probe(TWO)]
    tenure.now += 10
    tenure.heard(2)
    assert tenure.probed(TWO, AskFailure.REFUSED) == []  # a firewall, then
    waited, asked = tenure.wait_for_it()
    assert (waited, asked) == (LATE_MS - 10, [Probe(THREE)])


@pytest.mark.parametrize(
    ("failure", "pause_ms"),
    [
        (AskFailure.TIMEOUT, STALLED_MS),
        (AskFailure.UNREADABLE, STALLED_MS),
        (AskFailure.CLOSED, AGAIN_MS),
        (AskFailure.NONE, LATE_MS),
    ],
)
def test_a_silent_broker_is_asked_again_and_again_and_not_fenced(
    failure: AskFailure, pause_ms: int
) -> None:
    tenure = Tenure().begin()
    waited, asked = tenure.wait_for_it()
    assert (waited, asked) == (LATE_MS, [Probe(TWO), Probe(THREE)])
    tenure.heard(3)
    for _ in range(20):
        assert tenure.probed(TWO, failure) == []
        tenure.heard(3)
        waited, asked = tenure.wait_for_it()
        assert (waited, asked[0]) == (pause_ms, Probe(TWO))


def test_a_broker_that_is_gone_while_nothing_of_its_was_parked_is_found_late() -> None:
    tenure = Tenure().begin()
    tenure.wait_for_it()
    assert tenure.probed(TWO, AskFailure.REFUSED) == [Fence(TWO, 20)]


def test_a_new_controller_asks_all_at_once_and_gives_them_time_to_find_it() -> None:
    tenure = Tenure()
    assert tenure.watch() == [Probe(TWO), Probe(THREE)]
    assert tenure.probed(TWO, AskFailure.REFUSED) == []
    assert tenure.probed(THREE, AskFailure.REFUSED) == []
    tenure.now += 20
    tenure.heard(3)
    _, asked = tenure.wait_for_it()
    assert (tenure.now, asked) == (START + NEVER_HEARD_MS, [Probe(TWO)])
    assert tenure.probed(TWO, AskFailure.REFUSED) == [Fence(TWO, 20)]


def test_a_fencing_that_came_to_nothing_is_tried_again() -> None:
    tenure = Tenure().begin()
    tenure.wait_for_it()
    assert tenure.probed(TWO, AskFailure.REFUSED) == [Fence(TWO, 20)]
    tenure.probed(THREE, AskFailure.NONE)
    assert tenure.wait_for_it() == (STALLED_MS, [Probe(TWO)])
    assert tenure.probed(TWO, AskFailure.REFUSED) == [Fence(TWO, 20)]


def test_who_is_fenced_is_left_alone() -> None:
    tenure = Tenure().begin()
    ticket = tenure.heard(2)
    del tenure.unfenced[2]
    assert tenure.watch() == tenure.disconnected(ticket) == []
    assert tenure.probed(TWO, AskFailure.REFUSED) == []
    assert tenure.wait_for_it() == (LATE_MS, [Probe(THREE)])


def test_an_answer_about_an_earlier_life_says_nothing_about_this_one() -> None:
    tenure = Tenure().begin()
    tenure.disconnected(tenure.heard(2))
    moved = Peer(2, "b", 9999)
    tenure.unfenced[2] = (moved, 50)
    assert tenure.watch() == []
    assert tenure.probed(TWO, AskFailure.REFUSED) == []
    tenure.heard(3)
    tenure.wait_for_it()
    assert tenure.probed(moved, AskFailure.REFUSED) == [Fence(moved, 50)]


def test_one_restarted_at_the_same_place_is_another() -> None:
    tenure = Tenure().begin()
    tenure.disconnected(tenure.heard(2))
    tenure.unfenced[2] = (TWO, 50)
    tenure.watch()
    tenure.heard(2)
    assert tenure.probed(TWO, AskFailure.REFUSED) == []


def test_who_is_controller_no_more_asks_nobody() -> None:
    tenure = Tenure().begin()
    ticket = tenure.heard(2)
    tenure.prober.rest()
    assert tenure.prober.deadline is None
    assert tenure.disconnected(ticket) == tenure.probed(TWO, AskFailure.REFUSED) == []
    assert tenure.watch() == [Probe(TWO), Probe(THREE)]  # elected again
