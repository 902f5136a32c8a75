"""Groups whose topic goes from region to region, by reversals."""

from functools import partial

from brokers.ids import OFFSETS_TOPIC, Buffers
from brokers.ports import DiskError
from linker.commands import AlterLinkConfigs
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, link_both_ways
from tests.playbooks.linker.test_reversals import (
    can_write,
    change,
    is_read_only,
    is_reversed,
    reverse,
    reversible,
    state,
)
from tests.playbooks.linker.world import Host, World, caught_up
from tests.sim.files import SimFiles

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


class RefusingOffsets(SimFiles):
    """A disk that takes nothing for the offsets of groups while it is told to."""

    refuses = False

    def append(self, path: str, buffers: Buffers) -> int:
        if self.refuses and path.startswith(OFFSETS_TOPIC) and path.endswith(".log"):
            raise DiskError(f"{path}: No space left on device")
        return super().append(path, buffers)


def left_behind() -> tuple[World, RefusingOffsets]:
    """A group had a member in the mirror's region when the link looked last, so no proof asks for its offsets. It has
    left, and the disk does not take what the link commits for it."""
    world, disk = World(), RefusingOffsets()
    world.destination.files = disk
    reversible(link_with_groups, 2, world)
    west, east = world.source, world.destination
    member = clients.join(east, "billing")
    clients.commit(west, "billing", "orders", 0, 1)
    world.run(1_000)
    assert clients.committed(east, "billing", "orders") is None
    assert clients.leave(east, "billing", member) == 0
    disk.refuses = True
    return world, disk


def test_a_reversal_waits_until_the_offsets_of_a_group_that_has_just_left_are_committed() -> None:
    world, disk = left_behind()
    west, east = world.source, world.destination
    reverse(east, timeout_ms=60_000)
    world.run(10_000)
    assert state(east) is not MirrorState.STOPPED
    assert is_read_only(west)
    disk.refuses = False
    world.run_until(lambda: is_reversed(west, east), 60_000)
    assert is_at(east, 1)


def test_a_reversal_that_waits_too_long_for_the_offsets_of_a_group_is_given_up() -> None:
    world, disk = left_behind()
    west, east = world.source, world.destination
    reverse(east, timeout_ms=5_000)
    world.run_until(lambda: state(east) is MirrorState.ACTIVE, 60_000)
    (error,) = east.mirror("orders").record.transition_errors
    assert "group offsets are behind" in error.because
    world.run_until(lambda: can_write(west))
    disk.refuses = False
    world.run_until(lambda: is_at(east, 1), 60_000)


def test_a_promotion_waits_for_them_too() -> None:
    world, disk = left_behind()
    assert change(world.destination, "promote", timeout_ms=60_000).topics[0].refusal is None
    world.run(10_000)
    assert state(world.destination) is not MirrorState.STOPPED
    disk.refuses = False
    world.run_until(lambda: state(world.destination) is MirrorState.STOPPED, 60_000)
    assert is_at(world.destination, 1)
