"""A single pair of brokers of two regions does not reach each other, for as long as it matters."""

from collections.abc import Collection

import pytest

from linker.control.wanted_streams import UNREACHED_MS
from tests.quick import some
from tests.sim.linked.cut_pairs import BACK, LONG_MS, THERE, CutPairRun, IsolatedRun

AT_ONCE_MS = 2_000
WAYS = [(THERE, BACK), (THERE,), (BACK,)]


def check(run: CutPairRun) -> None:
    """What the run did not wait for: that a partition that can't be copied says so, and its lag grows."""
    run.execute()
    first, second = run.said
    assert first.state.startswith("SOURCE_UNAVAILABLE: "), first
    assert 0 <= first.lag_ms <= second.lag_ms - LONG_MS


@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_what_a_broker_comes_to_lead_is_copied_though_it_never_reached_the_coordinator(
    ways: Collection[str],
) -> None:
    run = CutPairRun(1, ways=ways, waits_ms=2 * UNREACHED_MS)
    check(run)
    assert 0 <= run.late_ms < AT_ONCE_MS
    no_stream = f"broker {run.far} of the source has no stream to broker {run.coordinator}"
    assert no_stream in run.said[0].state
    cut, last = run.streams
    others = [count for broker, count in cut.items() if broker != run.coordinator]
    assert all(others), "a stream to each that it reaches"
    assert [broker for broker, count in last.items() if count] == [run.coordinator]


@pytest.mark.parametrize("seed", some(range(2, 8)))
def test_so_it_is_where_leadership_moves_just_then(seed: int) -> None:
    run = CutPairRun(seed)
    check(run)
    assert 0 <= run.late_ms < UNREACHED_MS + AT_ONCE_MS


@pytest.mark.parametrize("seed", some(range(1, 4)))
def test_where_the_destination_dials_its_leaders_need_no_coordinator_for_that(seed: int) -> None:
    run = CutPairRun(seed, source_dials=False)
    check(run)
    assert 0 <= run.late_ms < AT_ONCE_MS


@pytest.mark.parametrize("source_dials", [False, True])
@pytest.mark.parametrize("seed", some(range(1, 4), quick=1))
def test_who_leads_is_not_asked_of_a_broker_that_is_cut_off_from_its_own_region(
    seed: int, source_dials: bool
) -> None:
    """The destination heard of no new leaders for as long as its first stream led to that one."""
    run = IsolatedRun(seed, source_dials=source_dials)
    run.execute()
    assert 0 <= run.late_ms < AT_ONCE_MS
