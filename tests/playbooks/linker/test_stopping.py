"""Promote and failover: what a mirror must hold before it is cut, and what is known of what it lacks."""

from typing import Any

import pytest

from brokers.ids import TopicPartition
from linker.answers import TopicResult, Topics
from linker.commands import AlterLinkConfigs, ChangeMirrors, DeleteLink
from linker.events import AdminAsked
from linker.records.mirror_record import CutKind
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked


def change(world: World, verb: str, **options: Any) -> TopicResult:
    command = ChangeMirrors(verb=verb, link="west-east", topics=("orders",), **options)
    answer = world.destination.ask(command)
    assert isinstance(answer, Topics), answer
    return answer.topics[0]


def started(partitions: int = 1, **configs: str) -> World:
    world = World().start()
    clients.create_topic(world.source, "orders", partitions)
    linked(world, **configs)
    for index in range(partitions):
        clients.send(world.source, "orders", index, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def state(world: World) -> MirrorState:
    return world.destination.mirror("orders").record.state


def test_promote_waits_for_a_fresh_word_of_the_source_and_cuts_at_zero_lag() -> None:
    world = started(2)
    assert change(world, "promote").state == "PENDING_STOPPED"
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    record = world.destination.mirror("orders").record
    assert record.cut is not None
    assert record.cut.kind is CutKind.PROMOTE
    assert [(one.offset, one.missing) for one in record.cut.partitions] == [(2, 0), (2, 0)]
    assert record.generation == 2
    assert clients.send(world.destination, "orders", 0, b"mine now") == (0, 2)


def test_promote_without_its_source_gives_up_and_the_mirror_goes_on() -> None:
    world = started()
    world.reachable = False
    world.cut()
    assert change(world, "promote", timeout_ms=2_000).refusal is None
    world.run(1_000)
    assert state(world) is MirrorState.PENDING_STOPPED
    world.run(2_000)
    record = world.destination.mirror("orders").record
    assert record.state is MirrorState.ACTIVE
    assert record.transition_errors[0].code == "CLUSTER_LINK_UNAVAILABLE"
    world.reachable = True
    clients.send(world.source, "orders", 0, b"still mirrored")
    world.run_until(lambda: caught_up(world))


def test_promote_on_a_paused_link_says_what_it_waits_for() -> None:
    world = started()
    sets = {"cluster.link.paused": "true"}
    world.destination.ask(AlterLinkConfigs(name="west-east", sets=sets))
    assert change(world, "promote", timeout_ms=2_000).refusal is None
    world.run(3_000)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == "CLUSTER_LINK_UNAVAILABLE"
    assert error.because == "promote gave up: link west-east is paused here (cluster.link.paused)"


def test_a_promotion_outlives_a_restart_of_its_node() -> None:
    world = started()
    world.reachable = False
    world.cut()
    change(world, "promote", timeout_ms=30_000)
    world.destination.stop()
    world.reachable = True
    world.destination.start()
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    assert clients.send(world.destination, "orders", 0, b"mine now") == (0, 2)


def test_failover_needs_no_source_and_says_what_it_knows_to_be_lost() -> None:
    world = started()
    world.delay_ms = 200
    clients.send(world.source, "orders", 0, b"c", b"d", b"e")
    world.run(100)
    world.source.stop()
    assert change(world, "failover").state == "STOPPED"
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.kind is CutKind.FAILOVER
    assert (cut.partitions[0].offset, cut.partitions[0].missing) == (2, 0), "it never heard of more"
    assert cut.partitions[0].source_clock < cut.at


def test_failover_counts_what_the_source_told_of_and_the_mirror_lacks() -> None:
    world = started()
    world.destination.files.full_after(0)
    clients.send(world.source, "orders", 0, b"c", b"d", b"e")
    world.run(500)
    world.destination.files.full_after(None)
    world.source.stop()
    world.run_until(
        lambda: world.destination.view.partition_state(TopicPartition("orders", 0)).online
    )
    assert change(world, "failover").state == "STOPPED"
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert (cut.partitions[0].offset, cut.partitions[0].missing) == (2, 3)


def test_the_new_history_begins_above_every_leader_epoch_in_the_log() -> None:
    world = started()
    for _ in range(3):
        world.source.stop()
        world.source.start()
    clients.send(world.source, "orders", 0, b"c")
    world.run_until(lambda: caught_up(world))
    before = world.destination.view.partition_state(TopicPartition("orders", 0))
    change(world, "failover")
    after = world.destination.view.partition_state(TopicPartition("orders", 0))
    assert before is not None
    assert after is not None
    assert after.leader_epoch > max(epoch for epoch, _ in before.epochs)
    assert after.epochs == (*before.epochs, (after.leader_epoch, 3))


def test_after_the_cut_nothing_of_the_source_arrives_any_more() -> None:
    world = started()
    world.delay_ms = 100
    clients.send(world.source, "orders", 0, b"under way")
    world.run(20)
    change(world, "failover")
    clients.send(world.destination, "orders", 0, b"ours")
    log = world.destination.log("orders", 0)
    for _ in range(3):
        clients.send(world.source, "orders", 0, b"late")
        world.run(500)
    assert world.destination.log("orders", 0) == log


def test_failover_while_promote_is_pending_wins() -> None:
    world = started()
    world.reachable = False
    world.cut()
    change(world, "promote", timeout_ms=60_000)
    assert change(world, "failover").state == "STOPPED"
    record = world.destination.mirror("orders").record
    assert record.cut is not None
    assert record.cut.kind is CutKind.FAILOVER
    assert record.generation == 2


def test_a_second_failover_is_refused_with_the_state() -> None:
    world = started()
    change(world, "failover")
    again = change(world, "failover")
    assert again.refusal is not None
    assert "STOPPED" in again.refusal.because
    assert "writable already" in again.refusal.because
    assert "mirror decisions" in again.refusal.hint


def test_a_refusal_says_what_to_do_first() -> None:
    world = started()
    assert change(world, "pause").state == "PAUSED"
    refusal = change(world, "promote").refusal
    assert refusal is not None and "mirror resume" in refusal.hint
    assert change(world, "resume").state == "ACTIVE"
    world.reachable = False
    world.cut()
    assert change(world, "promote", timeout_ms=60_000).state == "PENDING_STOPPED"
    refusal = change(world, "promote", timeout_ms=60_000).refusal
    assert refusal is not None and "mirror transitions" in refusal.hint


@pytest.mark.parametrize("verb", ["promote", "failover", "pause", "resume"])
def test_validate_only_changes_nothing(verb: str) -> None:
    world = started()
    assert change(world, verb, validate_only=True).refusal is None
    world.run(1_000)
    assert state(world) is MirrorState.ACTIVE
    assert world.destination.mirror("orders").record.generation == 1


def test_a_paused_mirror_stays_read_only_and_goes_on_where_it_stopped() -> None:
    world = started()
    assert change(world, "pause").state == "PAUSED"
    clients.send(world.source, "orders", 0, b"c")
    world.run(1_000)
    assert not caught_up(world)
    assert clients.send(world.destination, "orders", 0, b"x")[0] != 0
    assert change(world, "promote").refusal is not None, "paused mirrors prove nothing"
    assert change(world, "resume").state == "ACTIVE"
    world.run_until(lambda: caught_up(world))


def test_a_paused_mirror_can_be_failed_over() -> None:
    world = started()
    change(world, "pause")
    assert change(world, "failover").state == "STOPPED"


def test_a_mirror_that_failed_can_be_failed_over() -> None:
    world = started()
    clients.delete_topic(world.source, "orders")
    world.run_until(lambda: state(world) is MirrorState.FAILED)
    assert change(world, "failover").state == "STOPPED"
    assert clients.send(world.destination, "orders", 0, b"ours") == (0, 2)


@pytest.mark.parametrize("writes", range(1, 40, 3))
def test_a_failover_cut_short_by_a_crash_is_finished_by_the_next_start(writes: int) -> None:
    """The disk stops taking bytes somewhere between the cut and the end; then the node dies."""
    world = started()
    world.destination.files.full_after(writes * 40)
    command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
    world.destination.feed(AdminAsked(99, command))
    world.destination.stop()
    world.destination.files.full_after(None)
    world.destination.start()
    world.run(5_000)
    found = state(world)
    if found is MirrorState.ACTIVE:  # it died before the decision was written
        clients.send(world.source, "orders", 0, b"c")
        world.run_until(lambda: caught_up(world))
    else:
        assert found is MirrorState.STOPPED
        assert clients.send(world.destination, "orders", 0, b"ours") == (0, 2)


def test_a_link_with_live_mirrors_is_deleted_only_by_force_which_fails_them_over() -> None:
    world = started()
    refused = world.destination.ask(DeleteLink(name="west-east"))
    assert refused.code == "CLUSTER_LINK_IN_USE"
    done = world.destination.ask(DeleteLink(name="west-east", force=True))
    assert [one.state for one in done.topics] == ["STOPPED"]
    assert clients.send(world.destination, "orders", 0, b"ours")[0] == 0
    assert world.destination.linker.links == {}
    assert world.destination.mirror("orders").record.cut is not None, "the record of the cut stays"


def test_a_link_with_a_pending_promotion_can_not_be_deleted() -> None:
    world = started()
    world.reachable = False
    world.cut()
    change(world, "promote")
    refused = world.destination.ask(DeleteLink(name="west-east", force=True))
    assert refused.code == "INVALID_REQUEST"
