"""The table of a failover's phases is total, leads everywhere, and out of nothing final."""

import pytest

from linker.control.failover_phases import (
    FINAL,
    IGNORED,
    TRANSITIONS,
    FailoverPhase,
    FailoverProgress,
    FailoverTrigger,
)
from linker.region_client import Effects

ANSWERS = set(FailoverTrigger) - set(IGNORED)


def reached_from(phase: FailoverPhase) -> set[FailoverPhase]:
    reached = {phase}
    while more := {to for (found, _), to in TRANSITIONS.items() if found in reached} - reached:
        reached |= more
    return reached


def in_phase(phase: FailoverPhase) -> FailoverProgress:
    progress = FailoverProgress()
    progress.phase = phase
    return progress


@pytest.mark.parametrize("trigger", IGNORED)
def test_every_phase_takes_or_ignores_what_comes_from_outside(trigger: FailoverTrigger) -> None:
    taking = {phase for phase, found in TRANSITIONS if found is trigger}
    assert taking | IGNORED[trigger] == set(FailoverPhase)
    assert not taking & IGNORED[trigger]


def test_every_answer_is_taken_by_the_phase_that_asks_and_cannot_come_in_another() -> None:
    assert {trigger for _, trigger in TRANSITIONS} >= ANSWERS
    for phase in FailoverPhase:
        for trigger in ANSWERS:
            if (phase, trigger) not in TRANSITIONS:
                with pytest.raises(KeyError):
                    in_phase(phase).take(trigger)


def test_every_phase_is_reached() -> None:
    assert reached_from(FailoverPhase.IDLE) == set(FailoverPhase)


def test_final_phases_have_no_way_out_and_all_others_lead_to_both() -> None:
    assert {phase for phase in FailoverPhase if reached_from(phase) == {phase}} == FINAL
    for phase in set(FailoverPhase) - FINAL:
        assert reached_from(phase) >= FINAL


def test_no_phase_after_the_cut_leads_back_to_one_before_it() -> None:
    after = reached_from(FailoverPhase.CLAMPING_GROUPS)
    assert all(in_phase(phase).is_halted for phase in after)
    assert FailoverPhase.WRITING_CUT not in after


def test_a_late_answer_has_no_effect() -> None:
    progress = FailoverProgress()
    progress.take(FailoverTrigger.PROMOTION_FOUND)
    heard: list[str] = []

    def answered(what: str) -> Effects:
        heard.append(what)
        return []

    answer = progress.in_this_phase(answered)
    answer("in time")
    progress.take(FailoverTrigger.NOTHING_FOUND)
    progress.take(FailoverTrigger.PROMOTION_FOUND)
    answer("of the phase before, which has the same name")
    assert heard == ["in time"]
