"""Reversals there and back under faults: both regions end equal, and nothing that either has acknowledged is lost."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.reversals import ReversalRun
from tests.sim.seeds import check_all

CHUNK = 10


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: ReversalRun(seed).execute(), "--reverse ")


@pytest.mark.parametrize("first", range(0, 10, CHUNK))
def test_regions_change_places_and_lose_nothing(first: int) -> None:
    """Seeds that failed once.

    1, 5: a broker saw a mirror PENDING_STOPPED, then as the mirror of the next reversal, and went on with the stop.
    10, 14: a topic that was taken back had a leader epoch without records; the next cut began an earlier one.
    15: a link whose source dials waited for streams of which the source opens fewer.
    32: a partition was added before the topic was read-only: the source failed, as its mirror had not made it yet.
    """
    check(range(first, first + CHUNK))


@pytest.mark.parametrize("seed", [199, 210])
def test_a_broker_that_is_behind_does_not_fail_a_mirror_whose_topic_it_does_not_know_yet(
    seed: int,
) -> None:
    check([seed])


def test_a_reversal_is_withdrawn_although_the_source_could_not_write_it_down_at_once() -> None:
    check([378, 557])


@pytest.mark.parametrize("seed", [2, 4, 10014])
def test_regions_change_places_ten_times_in_a_row(seed: int) -> None:
    """One producer follows, with one producer id: what it sends again is stored once wherever it is taken.

    10014: the source's leader changed while it was read-only, and had not heard of an epoch in which nothing was
    written, which the mirror's region had led.
    """
    check_all(
        [seed],
        lambda seed: ReversalRun(seed, swaps=10).execute(),
        "--reverse (with swaps=10) ",
    )


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 10_400, 50))
def test_hundreds_of_regions_change_places_ten_times(first: int) -> None:
    check_all(
        range(first, first + 50),
        lambda seed: ReversalRun(seed, swaps=10).execute(),
        "--reverse (with swaps=10) ",
    )


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 12_000, 250))
def test_thousands_of_reversals(first: int) -> None:
    check(range(first, first + 250))
