"""Records that a replica keeps although their key was deleted: it was away until the deletion marker was gone.

A follower that comes back after more than `delete.retention.ms` gets neither the marker nor what the marker deleted,
here as in Kafka. Nothing is lost by that, and a later record of the key ends it; until then this replica holds a record
that the others do not have.

Each log says below which offset markers were removed from it, or from the log that it was copied from
(`markers_from`). Only below it can one have been missed, by a replica that keeps the record, and have been removed, by
one that does not. That alone could also be said of a live key that a replica has lost. So either another replica of the
region still has the marker, or more replicas of the region lack the record than have it. All else is left to be judged
as a difference; and between the regions it is not asked at all: what a whole region has missed is in its hole ledger.
"""

import json
from collections.abc import Iterator, Sequence

from federation.audit.comparison.by_key import KeyTable, bounded
from federation.audit.comparison.findings import Class, Finding
from federation.audit.comparison.unit import Unit

KEPT_RECORD = "a record whose deletion marker was missed"


def kept_records(unit: Unit, tables: Sequence[KeyTable]) -> list[Finding]:
    """What copies of one region keep so; it is taken out of their tables. Damaged copies have no say."""
    sound = [table for table in tables if table.is_sound]
    found = []
    for key in _apart(sound):
        while keeping := _keeping(key, sound):
            found += [_finding(unit, table, key) for table in keeping]
            for table in keeping:
                del table.latest[key]
    return list(bounded(sorted(found)))


def _apart(tables: Sequence[KeyTable]) -> Iterator[bytes]:
    """Keys whose last record is not the same in all."""
    for key in set[bytes]().union(*(table.latest for table in tables)):
        if len({table.latest.get(key) for table in tables}) > 1:
            yield key


def _keeping(key: bytes, tables: Sequence[KeyTable]) -> list[KeyTable]:
    """The copies that keep a record of the key, and are known to have missed its marker."""
    known = [(table, table.latest[key]) for table in tables if key in table.latest]
    if not known:
        return []
    last = max(one for _, one in known)
    holders = [table for table, one in known if one.offset == last.offset]
    behind = [table for table in tables if not any(table is one for one in holders)]
    if not behind or any(table.may_hide(key) is not False for table in behind):
        return []  # a later record may have replaced it
    if last.is_marker:
        return [
            table
            for table, one in known
            if not one.is_marker and table.copy.markers_from > last.offset
        ]
    could_be = all(table.copy.markers_from > last.offset + 1 for table in tables)
    return holders if could_be and len(behind) > len(holders) else []


def _finding(unit: Unit, table: KeyTable, key: bytes) -> Finding:
    offset = table.latest[key].offset
    evidence = {"by_key": KEPT_RECORD, "key": key.hex(), "markers_from": table.copy.markers_from}
    return Finding(
        *unit[:2],
        offset,
        offset + 1,
        Class.MARKER_MISSED,
        table.copy.side,
        offset,
        records=1,
        evidence=json.dumps(evidence, sort_keys=True),
        replica=table.copy.replica,
    )
