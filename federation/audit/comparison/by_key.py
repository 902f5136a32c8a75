"""Compare a unit that compaction has changed: by key, as each replica cleans its own log when it likes.

Of one key, a log that was cleaned up to an offset has at least the last record below that offset, or nothing where that
record is a deletion marker whose time has passed. So two logs agree where, below the larger of their clean points, each
key's last record is the same in both; a marker may be missing in either, with everything that it deleted. What both
hold at an offset is the same record. Batches may differ: they lose records, and their base timestamp tells the time of
markers.

A log that was cleaned beyond the end of the unit lacks what later records replaced. A key that has none there may have
had a marker: of that key nothing can be said.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeGuard

from xxhash import xxh3_64_intdigest, xxh3_128_digest, xxh3_128_hexdigest

from federation.audit.comparison.findings import Class, Finding, Side
from federation.audit.comparison.unit import Unit, UnitCopy
from federation.audit.segments.batches import Batch, Break, walk
from federation.audit.segments.records import StoredRecord, Unopenable, records

CONTROL, TRANSACTIONAL = 0x20, 0x10
FINDINGS_MAX = 1_000
"""Of one class in a unit; the last of them stands for all that follow."""
LAST_RECORD, LAST_MARKER = "the last record of its key", "the deletion marker of its key"
"""What `by_key` of the evidence calls what the other side lacks."""


class Latest(NamedTuple):
    """The last record of a key."""

    offset: int
    is_marker: bool


@dataclass
class KeyTable:
    """What one copy holds. `later`: keys that have a record at or above the unit's end."""

    copy: UnitCopy
    to_offset: int
    digests: dict[int, int] = field(default_factory=dict)  # of records, by offset
    latest: dict[bytes, Latest] = field(default_factory=dict)
    later: set[bytes] = field(default_factory=set)
    troubles: list[Finding] = field(default_factory=list)
    batches: int = 0
    is_transactional: bool = False

    @property
    def is_sound(self) -> bool:
        return not self.troubles

    def may_hide(self, key: bytes) -> bool | None:
        """Whether a later record has replaced what is missing here; None: nobody can know."""
        if self.copy.clean <= self.to_offset:
            return False
        return True if key in self.later else None

    def fingerprint(self) -> str:
        """The same for all copies that agree by key."""
        alive = sorted(one.offset for one in self.latest.values() if not one.is_marker)
        return xxh3_128_hexdigest(json.dumps([(at, self.digests[at]) for at in alive]).encode())


def read(copy: UnitCopy, unit: Unit) -> KeyTable:
    """Raises OSError."""
    table = KeyTable(copy, unit.to_offset)
    for part in copy.parts:
        with open(part.path, "rb", buffering=0) as file:
            for found in walk(part):
                if isinstance(found, Break):
                    if found.base_offset < unit.to_offset:
                        table.troubles.append(_break(unit, copy.side, found))
                    continue
                file.seek(found.position)
                _add_batch(table, unit, found, file.read(found.size))
    return table


def _add_batch(table: KeyTable, unit: Unit, batch: Batch, data: bytes) -> None:
    table.batches += batch.base_offset < unit.to_offset
    opened: list[StoredRecord] = []
    why = "" if batch.sound else "the checksum fails"
    try:
        opened = list(records(data)) if batch.sound else []
    except Unopenable as reason:
        why = str(reason)
    if why or batch.lie:
        kind = Class.MALFORMED if batch.sound else Class.DAMAGED
        evidence = {"position": batch.position, "because": why or batch.lie}
        where = batch.base_offset, batch.next_offset
        table.troubles.append(_finding(unit, where, kind, table.copy.side, evidence))
        return
    table.is_transactional |= bool(batch.attributes & TRANSACTIONAL)
    for record in opened:
        if record.offset >= unit.from_offset:
            _add(table, record, is_control=bool(batch.attributes & CONTROL))


def _add(table: KeyTable, record: StoredRecord, *, is_control: bool) -> None:
    key = None if record.key is None or is_control else xxh3_128_digest(record.key)
    if record.offset >= table.to_offset:
        if key is not None:
            table.later.add(key)
        return
    body = record.timestamp.to_bytes(8, "big", signed=True) + record.body
    table.digests[record.offset] = xxh3_64_intdigest(body)
    if key is not None:
        before = table.latest.get(key)
        if before is None or before.offset <= record.offset:
            table.latest[key] = Latest(record.offset, record.value is None)


