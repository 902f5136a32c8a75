"""The way back of a region that has deleted records of its own: it has them all from the one that took its place."""

from brokers.ids import TopicPartition
from linker.commands import ChangeMirrors, ListHoles
from linker.records.hole_ledger import HoleCause
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_restore import (
    failed_over,
    is_restored,
    link_back,
    orphan_values,
    orphans,
    restore,
    same_logs,
)
from tests.playbooks.linker.world import World, linked

PARTITION = TopicPartition("orders", 0)


def with_nothing_in_common() -> World:
    """East was failed over before anything had come over. Of the old primary's records the first one is deleted."""
    world = World()
    world.start()
    clients.create_topic(world.source, "orders", 1, flush_messages="1")
    linked(world, source_fencing_enable="false")
    world.reachable = False
    world.cut()
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].state == "STOPPED"
    world.reachable = True
    clients.send(world.source, "orders", 0, b"deleted")
    clients.send(world.source, "orders", 0, b"orphan")
    assert clients.delete_records(world.source, "orders", 0, 1) == 0
    clients.send(world.destination, "orders", 0, b"a", b"b", b"c")
    return world


def restored(world: World) -> World:
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world) and same_logs(world))
    return world


def log_starts(world: World) -> list[int]:
    states = [host.view.partition_state(PARTITION) for host in (world.source, world.destination)]
    return [-1 if state is None else state.log_start_offset for state in states]


def test_what_it_deleted_was_its_own_and_other_records_are_there_now() -> None:
    world = restored(with_nothing_in_common())
    assert log_starts(world) == [0, 0]


def test_what_was_deleted_is_no_orphan() -> None:
    """Its segment still holds it. Neither the tail nor the ledger counts it."""
    world = restored(with_nothing_in_common())
    (folder,) = orphans(world.source)
    sealed = orphan_values(world.source, folder)
    assert b"orphan" in sealed and b"deleted" not in sealed
    assert folder.startswith("orders-0/1-2.e")
    (hole,) = world.source.ask(ListHoles()).holes
    assert (hole.base_offset, hole.next_offset, hole.size) == (1, 2, len(sealed))
    assert [one.why for one in world.source.changes if one.to == "restored"] == [
        "1 records are orphans"
    ]


def test_what_it_deleted_of_what_both_had_is_in_the_ledger() -> None:
    """The region that took its place still has it, and no link brings it."""
    world = failed_over()
    assert clients.delete_records(world.source, "orders", 0, 1) == 0
    restored(world)
    assert log_starts(world) == [1, 0]
    holes = world.source.ask(ListHoles()).holes
    assert [(one.base_offset, one.next_offset, one.cause) for one in holes] == [
        (0, 1, HoleCause.DELETED_EARLIER),
        (2, 5, HoleCause.DIVERGENCE_CUT),
    ]
    world.source.stop()
    world.source.start()
    clients.send(world.destination, "orders", 0, b"later")
    world.run_until(lambda: same_logs(world))
    assert world.source.ask(ListHoles()).holes == holes


def test_both_have_deleted_up_to_the_middle_of_a_batch() -> None:
    world = with_nothing_in_common()
    assert clients.delete_records(world.destination, "orders", 0, 1) == 0
    assert log_starts(restored(world)) == [1, 1]
