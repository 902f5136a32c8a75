"""The simulator is tested: each bug that is planted is found within a few seeds."""

from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.plants import CUT_TOO_EARLY, SERVE_UNCOMMITTED, Plant
from tests.sim.linked.runs import LinkedRun
from tests.sim.nodes import CoreRaised
from tests.sim.runs import Stuck


def finding(plant: Plant) -> str:
    """What is found first; nothing if the bug survives all seeds."""
    for seed in plant.seeds:
        run = LinkedRun(seed, adjust=plant.adjust, make_node=plant.make_node, ending=plant.ending)
        try:
            run.execute()
        except (MirrorBroken, Stuck, CoreRaised) as found:
            return str(found)
    return ""


def test_a_source_that_serves_above_its_high_watermark_is_found() -> None:
    assert "the source has committed" in finding(SERVE_UNCOMMITTED)


def test_a_cut_that_does_not_wait_for_the_leaders_is_found() -> None:
    assert "was cut at" in finding(CUT_TOO_EARLY)
