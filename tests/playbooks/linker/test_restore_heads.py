"""A region that took over with the end of a log only: the old primary, as its mirror, keeps what nobody else has."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brokers.ids import TopicPartition
from federation.audit.comparison.findings import Class
from federation.audit.verdict.verdicts import Verdict
from linker.commands import ChangeMirrors
from linker.frames import Agreed
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.audits import audited
from tests.playbooks.linker.test_bidirectional import LINK, described, link_both_ways, mirror
from tests.playbooks.linker.test_restore import (
    FullStore,
    is_restored,
    link_back,
    orphans,
    restore,
    state,
)
from tests.playbooks.linker.test_reversals import is_reversed, reverse
from tests.playbooks.linker.world import Host, World, caught_up, linked

ORDERS = TopicPartition("orders", 0)


def begun_late(world: World | None = None, *, copied: bool = True) -> World:
    """East began at offset 2, and was failed over at 3, or at 2 if nothing was `copied`; both have gone on since."""
    world = (world or World()).start()
    clients.create_topic(world.source, "orders", flush_messages="1")
    clients.send(world.source, "orders", 0, b"first")
    clients.send(world.source, "orders", 0, b"second")
    linked(world, source_fencing_enable="false", mirror_start_offset_spec="latest")
    world.run_until(lambda: caught_up(world))
    if copied:
        clients.send(world.source, "orders", 0, b"third")
        world.run_until(lambda: caught_up(world))
    fail_over(world)
    return world


def fail_over(world: World) -> None:
    world.reachable = False
    world.cut()
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].state == "STOPPED"
    clients.send(world.source, "orders", 0, b"orphan")
    for value in (b"of east", b"and another"):
        clients.send(world.destination, "orders", 0, value)
    world.reachable = True


def restored(world: World) -> None:
    link_back(world)
    restore(world)
    world.run_until(lambda: is_restored(world) and caught_up(world))
    world.run(2_000)


def log_start(host: Host) -> int:
    found = host.view.partition_state(ORDERS)
    assert found is not None
    return found.log_start_offset


@pytest.mark.parametrize("copied", [True, False])
def test_what_the_new_primary_never_had_stays_in_the_old_one(copied: bool) -> None:
    world = begun_late(copied=copied)
    cut = 3 if copied else 2
    head = world.source.offsets("orders", 0)[:cut]
    restored(world)
    assert log_start(world.source) == 0 < log_start(world.destination) == 2
    assert world.source.offsets("orders", 0)[:cut] == head == list(range(cut))
    assert world.source.log("orders", 0).endswith(world.destination.log("orders", 0))
    (folder,) = orphans(world.source)
    assert folder.startswith(f"orders-0/{cut}-{cut + 1}.e")


def test_it_stays_after_a_restart_and_a_new_connection() -> None:
    world = begun_late()
    restored(world)
    world.source.stop()
    world.source.start()
    world.run_until(lambda: caught_up(world))
    world.cut()
    clients.send(world.destination, "orders", 0, b"more")
    world.run_until(lambda: caught_up(world))
    world.run(2_000)
    assert log_start(world.source) == 0
    assert world.source.log("orders", 0).endswith(world.destination.log("orders", 0))


def test_what_the_new_primary_deletes_is_deleted() -> None:
    world = begun_late()
    restored(world)
    assert clients.delete_records(world.destination, "orders", 0, 4) == 0
    world.run_until(lambda: log_start(world.source) == 4)


def test_what_it_deleted_before_the_way_back_is_deleted_too() -> None:
    world = begun_late()
    assert clients.delete_records(world.destination, "orders", 0, 4) == 0
    restored(world)
    assert log_start(world.source) == 4


@pytest.mark.parametrize("log_start", [2, 4], ids=["trimmed", "skipped"])
def test_nothing_is_deleted_before_the_tail_is_sealed(log_start: int) -> None:
    """A failover then makes the topic what it was. `log_start` is of a partition without a tail, which ends at 2."""
    disk = FullStore()
    world = failed_over_full(disk)
    clients.send(world.destination, "orders", 1, b"c", b"d")
    clients.delete_records(world.destination, "orders", 1, log_start)
    link_back(world)
    restore(world)
    world.run(5_000)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    assert world.source.offsets("orders", 1)[0] == 0
    there = world.source.view.partition_state(TopicPartition("orders", 1))
    assert there is not None and there.log_start_offset == 0
    disk.refuses = False
    world.run_until(lambda: is_restored(world) and caught_up(world))
    there = world.source.view.partition_state(TopicPartition("orders", 1))
    assert there is not None and there.log_start_offset == log_start


def failed_over_full(disk: FullStore) -> World:
    """West, whose orphan store is full, has a tail in the first of two partitions."""
    world = World()
    world.source.files = disk
    world.start()
    clients.create_topic(world.source, "orders", 2)
    for index in range(2):
        clients.send(world.source, "orders", index, b"a", b"b")
    linked(world, source_fencing_enable="false")
    world.run_until(lambda: caught_up(world))
    fail_over(world)
    return world


def test_a_log_that_ends_below_where_the_new_primary_began_is_not_deleted() -> None:
    """It lost what it had not synced, and only that is between."""
    world = begun_late()
    world.source.stop()
    for name in list(world.source.files.list("orders-0")):
        if name.endswith(".log"):
            world.source.files.truncate(
                f"orders-0/{name}", world.source.files.size(f"orders-0/{name}") // 4
            )
    world.source.start()
    before = world.source.log("orders", 0)
    link_back(world)
    restore(world)
    world.run(10_000)
    assert state(world.source) is MirrorState.FAILED
    assert "began at offset 2" in world.source.mirror("orders").reason
    assert world.source.log("orders", 0) == before
    command = ChangeMirrors(verb="failover", link="east-west", topics=("orders",))
    assert world.source.ask(command).topics[0].state == "STOPPED"
    assert clients.send(world.source, "orders", 0, b"writable again")[0] == 0


@pytest.mark.parametrize("verb", ["reverse-and-start", "reverse-and-pause"])
def test_a_reversal_keeps_it_as_well(verb: str) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"first")
    clients.send(world.source, "orders", 0, b"second")
    link_both_ways(world, mirror_start_offset_spec="latest")
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    mirror(world.destination, "orders")
    world.run_until(lambda: caught_up(world))
    clients.send(world.source, "orders", 0, b"third")
    world.run_until(lambda: caught_up(world))
    reverse(world.destination, verb)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    if verb == "reverse-and-pause":
        world.source.ask(ChangeMirrors(verb="resume", link=LINK, topics=("orders",)))
    clients.send(world.destination, "orders", 0, b"of east")
    world.run_until(lambda: caught_up(world))
    world.run(2_000)
    assert log_start(world.source) == 0 < log_start(world.destination) == 2
    assert world.source.log("orders", 0).endswith(world.destination.log("orders", 0))
    reverse(world.source)
    world.run_until(lambda: is_reversed(world.destination, world.source))
    clients.send(world.source, "orders", 0, b"of west")
    world.run_until(lambda: caught_up(world))
    assert log_start(world.source) == 0
    assert log_start(world.destination) == 2


class Older(World):
    """East is of a release that does not say where its log began."""

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if host is self.destination and isinstance(frame, Agreed):
            frame = replace(frame, began_at=-1)
        super().send(host, stream, frame)


def test_what_a_source_of_an_older_release_deletes_from_then_on_is_deleted() -> None:
    world = begun_late(Older())
    restored(world)
    assert log_start(world.source) == 0
    clients.delete_records(world.destination, "orders", 0, 4)
    world.run_until(lambda: log_start(world.source) == 4)


def test_an_audit_of_what_is_on_the_disks_says_kept(tmp_path: Path) -> None:
    world = begun_late()
    restored(world)
    result = audited(world.destination, world.source, tmp_path, "orders")
    assert result.verdict is Verdict.KEPT, result
    assert [one.kind for one in result.findings] == [Class.EXPIRED_ON_ONE_SIDE]
