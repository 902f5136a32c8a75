"""Group offsets beyond the cut, while their topic is restored: moved back, and told of with the tail."""

from linker.commands import AlterLinkConfigs, ChangeMirrors
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_restore import (
    BACK,
    FullStore,
    failed_over,
    is_restored,
    link_back,
    orphans,
    restore,
    same_logs,
)

SYNCED = {
    "consumer_offset_sync_enable": "true",
    "consumer_offset_sync_ms": "1000",
    "consumer_offset_group_filters": '{"groupFilters":[{"name":"*","patternType":"LITERAL",'
    '"filterType":"INCLUDE"}]}',
}


def test_group_offsets_past_the_cut_are_moved_back_and_then_follow_the_source() -> None:
    world = failed_over()
    clients.commit(world.source, "billing", "orders", 0, 5)
    clients.commit(world.source, "early", "orders", 0, 1)
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert clients.committed(world.source, "billing", "orders") == 2
    assert clients.committed(world.source, "early", "orders") == 1
    clients.commit(world.destination, "billing", "orders", 0, 3)
    sets = {name.replace("_", "."): value for name, value in SYNCED.items()}
    world.source.ask(AlterLinkConfigs(name=BACK, sets=sets))
    world.run_until(lambda: clients.committed(world.source, "billing", "orders") == 3)


def test_a_tail_says_which_groups_had_read_how_much_of_it() -> None:
    """By what they had committed before they were moved back to the cut."""
    world = failed_over(2)
    for group, offset in (("ahead", 5), ("halfway", 3), ("behind", 2), ("before", 1)):
        clients.commit(world.source, group, "orders", 0, offset)
    clients.commit(world.source, "elsewhere", "orders", 1, 4)
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world))
    readers = {
        manifest["partition"]: dict(manifest["readers"])
        for manifest in orphans(world.source).values()
    }
    assert readers == {0: {"ahead": 5, "halfway": 3}, 1: {"elsewhere": 4}}
    assert clients.committed(world.source, "ahead", "orders") == 2


def test_a_group_that_comes_while_its_topic_is_restored_is_waited_for() -> None:
    """And named. What it has committed beyond the cut is moved back once it is gone."""
    disk = FullStore()
    world = failed_over(1, disk)
    link_back(world)
    restore(world)
    world.run(2_000)
    assert clients.commit(world.source, "billing", "orders", 0, 5) == 0
    member = clients.join(world.source, "billing")
    disk.refuses = False
    world.run(5_000)
    found = world.source.mirror("orders")
    assert found.record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
    assert "CONSUMER_GROUP_IN_USE_ERROR: group billing" in found.reason
    clients.leave(world.source, "billing", member)
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert clients.committed(world.source, "billing", "orders") == 2


def test_offsets_that_come_while_a_topic_is_restored_are_moved_back() -> None:
    """Of a consumer that assigns itself what it reads, after the groups of before were moved back."""
    disk = FullStore()
    world = failed_over(1, disk)
    clients.commit(world.source, "early", "orders", 0, 4)
    link_back(world)
    restore(world)
    world.run_until(lambda: clients.committed(world.source, "early", "orders") == 2)
    world.run(2_000)
    clients.commit(world.source, "late", "orders", 0, 5)
    disk.refuses = False
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert clients.committed(world.source, "late", "orders") == 2


def test_members_that_may_have_read_what_is_removed_are_waited_for_wherever_their_group_stands() -> (
    None
):
    """They would commit what they have read, and pass over what takes its place."""
    disk = FullStore()
    world = failed_over(1, disk)
    link_back(world)
    restore(world)
    world.run(2_000)
    assert clients.commit(world.source, "billing", "orders", 0, 1) == 0
    member = clients.join(world.source, "billing")
    disk.refuses = False
    world.run(5_000)
    found = world.source.mirror("orders")
    assert found.record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
    assert "CONSUMER_GROUP_IN_USE_ERROR: group billing" in found.reason
    clients.leave(world.source, "billing", member)
    world.run_until(lambda: is_restored(world) and same_logs(world))
    assert clients.committed(world.source, "billing", "orders") == 1


def test_groups_stay_where_they_came_when_a_restore_is_given_up() -> None:
    """The other region's offsets are of other records: by them a group would skip what it has not read."""
    world = failed_over(1, FullStore())
    west, east = world.source, world.destination
    clients.commit(west, "billing", "orders", 0, 1)
    for _ in range(3):
        clients.send(east, "orders", 0, b"another")
    link_back(world, **SYNCED)
    restore(world)
    world.run(3_000)
    clients.commit(east, "billing", "orders", 0, 5)
    world.run(50)  # west has heard of it
    assert west.mirror("orders").record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
    failover = ChangeMirrors(verb="failover", link=BACK, topics=("orders",))
    assert west.ask(failover).topics[0].state == "STOPPED"
    world.run(3_000)
    assert clients.committed(west, "billing", "orders") == 1


def test_members_without_offsets_may_have_read_what_is_removed() -> None:
    """A restore is not begun while there are any, and waits for those that come then."""
    world = failed_over()
    link_back(world)
    member = clients.join(world.source, "fresh")
    refused = restore(world, validate_only=True).refusal
    assert refused is not None and refused.code == "CONSUMER_GROUP_IN_USE_ERROR"
    assert "fresh" in str(refused)
    clients.leave(world.source, "fresh", member)
    world.reachable = False  # so that nothing can be compared
    assert restore(world).refusal is None
    world.cut()
    member = clients.join(world.source, "fresh")
    world.reachable = True
    world.run(5_000)
    found = world.source.mirror("orders")
    assert found.record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
    assert "CONSUMER_GROUP_IN_USE_ERROR: group fresh" in found.reason
    clients.leave(world.source, "fresh", member)
    world.run_until(lambda: is_restored(world) and same_logs(world))
