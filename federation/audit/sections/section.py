"""A section: what was judged, of which promise, and everything that was found."""

from collections.abc import Sequence
from typing import NamedTuple

from federation.audit.comparison.findings import Severity
from federation.audit.verdict.verdicts import Verdict


class Problem(NamedTuple):
    """`offset` is -1 where none is meant, `replica` empty where it is about the whole side."""

    topic: str
    partition: int
    offset: int
    because: str
    replica: str = ""
    severity: Severity = Severity.FAULT


class Section(NamedTuple):
    """`judged` counts `unit`s that were looked at; `because` says why a section is unknown."""

    name: str
    promise: str
    verdict: Verdict
    judged: int
    unit: str
    problems: tuple[Problem, ...]
    because: str = ""


def section(
    name: str, promise: str, judged: int, unit: str, problems: Sequence[Problem], because: str = ""
) -> Section:
    """Broken by any fault, unknown where something could not be read or `because` says so, else kept."""
    severities = {one.severity for one in problems}
    verdict = Verdict.UNKNOWN if because or Severity.UNKNOWN in severities else Verdict.KEPT
    if Severity.FAULT in severities:
        verdict = Verdict.BROKEN
    return Section(name, promise, verdict, judged, unit, tuple(sorted(problems)), because)
