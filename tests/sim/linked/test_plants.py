"""The simulator is tested: each bug that is planted is found within a few seeds."""

from dataclasses import replace
from typing import Final

import pytest

from tests.sim.linked import event_plants, plants, transition_plants
from tests.sim.linked.event_plants import (
    SEAL_ON_LEADERS_ONLY,
    SHOW_ALL_OF_WHAT_CAME_BACK,
    SKIP_BATCHES,
)
from tests.sim.linked.fan_in import FanInRun
from tests.sim.linked.federation import MirrorBroken
from tests.sim.linked.plants import (
    CANCEL_TOO_LATE,
    CLAMP_UPWARDS,
    CONFUSE_LINKS,
    CUT_BACK_TOO_FAR,
    CUT_BACK_UNSEALED,
    CUT_TOO_EARLY,
    FOLLOW_BY_OFFSET,
    FOLLOW_BY_OFFSET_UNCLEANLY,
    FORGET_THE_GENERATION,
    HOLD_FOR_EVER,
    IGNORE_BOUNDS,
    IGNORE_HOLDS,
    REVERSE_UNDRAINED,
    SERVE_UNCOMMITTED,
    TAKE_WRITES_AT_ONCE,
    TAKE_WRITES_TO_MIRRORS,
    TRUNCATE_UNSEALED,
    Plant,
)
from tests.sim.linked.restores import RestoreRun
from tests.sim.linked.retention import RetentionRun
from tests.sim.linked.returns import ReturnRun
from tests.sim.linked.reversals import ReversalRun
from tests.sim.linked.rounds import RoundsRun
from tests.sim.linked.runs import LinkedRun
from tests.sim.linked.steps import SteppedNode
from tests.sim.linked.transition_plants import (
    COPY_WHILE_PAUSED,
    CUT_BACK_UNSEALED_AT_ONCE,
    DELETE_WHAT_IS_HELD,
    FORGET_THE_RECORD,
    FORGET_THE_SECRET,
)
from tests.sim.linked.transition_runs import TransitionRun
from tests.sim.linked.unclean import UncleanRun
from tests.sim.nodes import Node
from tests.sim.regions.checking import Broken
from tests.sim.runs import Stuck
from tests.sim.world import CoreRaised


class HeldRun(RetentionRun):
    """Every link asks for holds."""

    asks = 1.0


class ApartRun(RoundsRun):
    """Whoever was taken over has time to say what it knows of before."""

    reversals = 0.0
    fences = 1.0
    apart_ms = 12_000


class LateRestoreRun(RestoreRun):
    """Nothing is judged when it happens."""

    judges_events = False


class LateUncleanRun(UncleanRun):
    """The same."""

    judges_events = False


WITH_ENDINGS: Final = {
    "restore": RestoreRun,
    "reverse": ReversalRun,
    "restore, judged in the end": LateRestoreRun,
    "unclean, judged in the end": LateUncleanRun,
    "rounds": RoundsRun,
    "apart": ApartRun,
    "unclean": UncleanRun,
    "retention": RetentionRun,
    "held": HeldRun,
    "fan-in": FanInRun,
    "return": ReturnRun,
}
OF_ANY_RUN = ("none", "promote", "failover")


def finding(plant: Plant) -> str:
    """What is found first; nothing if the bug survives all seeds."""
    for seed in plant.seeds:
        run: LinkedRun
        if plant.ending in WITH_ENDINGS:
            kind = WITH_ENDINGS[plant.ending]
            run = kind(seed, adjust=plant.adjust, make_node=plant.make_node)
        elif plant.ending in OF_ANY_RUN:
            run = LinkedRun(
                seed, adjust=plant.adjust, make_node=plant.make_node, ending=plant.ending
            )
        else:
            run = TransitionRun(plant.ending, plant.crash, seed=seed, make_node=plant.make_node)
        try:
            run.execute()
        except (Broken, MirrorBroken, Stuck, CoreRaised) as found:
            return str(found)
    return ""


def test_a_source_that_serves_above_its_high_watermark_is_found() -> None:
    assert "the source has committed" in finding(SERVE_UNCOMMITTED)


def test_a_mirror_that_takes_what_clients_write_is_found() -> None:
    assert "which is not the source's" in finding(TAKE_WRITES_TO_MIRRORS)


def test_a_group_that_is_moved_past_what_it_has_read_is_found() -> None:
    assert ", which came to" in finding(CLAMP_UPWARDS)


def test_a_reader_that_sees_too_much_after_a_failback_is_found_at_once() -> None:
    told = finding(SHOW_ALL_OF_WHAT_CAME_BACK)
    assert told.startswith("P3") and " was read" in told


