"""What a link has recorded: the hole ledger (promise P8) and the cuts of failovers (promise P5).

Either as plain lists, or as `causeway mirror describe TOPIC --json` prints them. Holes also as `mirror holes --json`.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from federation.audit.segments.checkpoints import Key

HOLE = {"topic": str, "partition": int, "from": int, "to": int, "cause": str}
NAMES = {"from_offset": "from", "to_offset": "to"}
MISSED_MARKERS = "SOURCE_REMOVED_MARKERS"
"""Of a hole in which only deletion markers may be missing: it explains these, and records of keys that one of them
would have deleted."""
DIVERGENCE_CUT = "DIVERGENCE_CUT"
"""Of an entry for records that a restore cut from the mirror, as the source did not have them. What the source has at
these offsets has followed, so the entry explains nothing."""
NOT_READ = ("first_seen_ms", "topic_id", "deleted_at_ms", "bytes")
CUT = {"topic": str, "partition": int, "offset": int}


class KnownHole(NamedTuple):
    """Offsets [from_offset, to_offset) of the ledger, and why they are in it."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int
    cause: str

    @property
    def is_skipped(self) -> bool:
        """Whether the mirror lacks all of the range."""
        return self.cause not in (MISSED_MARKERS, DIVERGENCE_CUT)


def parse(text: str) -> list[KnownHole]:
    """Holes; raises ValueError naming every bad one."""
    document = _json(text)
    if isinstance(document, dict):
        document = document.get("holes")
    if isinstance(document, list):
        document = [_plain(row) for row in document if not _is_of_deleted_topic(row)]
    return _checked(document, HOLE, lambda row: KnownHole(*row), "hole", _hole_problem)


def parse_cuts(text: str) -> dict[Key, int]:
    """Where each partition's failover cut it; raises ValueError naming every bad one."""
    document = _json(text)
    if isinstance(document, dict):
        if document.get("cut") is None:
            raise ValueError("the mirror was not failed over or promoted: there is no cut in it")
        topic = document.get("mirror_topic")
        document = [
            {"topic": topic, "partition": row.get("partition"), "offset": row.get("offset")}
            for row in document["cut"].get("partitions", [])
        ]
    rows = _checked(
        document, CUT, tuple, "cut", lambda row: "" if row[2] >= 0 else "offset is negative"
    )
    return {(topic, partition): offset for topic, partition, offset in rows}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from error


def _is_of_deleted_topic(row: Any) -> bool:
    """Whether `mirror holes` lists it for a topic that is gone: it excuses nothing of one that has the name now."""
    return isinstance(row, dict) and bool(row.get("deleted_at_ms"))


def _plain(row: Any) -> Any:
    """A row of `mirror describe` or `mirror holes` under the names of a plain list."""
    if not isinstance(row, dict):
        return row
    return {NAMES.get(name, name): value for name, value in row.items() if name not in NOT_READ}


def _checked(
    document: Any, fields: dict[str, type], make: Any, noun: str, problem: Any
) -> list[Any]:
    if not isinstance(document, list):
        raise ValueError(
            f"a list of {noun}s is expected, or what `causeway mirror describe --json` or `mirror holes --json` prints"
        )
    made, problems = [], []
    for number, row in enumerate(document):
        found = "; ".join(_problems(row, fields))
        if not found:
            made.append(make([row[name] for name in fields]))
            found = problem(made[-1])
        if found:
            problems.append(f"{noun} {number}: {found}")
    if problems:
        raise ValueError("; ".join(problems))
    return made


def _problems(row: Any, fields: dict[str, type]) -> Iterable[str]:
    if not isinstance(row, dict) or row.keys() != fields.keys():
        yield f"needs exactly {', '.join(fields)}"
        return
    for name, wanted in fields.items():
        if type(row[name]) is not wanted:
            yield f"{name} must be {'a text' if wanted is str else 'a whole number'}"


def _hole_problem(hole: KnownHole) -> str:
    return "" if 0 <= hole.from_offset < hole.to_offset else "from must lie below to"
