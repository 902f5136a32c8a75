"""Islands and order, on made-up batches."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from federation.audit.comparison.merge import identity, in_order, islands, same
from federation.audit.segments.batches import Batch
from federation.audit.segments.rising_run import longest_run


def batch(base: int, next_offset: int, body: int = 0) -> Batch:
    return Batch(base, next_offset, 0, 2, 0, 0, next_offset - base, True, body, "", 0, 10)


def row(*bases: int) -> list[Batch]:
    """Batches of one offset each."""
    return [batch(base, base + 1, body=base) for base in bases]


def bases(batches: list[Batch]) -> list[int]:
    return [one.base_offset for one in batches]


def test_rising_offsets_are_all_in_order() -> None:
    assert in_order(row(1, 2, 5, 9), set()) == (row(1, 2, 5, 9), [])


def test_a_moved_batch_is_blamed_and_not_those_it_passed() -> None:
    log = row(1, 7, 2, 3, 4, 8)
    kept, strays = in_order(log, {identity(one) for one in log})
    assert (bases(kept), bases(strays)) == ([1, 2, 3, 4, 8], [7])


def test_a_damaged_base_offset_is_blamed_and_not_the_batches_behind_it() -> None:
    log = [*row(1, 2), batch(1 << 40, (1 << 40) + 1), *row(4, 5)]
    kept, strays = in_order(log, {identity(one) for one in row(1, 2, 3, 4, 5)})
    assert (bases(kept), bases(strays)) == ([1, 2, 4, 5], [1 << 40])


def test_what_the_other_side_does_not_know_stays_where_it_fits() -> None:
    log = [*row(1), batch(2, 4, body=99), *row(9, 4)]
    kept, strays = in_order(log, {identity(one) for one in row(1, 4)})
    assert (bases(kept), bases(strays)) == ([1, 2, 4], [9])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 4))))
def test_every_batch_is_kept_or_stray_and_the_kept_rise(spans: list[tuple[int, int]]) -> None:
    log = [batch(base, base + width, body=n) for n, (base, width) in enumerate(spans)]
    kept, strays = in_order(log, {identity(one) for one in log[::2]})
    assert sorted(kept + strays) == sorted(log)
    assert all(one.next_offset <= two.base_offset for one, two in itertools.pairwise(kept))


@given(st.lists(st.integers(0, 12), max_size=9))
def test_the_longest_run_is_as_long_as_any(numbers: list[int]) -> None:
    longest = 0
    for chosen in range(1 << len(numbers)):
        run = [number for place, number in enumerate(numbers) if chosen >> place & 1]
        if all(one < two for one, two in itertools.pairwise(run)):
            longest = max(longest, len(run))
    assert len(longest_run(row(*numbers))) == longest


def test_equal_batches_make_no_island() -> None:
    assert list(islands(row(1, 2, 3), row(1, 2, 3))) == []


def test_an_island_is_as_small_as_can_be() -> None:
    source = [*row(1), batch(2, 6, body=1), *row(6, 7, 8)]
    mirror = [*row(1), batch(2, 4), batch(4, 6), *row(6), *row(8)]
    found = [(bases(list(one.source)), bases(list(one.mirror))) for one in islands(source, mirror)]
    assert found == [([2], [2, 4]), ([7], [])]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 1))),
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), st.integers(0, 1))),
)
def test_islands_hold_all_that_is_unequal_and_do_not_touch(
    left: list[tuple[int, int, int]], right: list[tuple[int, int, int]]
) -> None:
    source, mirror = _log(left), _log(right)
    found = list(islands(source, mirror))
    for side, place in ((source, 0), (mirror, 1)):
        others = mirror if place == 0 else source
        inside = [one for island in found for one in island[place]]
        outside = [one for one in side if one not in inside]
        assert all(any(same(one, two) for two in others) for one in outside)
    reach = -1
    for island in found:
        together = [*island.source, *island.mirror]
        assert min(one.base_offset for one in together) >= reach
        reach = max(one.next_offset for one in together)


def _log(steps: list[tuple[int, int, int]]) -> list[Batch]:
    log, offset = [], 0
    for gap, width, body in steps:
        log.append(batch(offset + gap, offset + gap + width, body * 10 + width))
        offset += gap + width
    return log


def test_an_unsound_batch_is_never_same() -> None:
    one = batch(1, 2)._replace(sound=False)
    assert not same(one, one)
