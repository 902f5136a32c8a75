"""Partition counts and configurations of a topic and its mirror, as both regions say them."""

from collections.abc import Iterable

from federation.audit.comparison.findings import Severity
from federation.audit.facts.region_facts import RegionFacts
from federation.audit.sections.section import Problem, Section, section

NAME = "partitions and configurations"
ALWAYS_SYNCED = ("cleanup.policy", "max.message.bytes", "message.timestamp.type")
"""With another value the mirror could not hold the source's records. Others are the link's to sync or not."""
OTHERS = ("delete.retention.ms", "retention.bytes", "retention.ms", "segment.bytes", "segment.ms")


def judge(
    source: RegionFacts | None, mirror: RegionFacts | None, names: Iterable[str], prefix: str
) -> Section:
    """Of these topics of the source; those whose mirrors were cut are mirrors no more, and left out."""
    if source is None or mirror is None:
        return section(NAME, "P2", 0, "topics", (), "a region was not asked")
    cut = {topic for topic, _ in mirror.cuts()}
    theirs, ours = _described(source), _described(mirror)
    problems: list[Problem] = []
    judged = 0
    for name in sorted(names):
        if prefix + name in cut or name not in theirs or prefix + name not in ours:
            continue
        judged += 1
        problems += _differences(name, theirs[name], ours[prefix + name])
    return section(NAME, "P2", judged, "topics", problems)


def _described(facts: RegionFacts) -> dict[str, tuple[int, dict[str, str]]]:
    return {topic.name: (len(topic.partitions), topic.configs) for topic in facts.topics}


def _differences(
    name: str, source: tuple[int, dict[str, str]], mirror: tuple[int, dict[str, str]]
) -> Iterable[Problem]:
    if source[0] != mirror[0]:
        # A link follows a source that grows; a mirror never has more.
        severity = Severity.FAULT if mirror[0] > source[0] else Severity.NOTE
        because = f"{source[0]} partitions, {mirror[0]} on the mirror"
        yield Problem(name, -1, -1, because, severity=severity)
    for key in (*ALWAYS_SYNCED, *OTHERS):
        one, other = source[1].get(key), mirror[1].get(key)
        if one is not None and other is not None and one != other:
            severity = Severity.FAULT if key in ALWAYS_SYNCED else Severity.NOTE
            because = f"{key} is {one}, {other} on the mirror"
            yield Problem(name, -1, -1, because, severity=severity)
