"""The model is tested: each bug of a cleaner that is planted is found within a few seeds."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from brokers.storage.cleaning.log_cleaning import LogCleaning
from tests.kernel.wrong_cleanings import (
    CleansTheActiveSegment,
    DropsMarkersEarly,
    LosesSequences,
    MovesOffsets,
)
from tests.unit.brokers.storage.cleaning.test_cleaning_model import Story, told

SEEDS = range(12)


def finding(**made: Callable[..., Any]) -> str:
    """What is found first, and by whom; nothing if the bug survives all seeds."""
    for seed in SEEDS:
        try:
            told(Story(random.Random(seed), **made))
        except AssertionError as error:
            return str(error) or "an assertion of the broker's"
    return ""


def test_without_a_bug_nothing_is_found() -> None:
    assert finding() == ""


@pytest.mark.parametrize(
    ("bug", "said"),
    [
        (DropsMarkersEarly, "went too early"),
        (LosesSequences, "the last sequence of a producer"),
        (MovesOffsets, "never written at these offsets"),
    ],
)
def test_a_wrong_cleaning_is_found(bug: type[LogCleaning], said: str) -> None:
    assert said in finding(make_cleaning=bug)


def test_a_cleaning_of_the_active_segment_is_found() -> None:
    assert "went too early" in finding(make_storage=CleansTheActiveSegment)
