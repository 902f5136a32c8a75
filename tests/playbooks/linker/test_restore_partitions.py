"""The way back of a topic that gets partitions just then."""

from linker.commands import RestoreMirrors
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_restore import (
    BACK,
    FullStore,
    failed_over,
    is_restored,
    link_back,
    restore,
    state,
)
from tests.playbooks.linker.world import caught_up


def grown_meanwhile(steps: int) -> tuple[bool, bool]:
    """A restore is asked for, and so many steps later a partition is added here. Returns whether either was done."""
    world = failed_over()
    link_back(world)
    world.run(2_000)
    ticket = 1 << 40
    world.source.feed(AdminAsked(ticket, RestoreMirrors(BACK, ("orders",))))
    left = iter(range(steps))
    world.run_until(lambda: next(left, None) is None)
    is_grown = clients.grow_topic(world.source, "orders", 2) == 0
    world.run_until(lambda: ticket in world.source.answers)
    is_restoring = world.source.answers.pop(ticket).topics[0].refusal is None
    if is_grown and is_restoring:
        world.run(5_000)
        assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
        assert "add partitions at the source" in world.source.mirror("orders").reason
    if is_grown:
        assert clients.grow_topic(world.destination, "orders", 2) == 0
    if not is_restoring:
        assert restore(world).refusal is None
    world.run_until(lambda: is_restored(world) and caught_up(world))
    return is_grown, is_restoring


def test_partitions_added_while_a_restore_begins_are_waited_for_at_the_source() -> None:
    """Until the link is the topic's writer they may be added. Nothing is sealed or truncated before they are there."""
    outcomes = {grown_meanwhile(steps) for steps in range(12)}
    assert outcomes == {(True, False), (True, True), (False, True)}


def test_a_partition_that_the_source_gets_while_tails_are_sealed_has_none() -> None:
    """The restore waited for ever for its tail to be sealed."""
    disk = FullStore()
    world = failed_over(1, disk)
    link_back(world)
    restore(world)
    world.run(1_000)
    assert clients.grow_topic(world.destination, "orders", 2) == 0
    world.run_until(lambda: len(world.source.view.image.topics_by_name["orders"].partitions) == 2)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    disk.refuses = False
    world.run_until(lambda: is_restored(world) and caught_up(world))
