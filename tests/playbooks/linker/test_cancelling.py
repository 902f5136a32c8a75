"""cancel: what a mirror is in the middle of is taken back on both sides, until its cut is written."""

from functools import partial
from typing import Any

import pytest

from brokers.ids import TopicPartition
from linker.answers import TopicResult, Topics
from linker.commands import ChangeMirrors, ListOperations, RestoreMirrors
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_record import CutKind, MirrorRecord
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, link_both_ways, link_from_one_end
from tests.playbooks.linker.test_reversals import (
    can_write,
    change,
    is_read_only,
    is_reversed,
    record_of,
    reverse,
    reversible,
    state,
)
from tests.playbooks.linker.test_stopping import change as change_one_way
from tests.playbooks.linker.test_stopping import started
from tests.playbooks.linker.world import Host, World, caught_up

READ_ONLY = 44  # POLICY_VIOLATION
LONG = 600_000  # of virtual time, for a transition that does not give up by itself


def cancel(host: Host, **options: Any) -> TopicResult:
    answer = change(host, "cancel", **options)
    assert isinstance(answer, Topics), answer
    return answer.topics[0]


def refusal_of(result: TopicResult) -> LinkRefusal:
    assert result.refusal is not None, result
    return result.refusal


def ask_later(host: Host, command: Any, ticket: int = 999) -> int:
    """The answer is in `host.answers` once there is one."""
    host.feed(AdminAsked(ticket, command))
    return ticket


def lose_the_source(world: World) -> None:
    world.reachable = False
    world.cut()


def is_as_before(world: World) -> bool:
    """The source is its region's own, with producers, and the mirror follows."""
    if state(world.destination) is not MirrorState.ACTIVE or is_read_only(world.source):
        return False
    return caught_up(world)


def fenced(world: World) -> World:
    """The reversal has made the source's topic read-only, and is not proved: the source cannot be reached any more."""
    reverse(world.destination, timeout_ms=LONG)
    world.run_until(lambda: is_read_only(world.source), 500)
    lose_the_source(world)
    return world


@pytest.mark.parametrize("link", [link_both_ways, link_from_one_end])
@pytest.mark.parametrize("verb", ["reverse-and-start", "reverse-and-pause"])
def test_a_cancelled_reversal_leaves_both_sides_as_before_it(link: Any, verb: str) -> None:
    world = reversible(link)
    reverse(world.destination, verb, timeout_ms=LONG)
    world.run_until(lambda: is_read_only(world.source), 500)
    assert cancel(world.destination).state == "ACTIVE"
    world.run_until(lambda: is_as_before(world))
    assert can_write(world.source) and not can_write(world.destination)
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)
    assert state(world.source) is MirrorState.STOPPED
    reverse(world.destination)
    world.run_until(lambda: is_reversed(world.source, world.destination))
    assert can_write(world.destination)


def test_the_source_is_told_of_a_cancelled_reversal_once_it_is_reached() -> None:
    world = fenced(reversible())
    assert cancel(world.destination).state == "ACTIVE"
    world.run(5_000)
    assert not can_write(world.source), "nobody has told it yet"
    world.destination.stop()
    world.destination.start()
    world.reachable = True
    world.run_until(lambda: is_as_before(world))
    assert can_write(world.source)


def test_who_cancelled_and_why_is_among_the_errors_of_the_mirror_and_in_the_operator_log() -> None:
    world = fenced(reversible())
    cancel(world.destination, why="not tonight", asked_by="ann")
    error = record_of(world.destination).transition_errors[-1]
    assert error.code == "CANCELLED"
    assert error.because == "reverse-and-start was cancelled by ann: not tonight"
    (entry,) = (
        one
        for one in world.destination.ask(ListOperations()).operations
        if one.operation == "CancelMirrors"
    )
    assert (entry.resources, entry.details) == ((("mirror", "orders"),), "not tonight")


def test_a_producer_goes_on_after_a_cancelled_reversal_and_its_batch_is_stored_once() -> None:
    world = reversible(partitions=1)
    batch = {"producer_id": 7, "base_sequence": 0}
    stored = clients.send(world.source, "orders", 0, b"once", **batch)
    reverse(world.destination, timeout_ms=LONG)
    world.run_until(lambda: is_read_only(world.source), 500)
    error, _ = clients.send(world.source, "orders", 0, b"next", producer_id=7, base_sequence=1)
    assert error == READ_ONLY
    cancel(world.destination)
    world.run_until(lambda: is_as_before(world))
    assert clients.send(world.source, "orders", 0, b"once", **batch) == stored
    assert clients.send(world.source, "orders", 0, b"next", producer_id=7, base_sequence=1)[0] == 0


