"""Links join regions of one node: a region that gains a second broker suspends its links until it is alone again."""

from uuid import UUID

from brokers.events import Listener, Request
from brokers.metadata.cluster.broker_registration import FEATURES
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.broker_lifecycle import (
    BrokerRegistrationRequest,
    Feature,
    UnregisterBrokerRequest,
)
from brokers.wire.messages.broker_lifecycle import Listener as Endpoint
from linker.commands import ChangeMirrors, DescribeLink, LinkDescription, TopicResult, Topics
from linker.errors import SEVERAL_NODES
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

LONG_MS = 120_000


def started() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def join(host: Host) -> None:
    """Broker 2 registers in this region."""
    message = BrokerRegistrationRequest(
        broker_id=2,
        cluster_id=host.cluster_id,
        incarnation_id=UUID(int=2),
        listeners=[Endpoint(name="PLAINTEXT", host="h", port=1, security_protocol=0)],
        features=[
            Feature(
                name=each.name,
                min_supported_version=each.lowest,
                max_supported_version=each.highest,
            )
            for each in FEATURES
        ],
        log_dirs=[UUID(int=22)],
    )
    key = ApiKey.BROKER_REGISTRATION
    host.feed(Request(1 << 40, key, 4, None, "h", message, Listener.CONTROLLER))
    assert host.answers.pop(1 << 40).error_code == 0
    assert set(host.view.image.brokers) == {1, 2}


def leave(host: Host) -> None:
    answer = host.request(ApiKey.UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=2))
    assert answer.error_code == 0


def link(world: World) -> LinkDescription:
    described = world.destination.ask(DescribeLink("west-east"))
    assert isinstance(described, LinkDescription), described
    return described


def change(world: World, verb: str) -> TopicResult:
    answer = world.destination.ask(ChangeMirrors(verb=verb, link="west-east", topics=("orders",)))
    assert isinstance(answer, Topics), answer
    return answer.topics[0]


def test_a_destination_that_gains_a_broker_suspends_its_links_until_it_is_alone_again() -> None:
    world = started()
    join(world.destination)
    assert (link(world).state, link(world).because) == ("FAILED", SEVERAL_NODES)
    clients.send(world.source, "orders", 0, b"c")
    world.run(LONG_MS)
    assert not caught_up(world) and link(world).state == "FAILED"
    leave(world.destination)
    world.run_until(lambda: caught_up(world))
    assert link(world).state == "ACTIVE"


def test_no_mirror_is_cut_meanwhile() -> None:
    world = started()
    join(world.destination)
    for verb in ("promote", "failover"):
        refusal = change(world, verb).refusal
        assert refusal is not None and SEVERAL_NODES in refusal.because and refusal.hint
    assert world.destination.mirror("orders").record.state is MirrorState.ACTIVE
    leave(world.destination)
    assert change(world, "failover").state == "STOPPED"


def test_a_node_that_starts_in_such_a_region_does_not_dial() -> None:
    world = started()
    join(world.destination)
    world.destination.stop()
    world.destination.start()
    clients.send(world.source, "orders", 0, b"c")
    world.run(LONG_MS)
    assert not caught_up(world) and link(world).because == SEVERAL_NODES


def test_a_source_that_gains_a_broker_ends_its_streams_and_says_why() -> None:
    world = started()
    join(world.source)
    clients.send(world.source, "orders", 0, b"c")
    world.run(LONG_MS)
    assert not caught_up(world)
    assert (link(world).state, link(world).because) == ("FAILED", SEVERAL_NODES)
    leave(world.source)
    world.run_until(lambda: caught_up(world))
    assert link(world).state == "ACTIVE"
