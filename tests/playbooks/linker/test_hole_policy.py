"""`mirror.hole.policy`: what the source deleted too early is skipped, or waits for an operator, or ends the mirror."""

import pytest

from linker.commands import AlterLinkConfigs, ChangeMirrors
from linker.errors import MirrorError
from linker.records.hole_ledger import HoleCause
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_holes import holes, produce
from tests.playbooks.linker.world import World, caught_up, linked

LINK = "west-east"


def behind(policy: str, partitions: int = 1) -> World:
    """The mirror holds [0, 3) of each partition; the source has deleted [0, 7) and ends at 9."""
    world = World().start()
    clients.create_topic(world.source, "orders", partitions)
    linked(world, mirror_hole_policy=policy)
    fill(world, partitions, 3)
    world.run_until(lambda: caught_up(world))
    world.reachable = False
    world.cut()
    fill(world, partitions, 6)
    for partition in range(partitions):
        assert clients.delete_records(world.source, "orders", partition, 7) == 0
    world.reachable = True
    return world


def fill(world: World, partitions: int, count: int) -> None:
    for partition in range(partitions):
        for index in range(count):
            clients.send(world.source, "orders", partition, b"%d" % index)


def state(world: World) -> MirrorState:
    return world.destination.mirror("orders").record.state


def restart(world: World) -> None:
    world.destination.stop()
    world.destination.start()


def resume(world: World) -> None:
    (done,) = world.destination.ask(
        ChangeMirrors(verb="resume", link=LINK, topics=("orders",))
    ).topics
    assert done.refusal is None


def test_a_mirror_that_pauses_skips_nothing_until_it_is_resumed() -> None:
    world = behind("pause")
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    described = world.destination.mirror("orders")
    assert "orders-0 [3, 7)" in described.reason
    assert "causeway mirror resume" in described.hint
    assert [one.state for one in described.lags] == [
        "PAUSED: the source begins at 7 (mirror.hole.policy)"
    ]
    assert holes(world) == []
    assert world.destination.offsets("orders", 0) == [0, 1, 2]
    resume(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 7, HoleCause.SOURCE_DELETED_RECORDS)]
    assert world.destination.offsets("orders", 0)[-2:] == [7, 8]
    assert world.destination.mirror("orders").reason == ""
    assert world.destination.mirror("orders").hint == ""
    pause = ChangeMirrors(verb="pause", link=LINK, topics=("orders",))
    assert world.destination.ask(pause).topics[0].refusal is None
    described = world.destination.mirror("orders")
    assert (described.shown, described.hint) == (MirrorState.PAUSED, ""), "by an operator"


def test_one_decision_covers_the_holes_of_all_partitions() -> None:
    world = behind("pause", partitions=4)
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    described = world.destination.mirror("orders")
    assert dict(described.record.holes_shown) == dict.fromkeys(range(4), 7)
    assert "and 1 more" in described.reason
    resume(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 7, HoleCause.SOURCE_DELETED_RECORDS)] * 4


def test_what_was_accepted_stays_so_over_a_restart_and_a_later_hole_pauses_again() -> None:
    world = behind("pause")
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    restart(world)
    world.run(5_000)
    assert (state(world), holes(world)) == (MirrorState.PAUSED, [])
    resume(world)
    restart(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 7, HoleCause.SOURCE_DELETED_RECORDS)]
    world.reachable = False
    world.cut()
    produce(world, 4)
    clients.delete_records(world.source, "orders", 0, 12)
    world.reachable = True
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    assert "orders-0 [9, 12)" in world.destination.mirror("orders").reason
    assert holes(world) == [(3, 7, HoleCause.SOURCE_DELETED_RECORDS)]


def test_who_resumes_accepts_the_hole_as_it_has_become() -> None:
    """A source that deletes all the time would never wait until somebody has seen its newest hole."""
    world = behind("pause")
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    clients.delete_records(world.source, "orders", 0, 8)
    resume(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 8, HoleCause.SOURCE_DELETED_RECORDS)]


def test_promotions_that_are_asked_for_again_and_again_do_not_prevent_the_pause() -> None:
    world = behind("pause")
    asked = ChangeMirrors(verb="promote", link=LINK, topics=("orders",), timeout_ms=3_000)
    shown = []
    while MirrorState.PAUSED not in shown and len(shown) < 100:
        world.destination.ask(asked)
        world.run(300)
        shown.append(state(world))
    assert shown[-1] is MirrorState.PAUSED


def test_a_mirror_that_fails_keeps_what_it_has() -> None:
    world = behind("fail")
    world.run_until(lambda: state(world) is MirrorState.FAILED)
    described = world.destination.mirror("orders")
    assert described.record.error is MirrorError.ILLEGAL_STATE
    assert "orders-0 [3, 7)" in described.reason
    assert (holes(world), world.destination.offsets("orders", 0)) == ([], [0, 1, 2])


def test_the_policy_is_changed_without_a_restart() -> None:
    world = behind("pause")
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    change = AlterLinkConfigs(
        name=LINK, sets={"mirror.hole.policy": "continue-and-record"}, deletes=()
    )
    world.destination.ask(change)
    clients.delete_records(world.source, "orders", 0, 8)
    resume(world)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(3, 8, HoleCause.SOURCE_DELETED_RECORDS)]


@pytest.mark.parametrize("policy", ["pause", "fail"])
def test_a_new_mirror_begins_where_its_source_does(policy: str) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    produce(world, 10)
    clients.delete_records(world.source, "orders", 0, 4)
    linked(world, mirror_hole_policy=policy)
    world.run_until(lambda: caught_up(world))
    assert holes(world) == [(0, 4, HoleCause.SOURCE_DELETED_RECORDS)]


def test_a_promotion_that_meets_a_hole_is_given_up_and_the_mirror_pauses() -> None:
    world = behind("pause")
    asked = ChangeMirrors(verb="promote", link=LINK, topics=("orders",), timeout_ms=5_000)
    (begun,) = world.destination.ask(asked).topics
    assert begun.state == "PENDING_STOPPED"
    world.run_until(lambda: state(world) is MirrorState.PAUSED)
    (given_up,) = world.destination.mirror("orders").record.transition_errors
    assert "gave up" in given_up.because
    assert holes(world) == []
