"""Quantiles of times, from counts alone."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.telemetry.durations import BOUNDS, WINDOW_SECONDS, Durations

times = st.floats(min_value=BOUNDS[0], max_value=BOUNDS[-1], exclude_max=True)


@given(st.lists(times, min_size=1, max_size=200), st.sampled_from([0.5, 0.75, 0.95, 0.99, 0.999]))
def test_a_quantile_is_off_by_a_tenth_at_most(seconds: list[float], share: float) -> None:
    durations = Durations(0.0)
    for each in seconds:
        durations.add(each, 0.0)
    exact = sorted(seconds)[math.floor(share * len(seconds))]
    (found,) = durations.quantiles((share,), 0.0)
    assert exact / 1.1 < found < exact * 1.1


def test_sum_and_count_are_of_everything() -> None:
    durations = Durations(0.0)
    for now in range(1_000):
        durations.add(0.5, float(now))
    assert (durations.count, durations.total) == (1_000, 500.0)


def test_quantiles_forget_what_is_older_than_two_windows() -> None:
    durations = Durations(0.0)
    durations.add(1.0, 0.0)
    assert durations.quantiles((0.5,), WINDOW_SECONDS * 1.5)[0] == pytest.approx(1.0, rel=0.1)
    durations.add(0.001, WINDOW_SECONDS * 1.5)
    assert durations.quantiles((0.99,), WINDOW_SECONDS * 1.6)[0] == pytest.approx(1.0, rel=0.1)
    assert durations.quantiles((0.99,), WINDOW_SECONDS * 2.5)[0] == pytest.approx(0.001, rel=0.1)
    assert durations.quantiles((0.5, 0.99), WINDOW_SECONDS * 9) == (0.0, 0.0)


def test_what_lies_beyond_all_bounds_is_counted() -> None:
    durations = Durations(0.0)
    for seconds in (0.0, 1e-7, 1e9):
        durations.add(seconds, 0.0)
    low, high = durations.quantiles((0.5, 0.99), 0.0)
    assert (low < BOUNDS[0], high >= BOUNDS[-1]) == (True, True)