def test_groups_are_carried_as_before_once_a_reversal_is_cancelled() -> None:
    world = reversible(
        lambda made: link_both_ways(
            made, consumer_offset_sync_enable="true", consumer_offset_sync_ms="1000"
        ),
        partitions=1,
    )
    for host in (world.source, world.destination):
        clients.find_coordinator(host, "readers")
    assert clients.commit(world.source, "readers", "orders", 0, 1) == 0
    world.run_until(lambda: clients.committed(world.destination, "readers", "orders", 0) == 1)
    fenced(world)
    cancel(world.destination)
    world.reachable = True
    world.run_until(lambda: is_as_before(world))
    assert clients.committed(world.source, "readers", "orders", 0) == 1
    assert clients.commit(world.source, "readers", "orders", 0, 2) == 0
    world.run_until(lambda: clients.committed(world.destination, "readers", "orders", 0) == 2)


def test_a_cancelled_promotion_goes_on_as_a_mirror() -> None:
    world = started()
    lose_the_source(world)
    assert change_one_way(world, "promote", timeout_ms=LONG).refusal is None
    assert change_one_way(world, "cancel").state == "ACTIVE"
    record = world.destination.mirror("orders").record
    assert (record.generation, record.stop, record.stop_by) == (1, None, 0)
    world.reachable = True
    assert clients.send(world.source, "orders", 0, b"still mirrored")[0] == 0
    world.run_until(lambda: caught_up(world))
    assert change_one_way(world, "promote").refusal is None
    world.run_until(lambda: record_of(world.destination).state is MirrorState.STOPPED)


def breaks(world: World) -> None:
    """The disk of the mirror's partition fails, so where its log ends is not known."""
    partition = TopicPartition("orders", 0)
    world.destination.files.break_at("orders-0/")
    clients.send(world.source, "orders", 0, b"not placed")
    world.run_until(lambda: not world.destination.view.partition_state(partition).online)


def halted(world: World, link: str) -> int:
    """A failover is asked for, and cannot be made. The ticket of its answer."""
    command = ChangeMirrors(verb="failover", link=link, topics=("orders",))
    ticket = ask_later(world.destination, command)
    world.run_until(lambda: record_of(world.destination).halted)
    return ticket


@pytest.mark.parametrize("before", ["ACTIVE", "PAUSED", "FAILED"])
def test_a_failover_that_waits_for_its_ends_is_cancelled_and_the_mirror_is_what_it_was(
    before: str,
) -> None:
    world = started()
    breaks(world)
    if before == "PAUSED":
        change_one_way(world, "pause")
    if before == "FAILED":
        clients.delete_topic(world.source, "orders")
    world.run_until(lambda: record_of(world.destination).state.value == before)
    was = record_of(world.destination)
    failing = halted(world, "west-east")
    assert change_one_way(world, "cancel").state == before
    (told,) = world.destination.answers.pop(failing).topics
    assert told.refusal is not None and before in told.refusal.because
    record = record_of(world.destination)
    assert (record.error, record.reason) == (was.error, was.reason)
    world.destination.files.break_at("")
    if before == "ACTIVE":
        world.run_until(lambda: caught_up(world))
    else:
        assert change_one_way(world, "failover").state == "STOPPED"


def test_a_failover_that_ended_a_reversal_is_cancelled_with_it() -> None:
    world = reversible(partitions=1)
    breaks(world)
    fenced(world)
    halted(world, LINK)
    assert record_of(world.destination).stop is CutKind.FAILOVER
    assert cancel(world.destination).state == "ACTIVE"
    world.destination.files.break_at("")
    world.reachable = True
    world.run_until(lambda: is_as_before(world))


@pytest.mark.parametrize("pause_ms", range(0, 130, 3))
def test_a_cancel_at_any_instant_of_a_reversal_is_decided_once(pause_ms: int) -> None:
    """Either side has the topic then, with all that was acknowledged, and the answer says which."""
    world = reversible(partitions=1)
    reverse(world.destination, timeout_ms=LONG)
    world.run(pause_ms)
    told = cancel(world.destination)
    if told.refusal is None:
        assert told.state == "ACTIVE"
        world.run_until(lambda: is_as_before(world))
    else:
        world.run_until(partial(is_reversed, world.source, world.destination))
    assert [can_write(world.source), can_write(world.destination)].count(True) == 1
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)


@pytest.mark.parametrize("pause_ms", range(0, 40, 2))
@pytest.mark.parametrize("restarts", [False, True])
def test_a_cancel_at_any_instant_of_a_promotion_is_decided_once(
    pause_ms: int, restarts: bool
) -> None:
    """With `restarts` the region of the mirror dies as soon as it is asked; then the answer is not known."""
    world = started()
    assert change_one_way(world, "promote", timeout_ms=LONG).refusal is None
    world.run(pause_ms)
    command = ChangeMirrors(verb="cancel", link="west-east", topics=("orders",))
    ticket = ask_later(world.destination, command)
    if restarts:
        world.destination.stop()
        world.destination.start()
    ended = (MirrorState.ACTIVE, MirrorState.STOPPED)
    world.run_until(lambda: record_of(world.destination).state in ended)
    is_promoted = record_of(world.destination).state is MirrorState.STOPPED
    assert can_write(world.destination) is is_promoted
    if not restarts:
        (told,) = world.destination.answers.pop(ticket).topics
        assert (told.refusal is None) is not is_promoted
    if not is_promoted:
        assert clients.send(world.source, "orders", 0, b"mirrored")[0] == 0
        world.run_until(lambda: caught_up(world))