def test_a_compacted_mirror_that_lacks_what_nothing_has_replaced_is_found_at_once() -> None:
    told = finding(SKIP_BATCHES)
    assert told.startswith("P8 in east") and "the last one of its key" in told


def test_groups_of_one_name_in_two_sources_that_are_taken_for_one_are_found() -> None:
    found = finding(CONFUSE_LINKS)
    assert ", which came to" in found or "stands at" in found


def test_a_cut_that_does_not_wait_for_the_leaders_is_found() -> None:
    assert "was cut at" in finding(CUT_TOO_EARLY)


def test_a_tail_that_is_truncated_and_not_sealed_is_found_at_once() -> None:
    told = finding(TRUNCATE_UNSEALED)
    assert "P5 in west" in told and "not sealed" in told


def test_it_is_found_in_the_end_too() -> None:
    assert "is nowhere" in finding(replace(TRUNCATE_UNSEALED, ending="restore, judged in the end"))


def test_a_tail_that_only_its_leader_has_sealed_is_found_at_once() -> None:
    told = finding(SEAL_ON_LEADERS_ONLY)
    assert told.startswith("P5 in west") and "not sealed" in told


def test_a_mirror_that_follows_by_offset_and_not_by_lineage_is_found() -> None:
    assert finding(FOLLOW_BY_OFFSET)


def test_a_reversal_that_is_proved_before_the_source_has_committed_all_is_found() -> None:
    assert finding(REVERSE_UNDRAINED)


def test_a_takeover_of_an_earlier_generation_that_is_taken_for_a_new_one_is_found() -> None:
    assert "is not drained" in finding(FORGET_THE_GENERATION)


def test_a_mirror_that_follows_a_source_by_offset_over_an_unclean_election_is_found() -> None:
    assert finding(FOLLOW_BY_OFFSET_UNCLEANLY)


def test_a_mirror_that_is_cut_back_and_not_sealed_is_found_at_once() -> None:
    told = finding(CUT_BACK_UNSEALED)
    assert "P5 in east" in told and "not sealed" in told


def test_that_is_found_in_the_end_too() -> None:
    plant = replace(CUT_BACK_UNSEALED, ending="unclean, judged in the end")
    assert "is gone, and was not sealed" in finding(plant)


def test_a_mirror_that_is_cut_back_to_where_nothing_has_parted_is_found() -> None:
    assert "was sealed, and lies in the log" in finding(CUT_BACK_TOO_FAR)


def test_a_hold_that_never_ends_is_found() -> None:
    assert "held for ever" in finding(HOLD_FOR_EVER)


def test_a_cancel_of_what_was_cut_is_found() -> None:
    assert "its mirror at" in finding(CANCEL_TOO_LATE)


def test_retention_that_ignores_a_hold_is_found() -> None:
    assert "unheld" in finding(IGNORE_HOLDS)


def test_a_hold_without_bounds_is_found() -> None:
    assert "held for ever" in finding(IGNORE_BOUNDS)


def test_a_transition_that_seals_nothing_is_found() -> None:
    assert "not sealed" in finding(CUT_BACK_UNSEALED_AT_ONCE)


def test_a_transition_after_which_nothing_is_held_is_found() -> None:
    assert "are deleted, and held" in finding(DELETE_WHAT_IS_HELD)


def test_a_secret_that_is_shown_and_not_kept_is_found() -> None:
    assert finding(FORGET_THE_SECRET)


def test_a_link_that_is_paused_and_goes_on_is_found() -> None:
    assert "the link is paused in east" in finding(COPY_WHILE_PAUSED)


def test_a_late_change_of_a_topics_writer_that_names_no_record_is_found() -> None:
    assert "its mirror at" in finding(FORGET_THE_RECORD)


def test_a_region_that_takes_writes_as_soon_as_it_is_back_is_found() -> None:
    assert "was acknowledged after its return" in finding(TAKE_WRITES_AT_ONCE)


ALL: Final = {
    name: one
    for name, one in (vars(plants) | vars(event_plants) | vars(transition_plants)).items()
    if isinstance(one, Plant)
}


@pytest.mark.soak
@pytest.mark.parametrize("name", ALL)
def test_without_the_bug_nothing_is_found_in_the_same_seeds(name: str) -> None:
    plant = ALL[name]
    is_stepped = isinstance(plant.make_node, type) and issubclass(plant.make_node, SteppedNode)
    assert finding(replace(plant, make_node=SteppedNode if is_stepped else Node)) == ""
