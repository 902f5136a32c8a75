"""A topic never comes back to the region that it began in: refused before anything is made."""

import json

import pytest

from linker.commands import ChangeMirrors, CreateLink, CreateMirror
from linker.errors import LinkRefusal
from linker.records.mirror_record import decode_mirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked


def back(world: World) -> Host:
    """West, with a link from east."""
    link(world.source, "east-west", "east", cluster_link_prefix="back.")
    return world.source


def link(host: Host, name: str, source: str, **configs: str) -> None:
    given = {"bootstrap.servers": f"{source}:9092"}
    given.update({key.replace("_", "."): value for key, value in configs.items()})
    answer = host.ask(CreateLink(name=name, configs=given))
    assert not isinstance(answer, LinkRefusal), answer


def mirrored() -> World:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"one")
    world.run_until(lambda: caught_up(world))
    return world


def test_a_mirror_of_a_mirror_of_an_own_topic_is_refused() -> None:
    world = mirrored()
    west = back(world)
    refused = west.ask(CreateMirror(link="east-west", mirror_topic="back.orders"))
    assert isinstance(refused, LinkRefusal)
    assert refused.code == "INVALID_REQUEST"
    assert "mirrors a topic of this region" in refused.because
    assert "back.orders" not in west.view.image.topics_by_name


@pytest.mark.parametrize("validate_only", [False, True])
def test_so_is_one_that_would_come_back_by_way_of_two_other_regions(validate_only: bool) -> None:
    """West's topic goes to east, from there to north, and not from north to west."""
    world = mirrored()
    north = Host(world, "north").start()
    link(north, "east-north", "east")
    assert not isinstance(
        north.ask(CreateMirror(link="east-north", mirror_topic="orders")), LinkRefusal
    )
    world.run_until(lambda: north.log("orders", 0) == world.source.log("orders", 0) != b"")
    west = world.source
    link(west, "north-west", "north", cluster_link_prefix="back.")
    world.run(1_500)  # west keeps by whom its topic is mirrored
    documents = dict(west.view.image.documents)
    asked = CreateMirror(link="north-west", mirror_topic="back.orders", validate_only=validate_only)
    refused = west.ask(asked)
    assert isinstance(refused, LinkRefusal)
    east = world.destination.cluster_id
    assert f"mirrors a topic of this region by way of {east}" in refused.because
    world.run(1_000)
    assert "back.orders" not in west.view.image.topics_by_name
    assert west.view.image.documents == documents


def test_nor_is_it_made_by_itself() -> None:
    world = mirrored()
    north = Host(world, "north").start()
    link(north, "east-north", "east")
    north.ask(CreateMirror(link="east-north", mirror_topic="orders"))
    clients.create_topic(north, "bills")
    filters = {"topicFilters": [{"name": "*", "patternType": "LITERAL", "filterType": "INCLUDE"}]}
    link(
        world.source,
        "north-west",
        "north",
        cluster_link_prefix="back.",
        auto_create_mirror_topics_enable="true",
        auto_create_mirror_topics_filters=json.dumps(filters),
    )
    world.run_until(lambda: "back.bills" in world.source.view.image.topics_by_name)
    world.run(5_000)
    assert "back.orders" not in world.source.view.image.topics_by_name


def test_so_is_one_in_a_check_that_makes_nothing() -> None:
    world = mirrored()
    asked = CreateMirror(link="east-west", mirror_topic="back.orders", validate_only=True)
    assert isinstance(back(world).ask(asked), LinkRefusal)


def test_a_topic_of_the_other_region_comes_over_and_says_where_it_began() -> None:
    world = mirrored()
    clients.create_topic(world.destination, "bills")
    west = back(world)
    made = west.ask(CreateMirror(link="east-west", mirror_topic="back.bills"))
    assert made.record.origins == (world.destination.cluster_id,)
    document = west.view.image.documents["mirror", "back.bills"]
    assert decode_mirror("back.bills", document.body).origins == made.record.origins


def test_after_a_failover_the_topic_is_east_s_own_and_may_go_west() -> None:
    world = mirrored()
    world.destination.ask(ChangeMirrors(verb="failover", link="west-east", topics=("orders",)))
    world.run_until(lambda: world.destination.mirror("orders").record.state is MirrorState.STOPPED)
    made = back(world).ask(CreateMirror(link="east-west", mirror_topic="back.orders"))
    assert not isinstance(made, LinkRefusal)
