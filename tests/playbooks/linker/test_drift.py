"""`causeway link drift`: every difference between a mirror and its source, with why it stands."""

from linker.answers import ConfigDrift, Drift, SyncClass
from linker.commands import ChangeMirrors, DescribeDrift
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked


def mirrored(**configs: str) -> World:
    world = World().start()
    clients.create_topic(world.source, "orders", 1)
    linked(world, **configs)
    world.run_until(lambda: caught_up(world))
    return world


def drift(world: World) -> dict[str, ConfigDrift]:
    answer = world.destination.ask(DescribeDrift("west-east"))
    assert isinstance(answer, Drift), answer
    assert answer.unknown_topics == ()
    return {one.name: one for one in answer.differences}


def pause(world: World) -> None:
    world.destination.ask(ChangeMirrors(verb="pause", link="west-east", topics=("orders",)))


def test_what_is_in_step_has_no_drift() -> None:
    world = mirrored()
    clients.set_config(world.source, "orders", "retention.ms", "5000")
    clients.grow_topic(world.source, "orders", 3)
    world.run(6_000)
    assert drift(world) == {}


def test_a_setting_of_one_region_only_is_its_own() -> None:
    world = mirrored()
    assert clients.set_config(world.source, "orders", "unclean.leader.election.enable", "true") == 0
    assert clients.set_config(world.source, "orders", "compression.type", "producer") == 0
    assert clients.set_config(world.destination, "orders", "min.insync.replicas", "1") == 0
    world.run(6_000)
    found = drift(world)
    assert {name: one.sync_class for name, one in found.items()} == {
        "unclean.leader.election.enable": SyncClass.NEVER,
        "compression.type": SyncClass.WHEN_NAMED,
        "min.insync.replicas": SyncClass.NEVER,
    }
    own = found["min.insync.replicas"]
    assert (own.source_value, own.mirror_value) == (None, "1")
    assert "topic.config.sync.include" in found["compression.type"].why


def test_a_paused_mirror_says_when_it_will_be_in_step() -> None:
    world = mirrored()
    pause(world)
    clients.set_config(world.source, "orders", "max.message.bytes", "5000")
    clients.grow_topic(world.source, "orders", 3)
    world.run(6_000)
    found = drift(world)
    assert found["max.message.bytes"].sync_class is SyncClass.ALWAYS
    assert (found["partitions"].source_value, found["partitions"].mirror_value) == ("3", "1")
    assert all("PAUSED" in one.why for one in found.values())
