"""What cannot be done between two regions is refused with what to do, and both keep their data and go on."""

from collections.abc import Callable
from typing import Any

import pytest

from linker.commands import AlterLinkConfigs, ChangeMirrors, CreateLink, CreateMirror, DescribeLink
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients, test_restore, test_reversals
from tests.playbooks.linker.test_bidirectional import mirror
from tests.playbooks.linker.world import Host, World, caught_up, linked


def logs(world: World) -> list[bytes]:
    return [host.log("orders", 0) for host in (world.source, world.destination)]


def test_a_second_link_of_a_name_to_another_source_is_refused_and_the_first_goes_on() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    north = Host(world, "north").start()
    clients.create_topic(north, "orders")
    clients.send(north, "orders", 0, b"of another")
    again = CreateLink(name="west-east", configs={"bootstrap.servers": "north:9092"})
    refusal = world.destination.ask(again)
    assert isinstance(refusal, LinkRefusal)
    assert refusal.code == "CLUSTER_LINK_EXISTS" and refusal.hint
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    here, there = logs(world)
    assert here == there
    link = world.destination.ask(DescribeLink("west-east"))
    assert (link.source_cluster_id, link.state) == ("cluster-west", "ACTIVE")


def test_two_regions_mirror_one_source_by_links_of_one_name() -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    north = Host(world, "north").start()
    same = CreateLink(name="west-east", configs={"bootstrap.servers": "west:9092"})
    assert not isinstance(north.ask(same), LinkRefusal)
    made = north.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert not isinstance(made, LinkRefusal)
    clients.send(world.source, "orders", 0, b"a", b"b")
    log = world.source.log("orders", 0)
    world.run_until(lambda: caught_up(world) and north.log("orders", 0) == log)
    assert world.destination.log("orders", 0) == log


@pytest.mark.parametrize("verb", ["reverse-and-start", "reverse-and-pause"])
def test_a_reversal_is_given_up_where_the_other_half_has_another_mode(verb: str) -> None:
    """The other region has a link of the name, which only mirrors from here."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    for host, address, mode in (
        (world.destination, "west:9092", "BIDIRECTIONAL"),
        (world.source, "east:9092", "DESTINATION"),
    ):
        configs = {"link.mode": mode, "bootstrap.servers": address}
        assert not isinstance(
            host.ask(CreateLink(name=test_reversals.LINK, configs=configs)), LinkRefusal
        )
    mirror(world.destination, "orders")
    test_reversals.reverse(world.destination, verb)
    world.run_until(lambda: test_reversals.state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == "REMOTE_LINK_NOT_FOUND_ERROR" and "no bidirectional link" in error.because
    assert test_reversals.can_write(world.source)
    world.run_until(lambda: caught_up(world))
    assert not test_reversals.can_write(world.destination)


@pytest.mark.parametrize("verb", ["reverse-and-start", "reverse-and-pause"])
def test_a_mirror_that_is_paused_is_not_reversed(verb: str) -> None:
    world = test_reversals.reversible()
    test_reversals.change(world.destination, "pause")
    before = logs(world)
    refusal = test_reversals.reverse(world.destination, verb).refusal
    assert refusal is not None
    assert refusal.code == "INVALID_REQUEST" and "orders is PAUSED" in refusal.because
    assert "`causeway mirror resume`" in refusal.hint
    world.run(2_000)
    assert logs(world) == before
    assert test_reversals.state(world.destination) is MirrorState.PAUSED
    assert test_reversals.can_write(world.source)
    test_reversals.change(world.destination, "resume")
    world.run_until(lambda: caught_up(world))


def pause(world: World) -> None:
    changed(world, "pause")


def promote(world: World) -> None:
    """It cannot end: the link is paused, so nothing is heard of the source."""
    paused = {"cluster.link.paused": "true"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=paused))
    command = ChangeMirrors(verb="promote", link="west-east", topics=("orders",), timeout_ms=60_000)
    answer = world.destination.ask(command)
    assert answer.topics[0].state == "PENDING_STOPPED", answer


def fail(world: World) -> None:
    """It mirrors a topic that is gone; another one has its name."""
    clients.delete_topic(world.source, "orders")
    clients.create_topic(world.source, "orders")


def changed(world: World, verb: str) -> Any:
    return world.destination.ask(ChangeMirrors(verb=verb, link="west-east", topics=("orders",)))


STATES: dict[MirrorState, Callable[[World], Any]] = {
    MirrorState.ACTIVE: lambda world: None,
    MirrorState.PAUSED: pause,
    MirrorState.PENDING_STOPPED: promote,
    MirrorState.FAILED: fail,
}


@pytest.mark.parametrize("there", STATES, ids=lambda one: one.name)
def test_a_topic_whose_mirror_is_not_stopped_is_not_truncated(there: MirrorState) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    STATES[there](world)
    world.run_until(lambda: test_restore.state(world.destination) is there)
    test_restore.link_back(world)
    before = logs(world)
    refusal = test_restore.restore(world).refusal
    assert refusal is not None
    assert refusal.code == "REMOTE_MIRROR_NOT_FOUND_ERROR" and refusal.hint
    world.run(2_000)
    assert logs(world) == before and not test_restore.orphans(world.source)
    assert clients.send(world.source, "orders", 0, b"still mine")[0] == 0
    assert test_restore.state(world.destination) is there


def test_a_topic_that_a_group_reads_is_not_truncated() -> None:
    world = test_restore.failed_over()
    test_restore.link_back(world)
    clients.commit(world.source, "billing", "orders", 0, 5)
    member = clients.join(world.source, "billing", "orders")
    before = logs(world)
    refusal = test_restore.restore(world).refusal
    assert refusal is not None and refusal.code == "CONSUMER_GROUP_IN_USE_ERROR"
    assert "billing" in refusal.because and refusal.hint
    world.run(2_000)
    assert logs(world) == before and not test_restore.orphans(world.source)
    assert clients.committed(world.source, "billing", "orders") == 5
    assert clients.send(world.source, "orders", 0, b"still mine")[0] == 0
    clients.leave(world.source, "billing", member)
    assert test_restore.restore(world).refusal is None
    world.run_until(lambda: test_restore.is_restored(world) and test_restore.same_logs(world))