def differences(unit: Unit, source: KeyTable, mirror: KeyTable) -> list[Finding]:
    """Of two copies; the first stands in the source's place."""
    found = [*_divergent(unit, source, mirror), *_by_key(unit, source, mirror)]
    if source.is_transactional or mirror.is_transactional:
        needed = "what was aborted: transactions of a compacted topic are not judged by key"
        where = unit.from_offset, unit.to_offset
        found.append(_finding(unit, where, Class.NOT_ASKED, Side.NEITHER, {"needed": needed}))
    return list(bounded(sorted(found)))


def _divergent(unit: Unit, source: KeyTable, mirror: KeyTable) -> Iterator[Finding]:
    for offset in source.digests.keys() & mirror.digests.keys():
        one, other = source.digests[offset], mirror.digests[offset]
        if one != other:
            finding = _at(unit, offset, Class.DIVERGENT, "another record at this offset")
            yield finding._replace(
                source_fingerprint=f"{one:016x}", mirror_fingerprint=f"{other:016x}"
            )


def _by_key(unit: Unit, source: KeyTable, mirror: KeyTable) -> Iterator[Finding]:
    for key in source.latest.keys() | mirror.latest.keys():
        one, other = source.latest.get(key), mirror.latest.get(key)
        if _is_ahead(one, other):
            yield from _lacking(unit, source, mirror, key, one)
        elif _is_ahead(other, one):
            yield from _lacking(unit, mirror, source, key, other)


def _is_ahead(one: Latest | None, other: Latest | None) -> TypeGuard[Latest]:
    """Whether a side has a later record of a key than the other, and that says something else."""
    if one is None or (other is not None and other.offset >= one.offset):
        return False
    return not one.is_marker or (other is not None and not other.is_marker)


def _lacking(
    unit: Unit, holder: KeyTable, other: KeyTable, key: bytes, last: Latest
) -> Iterator[Finding]:
    """`other` does not have the holder's last record of the key, nor a later one."""
    offset = last.offset
    hidden = other.may_hide(key)
    if hidden:
        return
    is_missing = holder.copy.side is Side.SOURCE or holder.copy.side is other.copy.side
    if hidden is None:
        needed = f"whether the key of this record was deleted later, on the {other.copy.side}"
        evidence = {"needed": needed}
        yield _finding(unit, (offset, offset + 1), Class.NOT_ASKED, Side.NEITHER, evidence)
        return
    kind = Class.MISSING_ON_MIRROR if is_missing else Class.EXTRA_ON_MIRROR
    fingerprint = f"{holder.digests[offset]:016x}@{offset}"  # never that of a batch that moved
    what = LAST_MARKER if last.is_marker else LAST_RECORD
    finding = _at(unit, offset, kind, what, key=key.hex())
    if is_missing:
        yield finding._replace(source_fingerprint=fingerprint)
    else:
        yield finding._replace(mirror_fingerprint=fingerprint)


def _at(unit: Unit, offset: int, kind: Class, what: str, **more: str) -> Finding:
    evidence = {"by_key": what, **more}
    found = _finding(unit, (offset, offset + 1), kind, Side.NEITHER, evidence)
    return found._replace(records=1)


def _finding(
    unit: Unit,
    where: tuple[int, int],
    kind: Class,
    side: Side,
    evidence: Mapping[str, object],
) -> Finding:
    text = json.dumps(evidence, sort_keys=True)
    return Finding(*unit[:2], *where, kind, side, where[0], evidence=text)


def _break(unit: Unit, side: Side, found: Break) -> Finding:
    stop = max(found.base_offset, min(found.next_offset, unit.to_offset))
    kind = Class.UNREADABLE if stop > found.base_offset else Class.DAMAGED
    evidence = {
        "file": found.path.rsplit("/", 1)[-1],
        "position": found.position,
        "bytes": found.size,
    }
    return _finding(unit, (found.base_offset, stop), kind, side, evidence)


def bounded(findings: Sequence[Finding]) -> Iterator[Finding]:
    """At most `FINDINGS_MAX` of each class, deletion markers apart: the ledger explains them by another rule."""
    counts: dict[tuple[Class, bool], int] = {}
    last: dict[tuple[Class, bool], Finding] = {}
    for finding in findings:
        which = finding.kind, LAST_MARKER in finding.evidence
        counts[which] = counts.get(which, 0) + 1
        if counts[which] < FINDINGS_MAX:
            yield finding
        elif which not in last:
            last[which] = finding
        else:
            before = last[which]
            last[which] = before._replace(
                to_offset=finding.to_offset, records=before.records + finding.records
            )
    yield from last.values()
