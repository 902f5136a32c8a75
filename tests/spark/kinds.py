"""Every kind of planting, by name: what each leaves undone of what an audit must find, and what it finds beside it."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from federation.audit.verdict.verdicts import Verdict
from tests.spark.cases import audit, planted, unexpected
from tests.spark.file_plants import FILE_PLANTS
from tests.spark.file_sides import SIDES, Sides
from tests.spark.generate import CODECS
from tests.spark.ledger_plants import LEDGER_PLANTS, late_mirror
from tests.spark.plants import PLANTS
from tests.spark.replicas import ONE_SIDED, Regions, damaged, rows, stored
from tests.spark.section_plants import SECTION_PLANTS, SectionSides

Kind = Callable[[Path, random.Random], list[str]]
"""An empty folder and a seed -> what is wrong with the audit of what was planted there."""


def between_regions(name: str, folder: Path, seed: random.Random) -> list[str]:
    """Alone or beside another one."""
    others = seed.sample([one for one in sorted(PLANTS) if one != name], seed.choice((0, 1)))
    case = planted(str(folder), seed.randrange(10**6), (name, *others))
    return [f"with {others}: {one}" for one in unexpected(case, audit(case.options()).findings)]


def in_one_replica(name: str, folder: Path, seed: random.Random) -> list[str]:
    """In any of three replicas of either side, named in any order."""
    log = stored(seed, seed.choice(CODECS))
    node, side = seed.randrange(3), seed.choice(sorted(SIDES))
    changed, start, stop = damaged(log, name, seed)
    regions = Regions(folder, log)
    getattr(regions, side).write(node, changed)
    order = seed.sample(range(3), 3)
    result = regions.audit(west=order, east=order)
    wanted = ("replica_divergent", SIDES[side], f"{SIDES[side]} node {node}")
    found = [
        row for row in rows(result) if row[:3] != wanted or not start <= row[3] <= row[4] <= stop
    ]
    missed = [] if result.verdict is Verdict.BROKEN else [f"node {node} is {result.verdict}"]
    return missed + [f"node {node}: {row}" for row in found]


def in_files(name: str, folder: Path, seed: random.Random) -> list[str]:
    sides = Sides(folder, seed)
    where = seed.choice(sorted(SIDES))
    kind, start, stop = FILE_PLANTS[name](sides.folders[where], sides.made, seed)
    found = [(one.kind, one.side, one.from_offset) for one in sides.audit().findings]
    fits = [one for one in found if one[:2] == (kind, SIDES[where]) and start <= one[2] <= stop]
    return [] if len(found) == len(fits) == 1 else [f"at {where}: {found}"]


def in_sections(name: str, folder: Path, seed: random.Random) -> list[str]:
    sides = SectionSides(folder, seed.randrange(10**6))
    where = seed.choice(sorted(SIDES))
    section, blamed = SECTION_PLANTS[name](sides, where, seed)
    result = sides.audit()
    broken = {
        one.name: {problem.replica.split(" ")[0] for problem in one.problems}
        for one in result.sections
        if one.verdict is not Verdict.KEPT
    }
    is_right = list(broken) == [section] and blamed in broken[section] and not result.findings
    return [] if is_right else [f"at {where}: {broken}, {result.findings}"]


def at_the_head(name: str, folder: Path, seed: random.Random) -> list[str]:
    result, expected = late_mirror(folder, seed, LEDGER_PLANTS[name])
    found = [(one.kind.value, one.side.value, *one[2:4]) for one in result.findings]
    return [] if found == expected else [f"expected {expected}, found {found}"]


KINDS: dict[str, Kind] = {
    **{name: partial(between_regions, name) for name in sorted(PLANTS)},
    **{f"{name}_in_one_replica": partial(in_one_replica, name) for name in ONE_SIDED},
    **{name: partial(in_files, name) for name in FILE_PLANTS},
    **{name: partial(in_sections, name) for name in SECTION_PLANTS},
    **{name: partial(at_the_head, name) for name in LEDGER_PLANTS},
}
