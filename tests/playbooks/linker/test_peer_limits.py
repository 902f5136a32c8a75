"""Limits of a node on what its links, and those of other regions, ask for."""

from linker.answers import LinkDescription
from linker.commands import CreateLink, CreateMirror, DescribeLink
from linker.errors import LinkRefusal
from linker.peer_limits import WatchLimits
from linker.watch_quotas import TOPIC_BYTES
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked

LINK = "west-east"


def describe(world: World) -> LinkDescription:
    found = world.destination.ask(DescribeLink(LINK))
    assert isinstance(found, LinkDescription), found
    return found


def test_a_link_has_as_many_mirrors_as_its_node_allows() -> None:
    world = World()
    world.destination.settings = {"link.max.topics": 2}
    world.start()
    for topic in ("orders", "b", "c"):
        clients.create_topic(world.source, topic)
    linked(world)
    answers = [
        world.destination.ask(CreateMirror(link=LINK, mirror_topic=topic)) for topic in ("b", "c")
    ]
    assert not isinstance(answers[0], LinkRefusal)
    assert isinstance(answers[1], LinkRefusal)
    assert "2 mirror topics, which is the most (link.max.topics)" in answers[1].because


def test_a_source_that_has_no_room_for_a_link_says_so_on_the_link_which_goes_on_once_it_has() -> (
    None
):
    """It said that the other region had closed the stream."""
    world = World()
    world.source.limits = {"watch": WatchLimits(name_bytes_per_stream=TOPIC_BYTES)}
    world.start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a")
    made = world.destination.ask(CreateLink(name=LINK, configs={"bootstrap.servers": "west:9092"}))
    assert not isinstance(made, LinkRefusal), made
    world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    world.run_until(lambda: "bytes of names and filters on this stream" in describe(world).because)
    world.source.stop()
    world.source.limits = {}
    world.source.start()
    made = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    world.run_until(lambda: describe(world).state == "ACTIVE")
    world.run_until(lambda: "orders" in describe(world).topics and caught_up(world))
