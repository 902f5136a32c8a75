"""Mirrors that start late, and what their region says of it: right, or wrong in one way."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from federation.audit.options import Options
from federation.audit.result import AuditResult
from tests.spark import facts, generate
from tests.spark.cases import audit

KEY = ("t", 0)
Expected = tuple[str, str, int, int]
"""Class, side, from offset, to offset."""
Said = dict[str, Any]
LedgerPlant = Callable[[int, random.Random], tuple[list[Said], Said, list[Expected]]]
"""Where the mirror starts -> the holes and the configurations that its region says, and what must be found."""


def hole(start: int, stop: int, **other: object) -> Said:
    named = {"topic": KEY[0], "partition": KEY[1], "cause": "SOURCE_LOG_START"}
    return {**named, "from_offset": start, "to_offset": stop, **other}


NEVER = {"retention.ms": "-1"}
MISSING = "missing_on_mirror"


def _missing(start: int, holes: list[Said]) -> tuple[list[Said], Said, list[Expected]]:
    return holes, NEVER, [(MISSING, "", 0, start)]


def too_short(start: int, seed: random.Random) -> tuple[list[Said], Said, list[Expected]]:
    stop = seed.randrange(1, start)
    known = ("known_hole", "mirror", 0, stop)
    return [hole(0, stop)], NEVER, [known, (MISSING, "", stop, start)]


def begins_late(start: int, seed: random.Random) -> tuple[list[Said], Said, list[Expected]]:
    begin = seed.randrange(1, start)
    known = ("known_hole", "mirror", begin, start)
    return [hole(begin, start)], NEVER, [(MISSING, "", 0, begin), known]


def retention_too_long(start: int, seed: random.Random) -> tuple[list[Said], Said, list[Expected]]:
    """No record is as old as that."""
    return [], {"retention.ms": str(2**62)}, [(MISSING, "", 0, start)]


LEDGER_PLANTS: dict[str, LedgerPlant] = {
    "no_ledger": lambda start, seed: _missing(start, []),
    "ledger_of_another_partition": lambda start, seed: _missing(
        start, [hole(0, start, partition=seed.randrange(1, 9))]
    ),
    "ledger_of_another_topic": lambda start, seed: _missing(start, [hole(0, start, topic="u")]),
    "ledger_of_a_deleted_topic": lambda start, seed: _missing(
        start, [hole(0, start, topic_id="x", deleted_at_ms=7)]
    ),
    "ledger_too_short": too_short,
    "ledger_begins_late": begins_late,
    # What a restore cut from the mirror: the source's records take its place, and are to be there.
    "cut_of_a_restore": lambda start, seed: _missing(
        start, [hole(0, start, cause="DIVERGENCE_CUT")]
    ),
    "retention_too_long": retention_too_long,
    "whole_ledger": lambda start, seed: (
        [hole(0, start)],
        NEVER,
        [("known_hole", "mirror", 0, start)],
    ),
    "start_at_latest": lambda start, seed: (
        [hole(start, start, cause="START_OFFSET_LATEST")],
        NEVER,
        [("known_hole", "mirror", 0, start)],
    ),
    "expired": lambda start, seed: (
        [],
        {"retention.ms": "1"},
        [("expired_on_one_side", "mirror", 0, start)],
    ),
}


def late_mirror(
    folder: Path, seed: random.Random, plant: LedgerPlant
) -> tuple[AuditResult, list[Expected]]:
    """A source, a mirror that lacks a head of random length, and what must be found."""
    made = generate.batches(seed, 30, seed.choice(generate.CODECS))
    number = seed.randrange(2, 28)
    start = made[number].base_offset
    west, east = str(folder / "west"), str(folder / "east")
    generate.write_partition(west, *KEY, {0: generate.stored(made)})
    generate.write_partition(east, *KEY, {start: generate.stored(made[number:])})
    holes, configs, expected = plant(start, seed)
    mirror = facts.region("east", east, configs=configs, holes=holes)
    source = facts.region("west", west)
    options = Options(source=source, mirror=mirror, engine="local", master="local[1]")
    return audit(options), expected
