"""A thousand plantings: every kind, in every replica, at random places; none missed, none misclassed, none false."""

import random
import shutil
from pathlib import Path

import pytest

from tests.spark.kinds import KINDS

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3_600)]
CASES, AT_ONCE = 1_000, 100


@pytest.mark.parametrize("start", range(0, CASES, AT_ONCE))
def test_plantings(tmp_path: Path, start: int) -> None:
    problems = []
    for number in range(start, start + AT_ONCE):
        name = sorted(KINDS)[number % len(KINDS)]
        folder = tmp_path / str(number)
        folder.mkdir()
        found = KINDS[name](folder, random.Random(f"planting {number}"))
        problems += [f"{name}, planting {number}: {one}" for one in found]
        shutil.rmtree(folder)
    assert not problems
