"""A topic never comes back to the region that it began in: refused before anything is made."""

from linker.commands import ChangeMirrors, CreateLink, CreateMirror
from linker.errors import LinkRefusal
from linker.records.mirror_record import decode_mirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked


def back(world: World) -> Host:
    """West, with a link from east."""
    configs = {"bootstrap.servers": "east:9092", "cluster.link.prefix": "back."}
    assert not isinstance(
        world.source.ask(CreateLink(name="east-west", configs=configs)), LinkRefusal
    )
    return world.source


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
