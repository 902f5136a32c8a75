"""Joins the findings of single units into the findings of a partition.

Units are compared apart from one another, wherever an engine likes. Here, in the driver, a partition's findings meet:
a batch missing in one place and displaced in another was moved; one batch under two base offsets diverges; holes
that the link itself owned up to are no faults; neighbours of one class become one range. Pure, so the findings
depend on the two logs and the cut alone.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from federation.audit.comparison.by_key import LAST_MARKER
from federation.audit.comparison.findings import NOTES, Class, Finding, Side, continues, joined
from federation.audit.verdict.holes import MISSED_MARKERS, KnownHole

LACKING = {Side.MIRROR: Class.MISSING_ON_MIRROR, Side.SOURCE: Class.EXTRA_ON_MIRROR}
"""What a displaced batch of one side leaves behind at its rightful place."""

LACKS = {Class.MISSING_ON_MIRROR: "missing", Class.EXTRA_ON_MIRROR: "extra"}
"""What a replica beside its region's reference is called instead."""

OF_ONE_REPLICA = frozenset({Class.NOT_ASKED, Class.REPLICA_DIVERGENT, Class.INDEX_DAMAGED})
"""What is found in one replica alone, without its region's reference."""
DARK = frozenset({Class.UNREADABLE, Class.SEGMENT_MISSING})
STRAY = frozenset({Class.DISPLACED, Class.DUPLICATE})


def settle(
    findings: Iterable[Finding],
    holes: Sequence[KnownHole],
    source_holes: Sequence[KnownHole] = (),
) -> list[Finding]:
    """The findings of one partition, in their final classes, in offset order.

    `holes` are of the mirror's ledger, `source_holes` of the source's: before it was failed over to it was a mirror.
    """
    ledgers = {Side.MIRROR: holes, Side.SOURCE: source_holes}
    by_replica: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(_once_per_index(findings)):
        by_replica[finding.replica].append(finding)
    between = [_excused(finding, ledgers) for finding in _relate(_readable(by_replica.pop("", [])))]
    inside = [
        _of_replica(finding)
        for found in by_replica.values()
        for finding in _relate(_readable(found))
    ]
    return _coalesced(sorted(between)) + _coalesced(sorted(inside))


