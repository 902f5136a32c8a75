"""Groups whose topic goes from region to region, by reversals."""

from functools import partial

from linker.commands import AlterLinkConfigs
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, link_both_ways
from tests.playbooks.linker.test_reversals import (
    change,
    is_read_only,
    is_reversed,
    reverse,
    reversible,
)
from tests.playbooks.linker.world import Host, World, caught_up

link_with_groups = partial(link_both_ways, consumer_offset_sync_enable="true")
ORDERS = '{"topicFilters":[{"name":"orders","patternType":"LITERAL","filterType":"INCLUDE"}]}'
BY_FILTERS = {
    "auto.create.mirror.topics.enable": "true",
    "auto.create.mirror.topics.filters": ORDERS,
}


def swap(world: World, home: Host, mirror: Host) -> None:
    reverse(mirror)
    world.run_until(lambda: is_reversed(home, mirror) and caught_up(world))


def is_at(host: Host, offset: int, group: str = "billing") -> bool:
    return clients.committed(host, group, "orders") == offset


def test_a_group_that_has_moved_since_the_region_was_a_mirror_before_is_put_where_it_stands() -> (
    None
):
    """The link had committed the same offset there when it copied them last."""
    world = reversible(link_with_groups)
    west, east = world.source, world.destination
    clients.commit(west, "billing", "orders", 0, 1)
    world.run_until(lambda: is_at(east, 1))
    swap(world, west, east)
    clients.commit(east, "billing", "orders", 0, 2)
    world.run_until(lambda: is_at(west, 2))
    swap(world, east, west)
    clients.commit(west, "billing", "orders", 0, 1)
    world.run(500)
    assert is_at(east, 1)


def test_what_a_group_committed_while_its_region_had_the_mirror_is_copied_after_a_reversal() -> (
    None
):
    world = reversible(link_with_groups)
    west, east = world.source, world.destination
    swap(world, west, east)
    swap(world, east, west)
    clients.commit(east, "local", "orders", 0, 1)
    world.run(500)
    assert not is_at(west, 1, "local")
    swap(world, west, east)
    world.run_until(lambda: is_at(west, 1, "local"))


def test_what_the_source_had_sent_before_its_topic_was_mirrored_again_is_copied() -> None:
    """A topic that the link's filters admit is watched all the time, so the source sends nothing of it anew."""
    world = reversible(link_with_groups)
    west, east = world.source, world.destination
    east.ask(AlterLinkConfigs(name=LINK, sets=BY_FILTERS))
    swap(world, west, east)
    clients.commit(west, "local", "orders", 0, 1)
    world.run(500)
    assert not is_at(east, 1, "local")
    swap(world, east, west)
    world.run_until(lambda: is_at(east, 1, "local"))


def test_a_group_stays_where_it_came_when_a_reversal_is_taken_back() -> None:
    """The other region has told where the group was by its mirror, which has not heard of the newest commits yet."""
    world = reversible(link_with_groups)
    west, east = world.source, world.destination
    clients.commit(west, "billing", "orders", 0, 1)
    world.run_until(lambda: is_at(east, 1))
    reverse(east, timeout_ms=600_000)
    world.run_until(lambda: is_read_only(west), 500)
    world.run(50)  # west asks for the groups of the topic, which it is to mirror
    world.reachable = False
    world.cut()
    clients.commit(west, "billing", "orders", 0, 2)
    assert change(west, "failover").topics[0].state == "STOPPED"
    assert is_at(west, 2)
    world.reachable = True
    world.run_until(lambda: is_at(east, 2))