@pytest.mark.parametrize("pause_ms", range(0, 60, 3))
@pytest.mark.parametrize("stopped", ["west", "east"])
def test_a_cancel_survives_a_crash_of_either_region_at_any_instant(
    pause_ms: int, stopped: str
) -> None:
    world = reversible(partitions=1)
    reverse(world.destination, timeout_ms=LONG)
    world.run_until(lambda: is_read_only(world.source), 500)
    command = ChangeMirrors(verb="cancel", link=LINK, topics=("orders",))
    ask_later(world.destination, command)
    world.run(pause_ms)
    host = world.source if stopped == "west" else world.destination
    host.stop()
    host.start()
    world.run_until(lambda: is_as_before(world) or is_reversed(world.source, world.destination))
    assert [can_write(world.source), can_write(world.destination)].count(True) == 1


@pytest.mark.parametrize("writes", range(1, 30, 3))
def test_a_cancel_whose_disk_fails_midway_is_done_or_is_not(writes: int) -> None:
    """The disk stops taking bytes somewhere in the cancel; then the node dies."""
    world = fenced(reversible(partitions=1))
    world.destination.files.full_after(writes * 40)
    ask_later(world.destination, ChangeMirrors(verb="cancel", link=LINK, topics=("orders",)))
    world.destination.stop()
    world.destination.files.full_after(None)
    world.destination.start()
    world.reachable = True
    world.run_until(lambda: is_as_before(world) or is_reversed(world.source, world.destination))
    assert [can_write(world.source), can_write(world.destination)].count(True) == 1


def after_cut(world: World, verb: str) -> MirrorRecord:
    """At the instant when the cut is written, and the topic is not handed over yet."""
    reverse(world.destination, verb, timeout_ms=LONG)
    written: list[MirrorRecord] = []

    def has_cut() -> bool:
        found = record_of(world.destination)
        if found.cut is not None and found.state is MirrorState.PENDING_STOPPED:
            written.append(found)
        return bool(written)

    world.run_until(has_cut)
    return written[0]


@pytest.mark.parametrize(
    ("verb", "hint"), [("promote", "truncate"), ("reverse-and-start", "reverse")]
)
def test_what_was_cut_is_not_cancelled_and_the_refusal_says_what_to_do_then(
    verb: str, hint: str
) -> None:
    world = reversible()
    record = after_cut(world, verb)
    refusal = refusal_of(cancel(world.destination, validate_only=True))
    assert refusal.code == "INVALID_REQUEST"
    assert "was cut" in refusal.because and hint in refusal.hint
    refusal = refusal_of(cancel(world.destination))
    assert verb in refusal.because or "STOPPED" in refusal.because
    world.run_until(lambda: state(world.destination) is MirrorState.STOPPED)
    assert record_of(world.destination).cut == record.cut
    assert "nothing to cancel" in refusal_of(cancel(world.destination)).because


def test_the_region_of_the_source_does_not_decide_and_says_which_one_does() -> None:
    world = fenced(reversible())
    refusal = refusal_of(cancel(world.source))
    assert refusal.code == "INVALID_REQUEST" and world.destination.cluster_id in refusal.because
    assert "ask there" in refusal.hint
    assert state(world.source) is MirrorState.PENDING_MIRROR


def test_a_restore_is_not_cancelled_and_the_refusal_names_what_takes_it_back() -> None:
    world = fenced(reversible())
    assert change(world.destination, "failover").topics[0].state == "STOPPED"
    world.reachable = True
    world.run(10_000)
    assert world.source.ask(RestoreMirrors(LINK, ("orders",))).topics[0].refusal is None
    lose_the_source(world)
    assert state(world.source) is MirrorState.PENDING_SETUP_FOR_RESTORE
    refusal = refusal_of(cancel(world.source))
    assert "truncate-and-restore" in refusal.because and "mirror failover" in refusal.hint


def test_nothing_is_cancelled_that_is_not_under_way() -> None:
    world = reversible()
    refusal = refusal_of(cancel(world.destination))
    assert refusal.code == "INVALID_REQUEST" and "ACTIVE" in refusal.because
    answer = world.destination.ask(ChangeMirrors(verb="cancel", link=LINK))
    assert answer == Topics(()), "of a whole link, only what is under way"


def test_a_dry_run_changes_nothing_and_a_cancel_of_a_link_takes_back_all_that_is_under_way() -> (
    None
):
    world = fenced(reversible())
    assert cancel(world.destination, validate_only=True).refusal is None
    assert state(world.destination) is MirrorState.PENDING_SYNCHRONIZE
    answer = world.destination.ask(ChangeMirrors(verb="cancel", link=LINK))
    assert [(one.topic, one.state) for one in answer.topics] == [("orders", "ACTIVE")]
