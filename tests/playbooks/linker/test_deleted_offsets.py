"""An offset that is deleted at the source is deleted at the mirror, unless its topic went with it."""

from collections.abc import Callable

import pytest

from tests.playbooks.linker import clients
from tests.playbooks.linker.test_groups import started
from tests.playbooks.linker.world import World


def carried() -> World:
    world = started()
    for partition in (0, 1):
        clients.commit(world.source, "billing", "orders", partition, 3)
    world.run_until(lambda: held(world, 1) == 3)
    assert held(world, 0) == 3
    return world


def held(world: World, partition: int = 0) -> int | None:
    return clients.committed(world.destination, "billing", "orders", partition)


def test_an_offset_that_is_deleted_at_the_source_is_deleted_at_the_mirror() -> None:
    world = carried()
    assert clients.delete_offset(world.source, "billing", "orders", 0) == 0
    world.run_until(lambda: held(world) is None, 1_000)
    assert held(world, 1) == 3
    clients.commit(world.source, "billing", "orders", 0, 2)
    world.run_until(lambda: held(world) == 2, 1_000)


def test_a_group_that_is_deleted_at_the_source_has_no_offsets_at_the_mirror() -> None:
    world = carried()
    assert clients.delete_group(world.source, "billing") == 0
    world.run_until(lambda: held(world, 0) is None and held(world, 1) is None, 1_000)


def test_the_offsets_of_a_topic_that_is_deleted_at_the_source_stay_for_a_failover() -> None:
    world = carried()
    clients.delete_topic(world.source, "orders")
    world.run(5_000)
    assert (held(world, 0), held(world, 1)) == (3, 3)


def test_a_group_that_has_members_at_the_mirror_keeps_its_offsets_until_they_leave() -> None:
    world = carried()
    member = clients.join(world.destination, "billing")
    assert clients.delete_offset(world.source, "billing", "orders", 0) == 0
    world.run(2_000)
    assert held(world) == 3
    clients.leave(world.destination, "billing", member)
    world.run_until(lambda: held(world) is None, 60_000)


def test_an_offset_that_only_the_mirrors_region_has_is_not_touched() -> None:
    world = carried()
    clients.commit(world.source, "others", "orders", 0, 1)
    clients.commit(world.destination, "local", "orders", 0, 4)
    clients.delete_offset(world.source, "others", "orders", 0)
    world.run(2_000)
    assert clients.committed(world.destination, "local", "orders", 0) == 4


@pytest.mark.parametrize("trouble", [World.cut, lambda world: world.run(1)])
def test_a_commit_that_comes_again_at_once_is_the_newer_one(
    trouble: Callable[[World], None],
) -> None:
    world = carried()
    clients.delete_offset(world.source, "billing", "orders", 0)
    trouble(world)
    clients.commit(world.source, "billing", "orders", 0, 5)
    world.run(3_000)
    assert held(world) == 5
