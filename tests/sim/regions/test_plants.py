"""The simulator is tested: each bug that is planted is found within a few seeds, and by a law that it breaks."""

import pytest

from tests.sim.nodes import CoreRaised
from tests.sim.regions.court import Broken
from tests.sim.regions.plants import (
    COUNT_OLD_VOTES,
    CUT_TO_THE_HIGH_WATERMARK,
    SKIP_AN_FSYNC,
    Plant,
)
from tests.sim.regions.runs import RegionRun

SEEDS_MAX = 20


def finding(plant: Plant) -> str:
    """What is found first; nothing if the bug survives all seeds."""
    for seed in range(SEEDS_MAX):
        run = RegionRun(
            seed, adjust=plant.adjust, make_node=plant.make_node, make_disk=plant.make_disk
        )
        try:
            run.execute()
        except Broken as broken:
            return broken.law
        except CoreRaised as raised:
            return str(raised)
    return ""


def test_a_skipped_fsync_is_found() -> None:
    found = finding(SKIP_AN_FSYNC)
    laws = ("P1", "P2", "P3", "P10", "one leader", "metadata")
    assert found in laws or "committed" in found or "checksum" in found


def test_votes_of_an_old_epoch_are_found() -> None:
    assert finding(COUNT_OLD_VOTES) in ("one leader", "metadata")


def test_a_follower_that_cuts_to_its_high_watermark_is_found() -> None:
    assert finding(CUT_TO_THE_HIGH_WATERMARK) in ("P1", "P2", "P3", "P10")


@pytest.mark.parametrize("plant", [SKIP_AN_FSYNC, COUNT_OLD_VOTES, CUT_TO_THE_HIGH_WATERMARK])
def test_without_the_bug_the_same_weather_is_survived(plant: Plant) -> None:
    for seed in range(2):
        RegionRun(seed, adjust=plant.adjust).execute()
