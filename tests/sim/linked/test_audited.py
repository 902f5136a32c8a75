"""The audit at the end of runs with regions of several nodes: of each way in which a mirror may live at the end.

It finds what is changed on the disks of regions that kept everything.
"""

from collections.abc import Callable
from functools import partial

import pytest

from tests.sim.disks import Disk
from tests.sim.linked.audits import objections
from tests.sim.linked.restores import RestoreRun
from tests.sim.linked.reversals import ReversalRun
from tests.sim.linked.rounds import RoundsRun
from tests.sim.linked.runs import LinkedRun
from tests.sim.test_audited import a_batch_goes_away, a_bit_flips

KINDS: dict[str, Callable[[int], LinkedRun]] = {
    "linked": partial(LinkedRun, ending="none"),
    "restore": RestoreRun,
    "reverse": ReversalRun,
    "rounds": RoundsRun,
}


def executed(kind: str, seed: int) -> LinkedRun:
    run = KINDS[kind](seed)
    run.execute()
    return run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", [a_bit_flips, a_batch_goes_away])
def test_what_is_changed_behind_a_regions_back_is_found(
    kind: str, damage: Callable[[Disk], None]
) -> None:
    run = executed(kind, 3)
    (source, mirror), *_ = run.mirrored
    assert list(objections(source, mirror, run.world.now)) == []
    damage(mirror.node(mirror.brokers[0]).disk)
    (found,) = objections(source, mirror, run.world.now)
    assert "says broken" in found
