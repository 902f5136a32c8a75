"""Two histories agree exactly as far as the logs they stand for do."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from linker.data.lineage import compare, epoch_before
from linker.errors import MirrorError

Log = list[int]  # the leader epoch of each offset: one leader an epoch writes an offset once


def history(log: Log) -> tuple[tuple[int, int], ...]:
    return tuple(
        (epoch, offset)
        for offset, epoch in enumerate(log)
        if offset == 0 or log[offset - 1] != epoch
    )


def common(one: Log, other: Log) -> int:
    """How far two logs hold the same records."""
    offset = 0
    while offset < min(len(one), len(other)) and one[offset] == other[offset]:
        offset += 1
    return offset


@st.composite
def two_logs(draw: Any) -> tuple[Log, Log]:
    """A shared beginning, then each its own; an epoch that both use after parting would have had two leaders."""
    shared = sorted(draw(st.lists(st.integers(0, 6), max_size=12)))
    last = shared[-1] if shared else 0
    mine = draw(st.sets(st.integers(last + 1, last + 8), max_size=4))
    theirs = draw(st.sets(st.integers(last + 1, last + 8), max_size=4)) - mine
    tails = [
        sorted(draw(st.lists(st.sampled_from(sorted(epochs)), max_size=6))) if epochs else []
        for epochs in (mine, theirs)
    ]
    more = [last] * draw(st.integers(0, 3)) if not tails[0] and shared else []
    return shared + tails[0], shared + more + tails[1]


@given(two_logs(), st.integers(1, 9), st.booleans())
@example(([1], [3]), 1, True)
def test_an_epoch_in_which_the_mirror_has_written_nothing_says_nothing(
    logs: tuple[Log, Log], later: int, is_known: bool
) -> None:
    """Its region has led the topic before, and the source's leader may have followed it: or not heard of that epoch.
    Who follows a leader has its records."""
    mirror, source = logs
    ends = {"log_start": 0, "log_end": len(source)}
    empty = max([*mirror, *source], default=0) + later, len(mirror)
    theirs = history(source)
    if is_known and source == mirror:
        theirs += (empty,)
    expected = compare(history(mirror), len(mirror), history(source), **ends)
    assert compare((*history(mirror), empty), len(mirror), theirs, **ends) == expected


def test_the_last_epoch_of_a_log_whose_records_are_all_deleted_counts() -> None:
    verdict = compare(((6, 9),), 9, ((5, 2),), log_start=2, log_end=12)
    assert verdict.error is MirrorError.NON_MONOTONIC_SOURCE_EPOCH


@given(two_logs())
def test_the_verdict_is_that_of_the_logs(logs: tuple[Log, Log]) -> None:
    mirror, source = logs
    verdict = compare(
        history(mirror), len(mirror), history(source), log_start=0, log_end=len(source)
    )
    agreed = common(mirror, source)
    if agreed == len(mirror):
        assert verdict.error is MirrorError.NO_ERROR
        assert verdict.agreed_offset == len(mirror)
    else:
        assert verdict.error in (
            MirrorError.UNEXPECTED_TRUNCATION,
            MirrorError.NON_MONOTONIC_SOURCE_EPOCH,
        )
        assert verdict.agreed_offset == agreed


@given(two_logs(), st.data())
def test_below_where_a_source_began_there_is_nothing_to_differ_in(
    logs: tuple[Log, Log], draw: Any
) -> None:
    mirror, source = logs
    began_at = draw.draw(st.integers(0, common(mirror, source)))
    kept = tuple((epoch, began_at + offset) for epoch, offset in history(source[began_at:]))
    verdict = compare(
        history(mirror),
        len(mirror),
        kept,
        log_start=began_at,
        log_end=len(source),
        began_at=began_at,
    )
    assert verdict.agreed_offset == common(mirror, source)


def test_a_mirror_that_is_ahead_is_a_truncated_source() -> None:
    verdict = compare(((0, 0),), 10, ((0, 0),), log_start=0, log_end=7)
    assert verdict[:2] == (7, MirrorError.UNEXPECTED_TRUNCATION)


@given(two_logs(), st.data())
def test_where_a_mirror_has_deleted_what_both_had_nothing_of_the_source_is_missing(
    logs: tuple[Log, Log], draw: Any
) -> None:
    """The source took the topic over: its leader epochs since then are above all of the mirror's."""
    mirror, source = logs
    parted = common(mirror, source)
    source = source[:parted] + [each + 1_000 for each in source[parted:]]
    start = draw.draw(st.integers(0, len(mirror)))
    kept = tuple((epoch, start + offset) for epoch, offset in history(mirror[start:]))
    agreed = compare(kept, len(mirror), history(source), log_start=0, log_end=len(source))[0]
    if kept and parted < min(len(mirror), len(source)):
        assert agreed == parted


def test_a_source_at_an_older_leader_epoch_is_told_apart() -> None:
    verdict = compare(((0, 0), (4, 5)), 6, ((0, 0),), log_start=0, log_end=9)
    assert verdict[:2] == (5, MirrorError.NON_MONOTONIC_SOURCE_EPOCH)


def test_an_empty_mirror_agrees_with_everyone() -> None:
    assert compare((), 0, ((3, 0),), log_start=0, log_end=9).error is MirrorError.NO_ERROR
    assert compare((), 0, (), log_start=0, log_end=0).error is MirrorError.NO_ERROR


def test_a_mirror_that_was_outrun_goes_on_behind_the_hole() -> None:
    verdict = compare(((0, 0),), 5, ((2, 8),), log_start=8, log_end=20)
    assert verdict == (5, MirrorError.NO_ERROR, "")


def test_a_mirror_that_ends_where_its_trimmed_source_begins_goes_on() -> None:
    """The source has dropped the last leader epoch that both knew, and everything of it."""
    verdict = compare(((0, 0),), 39, ((1, 39), (2, 80)), log_start=39, log_end=97)
    assert verdict.error is MirrorError.NO_ERROR
    assert verdict.agreed_offset == 39


def test_a_mirror_that_began_in_the_middle_agrees() -> None:
    assert compare((), 50, ((1, 0), (2, 40)), log_start=0, log_end=60).error is MirrorError.NO_ERROR


@given(st.lists(st.integers(0, 5), max_size=12).map(sorted))
def test_the_epoch_before_an_offset_is_that_of_the_record_before_it(log: Log) -> None:
    for offset in range(len(log) + 1):
        expected = log[offset - 1] if offset else -1
        assert epoch_before(history(log), offset) == expected
