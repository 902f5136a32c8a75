"""Failovers and the way back under faults: both regions end equal, and what was removed is in the orphan store."""

from collections.abc import Iterable

import pytest

from tests.sim.linked.restores import RestoreRun
from tests.sim.seeds import check_all

CHUNK = 10


def check(seeds: Iterable[int]) -> None:
    check_all(seeds, lambda seed: RestoreRun(seed).execute(), "--restore ")


def check_latest(seeds: Iterable[int]) -> None:
    """Mirrors begin at "latest"."""
    run = lambda seed: RestoreRun(seed, start="latest").execute()  # noqa: E731
    check_all(seeds, run, "--restore-latest ")


def test_a_leader_that_was_cut_off_takes_a_record_after_its_topic_was_restored() -> None:
    """It is never acknowledged."""
    check([2207])


def test_a_third_region_follows_its_source_back() -> None:
    """It kept what its source was cut by, as that went on sending from where it had been."""
    check([100, 102])


def test_a_topic_with_partitions_added_after_its_takeover_is_restored() -> None:
    """They began in leader epoch 0, and the way back was refused for ever."""
    check([5, 9])


def test_a_follower_gets_the_end_of_a_tail_after_its_leader_has_sealed_it() -> None:
    """It said that all was sealed, and the tail was cut as far as the others were concerned."""
    check([20])


def test_a_replica_that_was_away_is_cut_before_it_hears_that_records_were_deleted() -> None:
    """The check took what DeleteRecords had removed from its leader for lost."""
    check([31_335])


@pytest.mark.parametrize("first", range(0, 10, CHUNK))
def test_a_region_that_comes_back_loses_nothing_that_it_had_acknowledged(first: int) -> None:
    """Seeds that failed once.

    45: a partition was added before the topic was read-only: the restore failed for good instead of waiting for it.
    """
    check(range(first, first + CHUNK))


@pytest.mark.parametrize("first", range(0, 10, CHUNK))
def test_a_region_that_comes_back_keeps_what_its_successor_never_had(first: int) -> None:
    """Whose mirrors began at "latest": all below that was deleted, and had been acknowledged."""
    check_latest(range(first, first + CHUNK))


def test_what_was_deleted_before_its_log_was_cut_is_not_sealed() -> None:
    """The check of what had been read missed it in the orphan store."""
    check_latest([11_463])


def test_who_stood_still_while_a_mirror_was_made_does_not_remove_its_record() -> None:
    """It had been failed over by then, and there was no way back without the record."""
    check_latest([11_618])


def test_a_reader_hears_what_a_replica_knew_that_is_removed_before_its_answer_arrives() -> None:
    """Nobody else had that high watermark yet."""
    check_latest([10_969])


@pytest.mark.soak
@pytest.mark.parametrize("first", [10, *range(10_000, 12_000, 250)])
def test_thousands_of_regions_come_back(first: int) -> None:
    check(range(first, first + 250))


@pytest.mark.soak
@pytest.mark.parametrize("first", range(10_000, 12_000, 250))
def test_thousands_of_regions_come_back_to_what_began_at_latest(first: int) -> None:
    check_latest(range(first, first + 250))
