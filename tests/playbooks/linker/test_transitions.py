"""What mirrors are in the middle of is listed: the step, what it waits for, whether it can be cancelled."""

from linker.answers import Mirrors, Transition, TransitionStep
from linker.commands import ListMirrors, RestoreMirrors
from tests.playbooks.linker.test_bidirectional import LINK
from tests.playbooks.linker.test_cancelling import (
    LONG,
    after_cut,
    breaks,
    cancel,
    fenced,
    halted,
    is_as_before,
    lose_the_source,
    refusal_of,
)
from tests.playbooks.linker.test_reversals import change, record_of, reverse, reversible
from tests.playbooks.linker.test_stopping import started
from tests.playbooks.linker.world import Host


def under_way(host: Host) -> list[Transition | None]:
    answer = host.ask(ListMirrors(in_transition=True))
    assert isinstance(answer, Mirrors), answer
    return [one.transition for one in answer.mirrors]


def step_of(host: Host) -> TransitionStep:
    (transition,) = under_way(host)
    assert transition is not None
    assert transition.waits_for
    return transition.step


def test_what_is_under_way_is_listed_on_both_sides_with_its_step_and_who_asked() -> None:
    world = reversible()
    assert under_way(world.destination) == under_way(world.source) == []
    asked_at = world.now
    reverse(world.destination, timeout_ms=LONG, asked_by="ann", why="exercise")
    (begun,) = under_way(world.destination)
    assert begun == Transition(
        verb="reverse-and-start",
        step=TransitionStep.FENCING,
        since=asked_at,
        waits_for="the source's topic is not read-only yet",
        can_be_cancelled=True,
        gives_up_at=asked_at + LONG,
        asked_by="ann",
        why="exercise",
    )
    world.run_until(lambda: record_of(world.destination).fenced_at >= 0)
    lose_the_source(world)
    assert step_of(world.destination) is TransitionStep.PROVING
    (there,) = under_way(world.source)
    assert there is not None
    assert (there.verb, there.step) == ("reverse-and-start", TransitionStep.AWAITING_CUT)
    assert not there.can_be_cancelled


def test_a_source_that_has_not_heard_of_a_cancel_is_listed_until_it_has() -> None:
    world = reversible()
    reverse(world.destination, timeout_ms=LONG)
    world.run_until(lambda: record_of(world.destination).fenced_at >= 0)
    lose_the_source(world)
    cancel(world.destination)
    assert step_of(world.destination) is TransitionStep.WITHDRAWING
    assert refusal_of(cancel(world.destination)).code == "INVALID_REQUEST"
    world.reachable = True
    world.run_until(lambda: is_as_before(world))
    world.run_until(lambda: not under_way(world.destination) and not under_way(world.source))


def test_a_cut_and_a_failover_that_waits_are_listed_as_they_are() -> None:
    world = reversible()
    after_cut(world, "promote")
    (cut,) = under_way(world.destination)
    assert cut is not None and not cut.can_be_cancelled
    assert (cut.step, cut.gives_up_at) == (TransitionStep.HANDING_OVER, 0)
    waiting = started()
    breaks(waiting)
    halted(waiting, "west-east")
    (transition,) = under_way(waiting.destination)
    assert transition is not None and transition.can_be_cancelled
    assert (transition.verb, transition.step) == ("failover", TransitionStep.CUTTING)
    assert (transition.gives_up_at, "ends of partitions 0" in transition.waits_for) == (0, True)


def test_the_steps_of_a_restore_are_listed() -> None:
    world = fenced(reversible())
    assert change(world.destination, "failover").topics[0].state == "STOPPED"
    world.reachable = True
    world.run(10_000)
    assert step_of(world.source) is TransitionStep.AWAITING_CUT
    asked = RestoreMirrors(LINK, ("orders",), why="the way back", asked_by="ann")
    assert world.source.ask(asked).topics[0].refusal is None
    lose_the_source(world)
    (restore,) = under_way(world.source)
    assert restore is not None
    assert (restore.asked_by, restore.why) == ("ann", "the way back")
    assert restore is not None and not restore.can_be_cancelled
    assert (restore.verb, restore.step) == ("truncate-and-restore", TransitionStep.COMPARING)
