"""Many links in one region: topics of several regions, and of one region under several names."""

import pytest

from linker.commands import ChangeMirrors, CreateLink, CreateMirror, DeleteLink
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World


class FanIn(World):
    """West and north each have a topic "orders"; east mirrors what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.north = Host(self, "north")
        self.sources = (self.source, self.north)

    def start(self) -> "FanIn":
        super().start()
        self.north.start()
        for source in self.sources:
            clients.create_topic(source, "orders", 2)
            self.send_to(source, b"first")
        return self

    def send_to(self, source: Host, value: bytes) -> None:
        for partition in range(2):
            code, _ = clients.send(source, "orders", partition, source.name.encode(), value)
            assert code == 0

    def link(self, name: str, source: Host, prefix: str, **configs: str) -> None:
        given = {"bootstrap.servers": f"{source.name}:9092", "cluster.link.prefix": prefix}
        given.update({key.replace("_", "."): value for key, value in configs.items()})
        answer = self.destination.ask(CreateLink(name=name, configs=given))
        assert not isinstance(answer, LinkRefusal), answer

    def mirror(self, name: str, topic: str) -> None:
        answer = self.destination.ask(CreateMirror(link=name, mirror_topic=topic))
        assert not isinstance(answer, LinkRefusal), answer

    def is_equal(self, topic: str, source: Host) -> bool:
        return all(
            self.destination.log(topic, index) == source.log("orders", index) for index in range(2)
        )

    def state(self, topic: str) -> MirrorState:
        return self.destination.mirror(topic).shown


def linked() -> FanIn:
    """With groups under the prefix of their link."""
    world = FanIn().start()
    groups = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'
    for source in world.sources:
        name, prefix = f"{source.name}-east", f"{source.name[0]}."
        world.link(
            name,
            source,
            prefix,
            consumer_offset_sync_enable="true",
            consumer_group_prefix_enable="true",
            consumer_offset_group_filters=groups,
        )
        world.mirror(name, f"{prefix}orders")
    return world


def both_equal(world: FanIn) -> bool:
    return world.is_equal("w.orders", world.source) and world.is_equal("n.orders", world.north)


def test_topics_of_two_regions_come_into_one_under_their_prefixes() -> None:
    world = linked()
    world.run_until(lambda: both_equal(world))
    east = world.destination
    assert east.log("w.orders", 0) != east.log("n.orders", 0)
    for trouble in (world.cut, east.stop, world.north.stop):
        trouble()
        for host in (east, world.north):
            if not host.up:
                host.start()
        for source in world.sources:
            world.send_to(source, b"more")
        world.run_until(lambda: both_equal(world))
    for source, offset in ((world.source, 2), (world.north, 5)):
        assert clients.commit(source, "billing", "orders", 1, offset) == 0
    world.run_until(lambda: clients.committed(east, "n.billing", "n.orders", 1) == 5)
    world.run_until(lambda: clients.committed(east, "w.billing", "w.orders", 1) == 2)
    assert east.mirror("w.orders").record.origins == (world.source.cluster_id,)
    assert east.mirror("n.orders").record.origins == (world.north.cluster_id,)


def test_a_failover_from_one_region_leaves_the_mirrors_of_the_other_alone() -> None:
    world = linked()
    world.run_until(lambda: both_equal(world))
    world.source.stop()
    failover = ChangeMirrors(verb="failover", link="west-east", topics=("w.orders",))
    assert world.destination.ask(failover).topics[0].state == "STOPPED"
    assert clients.send(world.destination, "w.orders", 0, b"written here") == (0, 2)
    world.send_to(world.north, b"still copied")
    world.run_until(lambda: world.is_equal("n.orders", world.north))
    assert world.state("n.orders") is MirrorState.ACTIVE
    assert world.destination.mirror("n.orders").record.generation == 1


def test_a_name_that_another_link_mirrors_is_taken() -> None:
    world = FanIn().start()
    for source in world.sources:
        world.link(f"{source.name}-east", source, "")
    world.mirror("west-east", "orders")
    again = CreateMirror(link="north-east", mirror_topic="orders")
    refused = world.destination.ask(again)
    assert isinstance(refused, LinkRefusal)
    assert refused.code == "TOPIC_ALREADY_EXISTS"
    world.run_until(lambda: world.is_equal("orders", world.source))


@pytest.mark.parametrize("restarts", [False, True])
def test_a_region_has_many_links_each_on_its_own(restarts: bool) -> None:
    """Six to each of two regions; what becomes of one is nothing to the others."""
    world = FanIn().start()
    made = [(f"l{index}", f"p{index}.", world.sources[index % 2]) for index in range(12)]
    for name, prefix, source in made:
        world.link(name, source, prefix)
        world.mirror(name, f"{prefix}orders")
    if restarts:
        world.destination.stop()
        world.destination.start()
    for source in world.sources:
        world.send_to(source, b"more")
    world.run_until(lambda: all(world.is_equal(f"{one[1]}orders", one[2]) for one in made))
    pause = ChangeMirrors(verb="pause", link="l3", topics=("p3.orders",))
    assert world.destination.ask(pause).topics[0].refusal is None
    assert not isinstance(world.destination.ask(DeleteLink(name="l5", force=True)), LinkRefusal)
    for source in world.sources:
        world.send_to(source, b"last")
    left = [one for one in made if one[0] not in ("l3", "l5")]
    world.run_until(lambda: all(world.is_equal(f"{one[1]}orders", one[2]) for one in left))
    assert not world.is_equal("p3.orders", world.north)
    assert world.state("p3.orders") is MirrorState.PAUSED
