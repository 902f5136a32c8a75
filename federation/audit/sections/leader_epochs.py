"""Leader epochs: what each replica's checkpoint says, against its own batches and against all other replicas.

A follower truncates, and a link finds the common ancestor of two logs, by these files (KIP-101): one that is wrong
loses data later, though no byte of the log differs today.

A log that is copied after it was compacted may lack the epoch that it begins in, or begin it later, and no other: a
cleaning keeps the first batch of each epoch, at least as a header, but the one of that epoch may lie below the log
start. The epochs that follow begin at the same offsets, so no decision differs: this is noted.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise

from federation.audit.comparison.findings import Severity, Side
from federation.audit.cut.bounds import AuditedReplica, Bounds, compared_range
from federation.audit.sections.batch_headers import covering, first_from
from federation.audit.sections.section import Problem
from federation.audit.segments.checkpoints import Key

NAME = "leader-epoch-checkpoint"
Spans = list[tuple[int, int]]
"""Leader epoch and first offset, ascending."""


def problems(key: Key, source: Bounds, mirror: Bounds) -> tuple[int, list[Problem]]:
    """How many checkpoints were read, and what is wrong with them in the range that both sides hold."""
    start, stop = compared_range(source, mirror)
    if start >= stop:
        return 0, []
    found: list[Problem] = []
    read: dict[str, Spans] = {}
    removed: dict[str, int] = {}
    for side, bounds in ((Side.SOURCE, source), (Side.MIRROR, mirror)):
        for one in bounds.replicas:
            if one.since > start or one.until < stop or not one.log.folder:
                continue
            replica = f"{side} {one.log.node}"
            try:
                spans = _read(os.path.join(one.log.folder, NAME))
            except (OSError, ValueError) as error:
                found.append(_unreadable(key, replica, error, is_crashed=one.log.is_crashed))
                continue
            read[replica] = _within(spans, start, stop)
            removed[replica] = _removed_until(one, start)
            found += (
                Problem(*key, offset, because, replica)
                for offset, because in _against_batches(one, read[replica], start)
            )
    return len(read), found + list(_between(key, read, removed))


def _unreadable(key: Key, replica: str, error: Exception, *, is_crashed: bool) -> Problem:
    """A node that lost its power builds the file anew from its batches when it starts."""
    if is_crashed:
        because = f"{NAME}: {error}; the node will build it anew, it was not stopped cleanly"
        return Problem(*key, -1, because, replica, Severity.NOTE)
    return Problem(*key, -1, f"{NAME}: {error}", replica, Severity.UNKNOWN)


def _read(path: str) -> Spans:
    """Raises ValueError when the file is not in Kafka's format, is torn, or does not ascend."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.endswith("\n"):
        raise ValueError("its last line is torn")
    lines = text.splitlines()
    if len(lines) < 2 or lines[0].strip() != "0" or not lines[1].strip().isdigit():
        raise ValueError("no checkpoint of version 0")
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != int(lines[1]) or any(len(row) != 2 for row in rows):
        raise ValueError(f"{lines[1]} entries announced, {len(rows)} lines found")
    spans = [(int(epoch), int(offset)) for epoch, offset in rows]
    if any(one[0] >= two[0] or one[1] > two[1] for one, two in pairwise(spans)):
        raise ValueError("epochs or offsets do not ascend")
    return spans


def _within(spans: Spans, start: int, stop: int) -> Spans:
    """The epochs that have offsets in the range, each from its first offset there on."""
    ends = [offset for _, offset in spans[1:]] + [stop]
    return [
        (epoch, max(offset, start))
        for (epoch, offset), end in zip(spans, ends, strict=True)
        if max(offset, start) < min(end, stop)
    ]


def _against_batches(one: AuditedReplica, spans: Spans, start: int) -> Iterator[tuple[int, str]]:
    """The batch at each epoch's first offset is of that epoch, the batch before it of an earlier one."""
    for epoch, offset in spans:
        at = covering(one.log, offset)
        if at is not None and at.leader_epoch != epoch:
            yield offset, f"epoch {epoch} begins here, the batch is of epoch {at.leader_epoch}"
        before = covering(one.log, offset - 1) if offset > start else None
        if before is not None and before.leader_epoch >= epoch:
            yield (
                offset,
                f"epoch {epoch} begins here, the batch before is of epoch {before.leader_epoch}",
            )


def _removed_until(one: AuditedReplica, start: int) -> int:
    """Up to where compaction has left no batch, from `start` on."""
    first = first_from(one.log, start)
    return start if first is None else min(max(start, first.base_offset), max(start, one.clean))


def _between(key: Key, read: Mapping[str, Spans], removed: Mapping[str, int]) -> Iterator[Problem]:
    """Replicas of the same bytes have the same epochs."""
    whole = dict(read)
    for replica, spans in read.items():
        longer = [other for other in read.values() if _is_longer(other, spans)]
        if longer and spans[0][1] <= removed[replica]:
            whole[replica] = min(longer, key=lambda other: other[0][1])
            epoch, offset = whole[replica][0]
            because = f"says nothing of epoch {epoch} here, of which compaction had left no batch"
            yield Problem(*key, offset, because, replica, Severity.NOTE)
    every = [set(spans) for spans in whole.values()]
    shared = set.intersection(*every) if every else set()
    for replica, spans in whole.items():
        for epoch, offset in sorted(set.union(*every) - set(spans) - shared):
            others = [name for name, other in whole.items() if (epoch, offset) in other]
            yield Problem(
                *key, offset, f"lacks epoch {epoch}, which {', '.join(others)} has", replica
            )


def _is_longer(other: Spans, spans: Spans) -> bool:
    """Whether it is the same history, but begins lower: in an earlier epoch, or in the same one."""
    if not spans or not other or other[0][1] >= spans[0][1]:
        return False
    return other[1:] == (spans[1:] if other[0][0] == spans[0][0] else spans)
