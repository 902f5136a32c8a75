"""What a node asks another crosses the simulated network, and fails in the ways that real connections do."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from brokers.config.broker_config import from_settings
from brokers.config.endpoints import Address
from brokers.effects import Ask
from brokers.events import Answered, AskFailure, Listener
from brokers.ids import Peer
from brokers.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.sim.disks import Disk
from tests.sim.network import Network
from tests.sim.nodes import Node
from tests.sim.scenario import Scenario, draw
from tests.sim.world import World

API_VERSIONS = 18
THERE = Peer(2, "there", 9092)


class Asker(Node):
    """Hears its own answers instead of a core."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.answers: list[tuple[int, AskFailure]] = []

    def deliver(self, event: object) -> None:
        if isinstance(event, Answered):
            assert isinstance(event.message, ApiVersionsResponse | None)
            self.answers.append((event.ticket, event.failure))
        else:
            super().deliver(event)


class Pair:
    """A node `here` that asks one `there`."""

    def __init__(self) -> None:
        calm: Scenario = replace(
            draw(Random(0)), latency_ms=1, spike_rate=0.0, skew_ms=0, drift=0.0
        )
        self.world = World(1)
        self.network = Network(self.world, calm)
        self.here = self._node(Asker, 1, "here", calm)
        self.there = self._node(Node, 2, "there", calm)
        self.here.peers.directory[Address("there", 9092)] = (self.there, Listener.DATA)
        self.here.peers.directory[Address("there", 9093)] = (self.there, Listener.CONTROLLER)
        self.pass_time(1_000)
        assert self.there.up

    def _node(self, kind: Callable[..., Node], number: int, place: str, scenario: Scenario) -> Node:
        settings = {"node.id": number, "log.dirs": "data", "listeners": f"PLAINTEXT://{place}:9092"}
        config, disk = from_settings(settings), Disk(lambda path, data: None)
        node = kind(self.world, self.network, scenario, place, config, disk)
        node.start()
        return node

    def ask(self, ticket: int, peer: Peer = THERE, channel: str = "probe") -> None:
        request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
        self.here.peers.ask(Ask(ticket, peer, channel, API_VERSIONS, 4, request, 500))

    def pass_time(self, milliseconds: int) -> None:
        self.world.run(self.world.now + milliseconds)

    @property
    def answers(self) -> list[tuple[int, AskFailure]]:
        assert isinstance(self.here, Asker)
        return self.here.answers


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_requests_of_a_channel_are_answered_in_order(pair: Pair) -> None:
    for ticket in (-1, -2, -3):
        pair.ask(ticket)
    pair.pass_time(100)
    assert pair.answers == [(ticket, AskFailure.NONE) for ticket in (-1, -2, -3)]


def test_a_dead_process_refuses_and_one_that_came_back_answers(pair: Pair) -> None:
    pair.there.kill()
    pair.ask(-1)
    pair.pass_time(100)
    assert pair.answers == [(-1, AskFailure.REFUSED)]
    pair.there.start()
    pair.pass_time(1_000)
    pair.ask(-2)
    pair.pass_time(100)
    assert pair.answers[1:] == [(-2, AskFailure.NONE)]


def test_a_listener_that_a_node_does_not_have_refuses(pair: Pair) -> None:
    pair.ask(-1, Peer(2, "there", 9093))
    pair.pass_time(100)
    assert pair.answers == [(-1, AskFailure.REFUSED)]


def test_a_machine_without_power_says_nothing(pair: Pair) -> None:
    pair.there.cut_power()
    pair.ask(-1)
    pair.pass_time(499)
    assert pair.answers == []
    pair.pass_time(2)
    assert pair.answers == [(-1, AskFailure.TIMEOUT)]


def test_who_waits_when_the_process_dies_hears_that_the_connection_closed(pair: Pair) -> None:
    pair.there.freeze(10_000)
    pair.ask(-1)
    pair.ask(-2)
    pair.pass_time(100)
    pair.there.kill()
    pair.pass_time(100)
    assert pair.answers == [(-1, AskFailure.CLOSED), (-2, AskFailure.CLOSED)]


@pytest.mark.parametrize(("one", "other"), [("here", "there"), ("there", "here")])
def test_a_path_that_is_blocked_in_one_direction_leaves_no_answer(
    pair: Pair, one: str, other: str
) -> None:
    pair.network.block(one, other, 2_000, one_way=True)
    pair.ask(-1)
    pair.pass_time(600)
    assert pair.answers == [(-1, AskFailure.TIMEOUT)]


def test_the_first_that_is_late_ends_its_channel_and_no_other(pair: Pair) -> None:
    pair.there.freeze(700)
    pair.ask(-1)
    pair.pass_time(300)
    pair.ask(-2)
    pair.ask(-3, channel="metadata")
    pair.pass_time(450)
    assert sorted(pair.answers) == [
        (-3, AskFailure.NONE),
        (-2, AskFailure.CLOSED),
        (-1, AskFailure.TIMEOUT),
    ]


def test_an_unknown_host_is_no_connection(pair: Pair) -> None:
    pair.ask(-1, Peer(3, "nowhere", 9092))
    pair.pass_time(10)
    assert pair.answers == [(-1, AskFailure.CLOSED)]


def test_an_answer_that_came_while_the_process_stood_still_is_not_late(pair: Pair) -> None:
    pair.ask(-1)
    pair.here.freeze(5_000)
    pair.pass_time(100)
    pair.there.kill()
    pair.pass_time(5_000)
    assert pair.answers == [(-1, AskFailure.NONE)]


def test_what_an_earlier_life_asked_concerns_the_next_one_no_more(pair: Pair) -> None:
    pair.there.freeze(10_000)
    pair.ask(-1)
    pair.pass_time(100)
    for pipe in pair.network.pipes_between("here", "there"):
        pipe.cut("reset", half_open=0)
    pair.here.kill()
    pair.here.start()
    pair.pass_time(30_000)
    assert pair.answers == []
