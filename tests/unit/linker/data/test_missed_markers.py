"""Deletion markers that a source has removed count as missed by what was placed, not by what was received."""

from brokers.errors import KafkaError, Refusal
from linker.records.hole_ledger import HoleCause
from tests.unit.linker.data.stage import Stage


def holding(end: int, *, markers_from: int) -> Stage:
    """A mirror of `end` offsets, whose source has removed markers below `markers_from`."""
    stage = Stage()
    stage.region.end = end
    return removed(stage, markers_from)


def removed(stage: Stage, markers_from: int) -> Stage:
    """The source removes more."""
    stage.markers_from, stage.markers_removed_at = markers_from, stage.markers_removed_at + 10
    return stage


def doubted(stage: Stage) -> list[tuple[int, int]]:
    """What is to be recorded now."""
    return [(hole.base_offset, hole.next_offset) for hole in stage.link.holes]


def subscribed_again(stage: Stage) -> Stage:
    """After a chunk that does not continue what came before."""
    stage.chunk(90, 95)
    stage.link.holes.clear()
    return stage.later()


def test_markers_that_are_removed_while_what_was_received_is_not_placed_are_missed() -> None:
    """They were above its end when it subscribed, and below what it received then; all of that was dropped."""
    stage = holding(10, markers_from=5).start().agree(10, epoch=3).at_once()
    (raising,) = stage.proposed()
    stage.chunk(10, 20)
    removed(stage, 15).chunk(20, 30)
    assert (stage.placed(), doubted(stage)) == ([], [])
    stage.decide(raising, Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody leads"))
    stage.later().agree(10, epoch=3)
    assert doubted(stage) == [(10, 15)]
    assert stage.link.holes[0].cause is HoleCause.SOURCE_REMOVED_MARKERS


def test_what_was_placed_is_in_step_until_the_source_removes_more() -> None:
    stage = holding(10, markers_from=30).start().agree(10)
    assert doubted(stage) == [(10, 30)]
    stage.decide(stage.proposed()[0]).chunk(10, 20)
    stage.answer(stage.placed()[0])
    subscribed_again(stage).agree(20)
    assert doubted(stage) == []
    subscribed_again(removed(stage, 40)).agree(20)
    assert doubted(stage) == [(20, 40)]


def test_a_mirror_that_holds_nothing_is_in_step_as_far_as_it_is_placed() -> None:
    stage = holding(0, markers_from=30).start().agree(0).chunk(0, 10)
    stage.answer(stage.placed()[0])
    subscribed_again(stage).agree(10)
    assert doubted(stage) == []


def test_a_log_that_does_not_end_with_what_was_placed_is_not_in_step() -> None:
    stage = holding(0, markers_from=30).start().agree(0).chunk(0, 10)
    stage.answer(stage.placed()[0])
    stage.region.end = 7
    subscribed_again(stage).agree(7)
    assert doubted(stage) == [(7, 30)]
