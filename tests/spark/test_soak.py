"""A thousand plantings: each kind, in each replica, at random places; none missed, none misclassed, none false."""

import random
from pathlib import Path

import pytest

from federation.audit.verdict.verdicts import Verdict
from tests.spark.cases import audit, planted, unexpected
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import SIDES, Sides
from tests.spark.generate import CODECS
from tests.spark.plants import PLANTS
from tests.spark.replicas import ONE_SIDED, Regions, damaged, rows, stored

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3_600)]
CASES, AT_ONCE = 1_000, 100


def between_regions(folder: Path, seed: random.Random) -> list[str]:
    names = tuple(seed.sample(sorted(PLANTS), seed.choice((0, 1, 2))))
    case = planted(str(folder), seed.randrange(10**6), names)
    return [f"{names}: {one}" for one in unexpected(case, audit(case.options()).findings)]


def in_one_replica(folder: Path, seed: random.Random) -> list[str]:
    log = stored(seed, seed.choice(CODECS))
    name, node, side = seed.choice(ONE_SIDED), seed.randrange(3), seed.choice(sorted(SIDES))
    changed, start, stop = damaged(log, name, seed)
    regions = Regions(folder, log)
    getattr(regions, side).write(node, changed)
    order = seed.sample(range(3), 3)
    result = regions.audit(west=order, east=order)
    wanted = ("replica_divergent", SIDES[side], f"{SIDES[side]} node {node}")
    found = [
        row for row in rows(result) if row[:3] != wanted or not start <= row[3] <= row[4] <= stop
    ]
    missed = [] if result.verdict is Verdict.BROKEN else [f"{name} is {result.verdict}"]
    return missed + [f"{name} on node {node}: {row}" for row in found]


def in_files(folder: Path, seed: random.Random) -> list[str]:
    sides = Sides(folder, seed)
    name, where = seed.choice(sorted(FILE_PLANTS)), seed.choice(sorted(SIDES))
    kind, start, stop = FILE_PLANTS[name](sides.folders[where], sides.made, seed)
    found = [(one.kind, one.side, one.from_offset) for one in sides.audit().findings]
    fits = [one for one in found if one[:2] == (kind, SIDES[where]) and start <= one[2] <= stop]
    return [] if len(found) == len(fits) == 1 else [f"{name} at {where}: {found}"]


@pytest.mark.parametrize("start", range(0, CASES, AT_ONCE))
def test_plantings(tmp_path: Path, start: int) -> None:
    problems = []
    for number in range(start, start + AT_ONCE):
        seed = random.Random(f"planting {number}")
        folder = tmp_path / str(number)
        folder.mkdir()
        plant = seed.choice((between_regions, in_one_replica, in_files))
        problems += [f"planting {number}: {one}" for one in plant(folder, seed)]
    assert not problems
