"""The simulator is tested: each bug that is planted is found within a few seeds, and by an invariant that it breaks."""

import pytest

from tests.sim.regions.checking import Broken
from tests.sim.regions.plants import (
    ACKNOWLEDGE_EARLY,
    COUNT_OBSERVERS,
    COUNT_OLD_VOTES,
    CUT_TO_THE_HIGH_WATERMARK,
    IGNORE_THE_BROKER_EPOCH,
    SKIP_AN_FSYNC,
    Plant,
)
from tests.sim.regions.runs import RegionRun
from tests.sim.world import CoreRaised

PLANTS = (
    ACKNOWLEDGE_EARLY,
    COUNT_OBSERVERS,
    COUNT_OLD_VOTES,
    CUT_TO_THE_HIGH_WATERMARK,
    IGNORE_THE_BROKER_EPOCH,
    SKIP_AN_FSYNC,
)
LOST = ("P1", "P2", "P3", "P10", "high watermark")


def finding(plant: Plant) -> str:
    """What is found first; nothing if the bug survives all seeds."""
    for seed in plant.seeds:
        run = RegionRun(
            seed, adjust=plant.adjust, make_node=plant.make_node, make_disk=plant.make_disk
        )
        try:
            run.execute()
        except Broken as broken:
            return broken.invariant
        except CoreRaised as raised:
            return str(raised)
    return ""


def test_a_skipped_fsync_is_found() -> None:
    found = finding(SKIP_AN_FSYNC)
    invariants = ("P1", "P2", "P3", "P10", "one leader", "metadata")
    assert found in invariants or "MetadataLogError" in found or "checksum" in found


def test_votes_of_an_old_epoch_are_found() -> None:
    assert finding(COUNT_OLD_VOTES) in ("one leader", "metadata")


def test_a_follower_that_cuts_to_its_high_watermark_is_found() -> None:
    assert finding(CUT_TO_THE_HIGH_WATERMARK) in LOST


def test_an_acknowledgement_before_the_followers_have_it_is_found() -> None:
    assert finding(ACKNOWLEDGE_EARLY) in LOST


def test_what_an_earlier_life_of_a_follower_had_is_found_when_it_counts_for_the_next() -> None:
    assert finding(IGNORE_THE_BROKER_EPOCH) in LOST


def test_observers_that_count_as_if_they_were_in_sync_are_found() -> None:
    assert finding(COUNT_OBSERVERS) in LOST


@pytest.mark.parametrize("plant", PLANTS)
def test_without_the_bug_the_same_scenario_is_survived(plant: Plant) -> None:
    for seed in plant.seeds[:2]:
        assert RegionRun(seed, adjust=plant.adjust).execute().acknowledged > 0
