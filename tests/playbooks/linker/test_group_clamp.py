"""P6 at a cut: a power cut may take a mirror's data and leave its groups' offsets; no failover lets them stay so."""

import pytest

from brokers.ids import OFFSETS_TOPIC, TopicPartition
from linker.commands import ChangeMirrors
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Unlucky, World, caught_up, linked

ORDERS = TopicPartition("orders", 0)


def robbed() -> World:
    """The source has gone, and of the destination only the groups' offsets outlived a power cut: billing is at 2."""
    world = World().start()
    clients.create_topic(world.source, "orders", 2)
    linked(world, consumer_offset_sync_enable="true")
    clients.send(world.source, "orders", 0, b"a", b"b")
    clients.send(world.source, "orders", 1, b"c")
    clients.commit(world.source, "billing", "orders", 0, 2)
    clients.commit(world.source, "shipping", "orders", 1, 0)
    world.run_until(lambda: caught_up(world))
    world.run_until(lambda: clients.committed(world.destination, "billing", "orders") == 2)
    world.run_until(lambda: clients.committed(world.destination, "shipping", "orders", 1) == 0)
    world.source.stop()
    world.reachable = False
    world.destination.stop()
    keep(world, OFFSETS_TOPIC)
    world.destination.files.crash(Unlucky())
    world.destination.start()
    assert ends_at(world) == 0
    assert clients.committed(world.destination, "billing", "orders") == 2
    return world


def keep(world: World, topic: str) -> None:
    """These had reached the disk in time."""
    files = world.destination.files
    for folder in [name for name in files.list("") if name.startswith(f"{topic}-")]:
        for name in files.list(folder):
            files.sync(f"{folder}/{name}")


def ends_at(world: World) -> int:
    found = world.destination.view.partition_state(ORDERS)
    assert found is not None
    return found.log_end_offset


def fail_over(world: World) -> None:
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    world.destination.feed(AdminAsked(1 << 40, command))


def state(world: World) -> MirrorState:
    return world.destination.mirror("orders").record.state


def test_a_failover_moves_back_what_points_past_the_data() -> None:
    world = robbed()
    fail_over(world)
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders") == 0
    assert clients.committed(world.destination, "shipping", "orders", 1) == 0
    assert clients.send(world.destination, "orders", 0, b"of its own") == (0, 0)


def test_nobody_writes_before_the_groups_are_moved_back() -> None:
    """Where their log is offline, what they have committed is not known, and comes with it."""
    world = robbed()
    world.destination.stop()
    world.destination.files.break_at(f"{OFFSETS_TOPIC}-")
    world.destination.start()
    fail_over(world)
    world.run(5_000)
    record = world.destination.mirror("orders").record
    assert (record.state, record.cut is None) == (MirrorState.PENDING_STOPPED, False)
    assert any("cannot be read" in change.why for change in world.destination.changes)
    world.destination.files.break_at("")
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders") == 0


@pytest.mark.parametrize("room", range(0, 1_200, 80))
def test_a_commit_that_the_disk_refuses_is_made_when_it_takes_writes_again(room: int) -> None:
    world = robbed()
    world.destination.files.full_after(room)
    fail_over(world)
    world.run(5_000)
    world.destination.files.full_after(None)
    world.run(5_000)
    if state(world) is not MirrorState.STOPPED:
        fail_over(world)  # it was refused, and the operator asks again
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders") == 0


def test_a_group_with_members_goes_by_what_they_have_read() -> None:
    world = robbed()
    clients.join(world.destination, "billing")
    fail_over(world)
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders") == 2
    assert "group billing" in [change.what for change in world.destination.changes]


def test_a_failover_that_ends_between_cut_and_groups_moves_them_when_it_is_taken_up() -> None:
    world = robbed()
    world.destination.stop()
    world.destination.files.break_at(f"{OFFSETS_TOPIC}-")
    world.destination.start()
    fail_over(world)
    world.run(2_000)
    world.destination.stop()
    world.destination.files.break_at("")
    world.destination.start()
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.committed(world.destination, "billing", "orders") == 0
