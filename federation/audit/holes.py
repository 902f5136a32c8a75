"""The hole ledger: ranges that a link itself says it skipped, with the cause (promise P8)."""

import json
from typing import NamedTuple

FIELDS = {"topic": str, "partition": int, "from": int, "to": int, "cause": str}


class Hole(NamedTuple):
    """Offsets [from_offset, to_offset) that the mirror does not hold, and why."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    cause: str


def parse(text: str) -> list[Hole]:
    """A JSON list of objects with topic, partition, from, to and cause; raises ValueError naming every bad one."""
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error
    if not isinstance(rows, list):
        raise ValueError("a list of holes is expected")
    holes, problems = [], []
    for number, row in enumerate(rows):
        hole = _hole(row)
        if isinstance(hole, Hole):
            holes.append(hole)
        else:
            problems.append(f"hole {number}: {hole}")
    if problems:
        raise ValueError("; ".join(problems))
    return holes


def _hole(row: object) -> Hole | str:
    """The hole, or what is wrong with it."""
    if not isinstance(row, dict) or row.keys() != FIELDS.keys():
        return "needs exactly topic, partition, from, to and cause"
    for name, wanted in FIELDS.items():
        if type(row[name]) is not wanted:
            return f"{name} must be {'a text' if wanted is str else 'a whole number'}"
    hole = Hole(*(row[name] for name in FIELDS))
    return hole if 0 <= hole.from_offset < hole.to_offset else "from must lie below to"
