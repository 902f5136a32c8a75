"""What an audit comes to."""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from federation.audit.comparison.findings import Finding
from federation.audit.cut.cut import AuditCut
from federation.audit.sections.section import Section
from federation.audit.segments.checkpoints import Key
from federation.audit.since.earlier import Earlier
from federation.audit.since.last_report import JudgedRange
from federation.audit.verdict.verdicts import PartitionVerdict, Verdict


class ExitCode(IntEnum):
    KEPT = 0
    BROKEN = 1
    OVER_BUDGET = 3
    COULD_NOT_RUN = 4
    UNKNOWN = 5  # 2 is a usage error, as of every command


class CannotRun(Exception):
    """The audit could not be made; the message says why and what to do."""


class PartitionLineage(NamedTuple):
    """How a partition's verdict hangs together with reports before and after this one.

    `topic_ids` and `tails` (digests of the last batch compared) are the source's and the mirror's, empty where unknown.
    """

    earlier: Earlier
    judged_by: tuple[JudgedRange, ...]
    topic_ids: tuple[str, str]
    replicas: tuple[str, ...]
    tails: tuple[str, str]


class AuditResult(NamedTuple):
    """What was found; `over_budget` has a sentence for each partition that exceeds a budget, `sections` what was judged
    beside the bytes of batches."""

    verdict: Verdict
    exit_code: ExitCode
    cut: AuditCut
    partitions: tuple[PartitionVerdict, ...]
    findings: tuple[Finding, ...]
    over_budget: tuple[str, ...]
    sections: tuple[Section, ...] = ()
    lineage: Mapping[Key, PartitionLineage] = {}
