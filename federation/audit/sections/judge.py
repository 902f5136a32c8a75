"""All sections of an audit."""

from collections.abc import Iterable, Mapping

from federation.audit.comparison.findings import Side
from federation.audit.cut.bounds import AuditedRegion, Bounds
from federation.audit.cut.cut import AuditCut
from federation.audit.sections import group_offsets, leader_epochs, producer_snapshots, topics
from federation.audit.sections.section import Problem, Section, section
from federation.audit.segments.checkpoints import Key


def sections(
    regions: tuple[AuditedRegion, AuditedRegion],
    taken: AuditCut,
    pairs: Mapping[Key, tuple[Bounds, Bounds]],
    prefix: str,
    cut: Iterable[Key],
) -> list[Section]:
    """`pairs` are the audited partitions' bounds, up to the cut where there is one; `cut` names those, by the
    source's topic."""
    source, mirror = regions
    named = frozenset(cut)
    return [
        _leader_epochs(pairs),
        _producer_snapshots(pairs),
        group_offsets.judge(
            group_offsets.read(taken.source, source.facts),
            group_offsets.read(taken.mirror, mirror.facts),
            {key: taken.mirror[key] for key in pairs if key in taken.mirror},
            prefix,
            named,
        ),
        topics.judge(source.facts, mirror.facts, {topic for topic, _ in pairs}, prefix),
    ]


def _leader_epochs(pairs: Mapping[Key, tuple[Bounds, Bounds]]) -> Section:
    judged, problems = 0, list[Problem]()
    for key, (source, mirror) in sorted(pairs.items()):
        count, found = leader_epochs.problems(key, source, mirror)
        judged, problems = judged + count, problems + found
    return section("leader epochs", "P2", judged, "checkpoints", problems, _without_files(pairs))


def _producer_snapshots(pairs: Mapping[Key, tuple[Bounds, Bounds]]) -> Section:
    judged, problems = 0, list[Problem]()
    for key, bounds in sorted(pairs.items()):
        for side, one in zip((Side.SOURCE, Side.MIRROR), bounds, strict=True):
            count, found = producer_snapshots.problems(key, side, one)
            judged, problems = judged + count, problems + found
    return section(
        "producer snapshots", "P10", judged, "snapshots", problems, _without_files(pairs)
    )


def _without_files(pairs: Mapping[Key, tuple[Bounds, Bounds]]) -> str:
    """Why a section that reads files beside the segments could not judge every replica."""
    fetched = sum(
        not one.log.folder for pair in pairs.values() for side in pair for one in side.replicas
    )
    return f"{fetched} replicas were read by Fetch, which does not carry these files" * (
        fetched > 0
    )