def _once_per_index(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Several units may read one file: of what they found in its index, the first entry is kept."""
    first: dict[tuple[str, str, str], tuple[int, Finding]] = {}
    for finding in findings:
        if finding.kind is not Class.INDEX_DAMAGED:
            yield finding
            continue
        evidence = json.loads(finding.evidence)
        file = finding.side, finding.replica, evidence["file"]
        first[file] = min(
            first.get(file, (evidence["entry"], finding)), (evidence["entry"], finding)
        )
    yield from (finding for _, finding in first.values())


def _of_replica(finding: Finding) -> Finding:
    """What a replica was found to be beside the reference of its region, which stood in the source's place."""
    evidence = json.loads(finding.evidence)
    is_final = finding.kind in NOTES or finding.kind in OF_ONE_REPLICA
    if is_final or "error" in evidence:
        return finding  # a file that could not be read may hold what it should
    names = {"source": "reference", "mirror": "replica"}
    told = {names.get(name, name): value for name, value in evidence.items()}
    return finding._replace(
        kind=Class.REPLICA_DIVERGENT,
        side=Side(finding.replica.split()[0]),
        evidence=json.dumps(
            {"class": LACKS.get(finding.kind, finding.kind), **told}, sort_keys=True
        ),
    )


def _readable(findings: list[Finding]) -> list[Finding]:
    """What a side lacks where it cannot be read is not known to be lacking (P11), and what strays where two segments
    overlap is explained by that."""
    dark = [one for one in findings if one.kind in DARK]
    twice = [one for one in findings if one.kind is Class.SEGMENTS_OVERLAP]

    def hidden(finding: Finding) -> bool:
        return any(
            one.side in (side, Side.BOTH)
            and one.from_offset < finding.to_offset
            and finding.from_offset < one.to_offset
            for one in dark
            for side in (Side.MIRROR, Side.SOURCE)
            if finding.kind is LACKING[side]
        )

    def strays(finding: Finding) -> bool:
        return finding.kind in STRAY and any(
            one.side is finding.side and one.from_offset <= finding.from_offset < one.to_offset
            for one in twice
        )

    return [one for one in findings if not hidden(one) and not strays(one)]


def _relate(findings: list[Finding]) -> list[Finding]:
    """Explain each stray by what is lacking elsewhere, then what is lacking by what is too much."""
    strays = [one for one in findings if one.kind in STRAY]
    lacking: dict[tuple[Class, str], list[Finding]] = defaultdict(list)
    settled: list[Finding] = []
    for finding in findings:
        if finding.kind in LACKING.values():
            lacking[finding.kind, _fingerprint(finding)].append(finding)
        elif finding.kind not in STRAY:
            settled.append(finding)
    both = {_place(one) for one in strays if one.side is Side.SOURCE} & {
        _place(one) for one in strays if one.side is Side.MIRROR
    }
    for stray in strays:
        homes = lacking[LACKING[stray.side], _fingerprint(stray)]
        if _place(stray) in both:
            settled += [_alike(stray)] if stray.side is Side.SOURCE else []
        elif homes:
            home = _nearest(homes, stray)
            homes.remove(home)
            settled.append(_moved(stray, home))
        else:
            settled.append(_alone(stray))
    return settled + _rebased(lacking)


def _fingerprint(finding: Finding) -> str:
    return finding.source_fingerprint or finding.mirror_fingerprint


def _place(finding: Finding) -> tuple[int, str]:
    return finding.from_offset, _fingerprint(finding)


def _nearest(homes: Sequence[Finding], stray: Finding) -> Finding:
    same_offset = (home for home in homes if home.from_offset == stray.from_offset)
    return next(same_offset, homes[0])


def _alike(stray: Finding) -> Finding:
    """Both sides stray in the same way: the mirror is faithful to a log that is itself at fault."""
    duplicate = stray.kind is Class.DUPLICATE
    return stray._replace(
        kind=Class.DUPLICATE if duplicate else Class.OUT_OF_ORDER,
        side=Side.BOTH,
        mirror_fingerprint=stray.source_fingerprint,
    )


def _alone(stray: Finding) -> Finding:
    if stray.kind is Class.DUPLICATE:
        return stray
    other = Class.EXTRA_ON_MIRROR if stray.side is Side.MIRROR else Class.MISSING_ON_MIRROR
    return stray._replace(kind=other, side=Side.NEITHER)


def _moved(stray: Finding, home: Finding) -> Finding:
    if stray.from_offset == home.from_offset:
        return stray._replace(kind=Class.OUT_OF_ORDER)
    missing, extra = (home, stray) if stray.side is Side.MIRROR else (stray, home)
    return _under_two_offsets(missing, extra)


def _rebased(lacking: dict[tuple[Class, str], list[Finding]]) -> list[Finding]:
    """One batch under two base offsets is one divergence, not a loss and an invention.

    The base offset lies outside the checksum, so a damaged one looks sound from within.
    """
    settled: list[Finding] = []
    for (kind, fingerprint), found in list(lacking.items()):
        if kind is Class.EXTRA_ON_MIRROR:
            continue
        extra = lacking.get((Class.EXTRA_ON_MIRROR, fingerprint), [])
        pairs = min(len(found), len(extra))
        settled += map(_under_two_offsets, found[:pairs], extra[:pairs])
        settled += found[pairs:]
        del extra[:pairs]
    extras = (found for (kind, _), found in lacking.items() if kind is Class.EXTRA_ON_MIRROR)
    return settled + [finding for found in extras for finding in found]


def _under_two_offsets(missing: Finding, extra: Finding) -> Finding:
    evidence = {**json.loads(extra.evidence), **json.loads(missing.evidence)}
    evidence["header"] = {"base_offset": [missing.from_offset, extra.from_offset]}
    return missing._replace(
        kind=Class.DIVERGENT,
        side=Side.NEITHER,
        source_fingerprint=_fingerprint(missing),
        mirror_fingerprint=_fingerprint(extra),
        first_byte=0,
        evidence=json.dumps(evidence, sort_keys=True),
    )


def _excused(finding: Finding, ledgers: Mapping[Side, Sequence[KnownHole]]) -> Finding:
    by_key = json.loads(finding.evidence).get("by_key")
    if by_key is not None and finding.kind in LACKING.values():
        return _deleted_unseen(finding, ledgers, is_marker=by_key == LAST_MARKER)
    lacking = finding.kind is Class.MISSING_ON_MIRROR or (
        finding.kind is Class.EXPIRED_ON_ONE_SIDE and finding.side is Side.MIRROR
    )
    if not lacking:
        return finding
    for hole in ledgers[Side.MIRROR]:
        if not hole.is_skipped:
            continue
        if hole.from_offset <= finding.from_offset and finding.to_offset <= hole.to_offset:
            evidence = json.dumps({"cause": hole.cause, **json.loads(finding.evidence)})
            return finding._replace(kind=Class.KNOWN_HOLE, evidence=evidence)
    return finding


def _deleted_unseen(
    finding: Finding, ledgers: Mapping[Side, Sequence[KnownHole]], *, is_marker: bool
) -> Finding:
    """A side may have missed the marker that deleted a key, if its ledger says so of a range behind the key's record.

    It has the record then, which the other side does not have any more, or it lacks the marker, which the other still
    has. The range says where markers are missing, and nothing of where the records of their keys lie.
    """
    holder, lacking = Side.SOURCE, Side.MIRROR
    if finding.kind is Class.EXTRA_ON_MIRROR:
        holder, lacking = lacking, holder
    if is_marker:
        is_known = any(
            hole.from_offset <= finding.from_offset and finding.to_offset <= hole.to_offset
            for hole in _missed_markers(ledgers[lacking])
        )
    else:
        missed = _missed_markers(ledgers[holder])
        is_known = any(finding.to_offset < hole.to_offset for hole in missed)
    return finding._replace(kind=Class.KNOWN_STALE) if is_known else finding


def _missed_markers(holes: Iterable[KnownHole]) -> Iterator[KnownHole]:
    return (hole for hole in holes if hole.cause == MISSED_MARKERS)


def _coalesced(findings: Sequence[Finding]) -> list[Finding]:
    """Neighbours of one class and side as one range, with the evidence of the first."""
    coalesced: list[Finding] = []
    for finding in findings:
        if coalesced and continues(finding, coalesced[-1]):
            coalesced[-1] = joined(coalesced[-1], finding)
        else:
            coalesced.append(finding)
    return coalesced
