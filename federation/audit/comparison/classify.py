"""What an island is: the one place where batches are opened.

Damage is looked for first (the side whose checksum fails is the damaged one), then the leader epoch, then the
records themselves.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xxhash import xxh3_64_hexdigest

from federation.audit.comparison.findings import Class, Finding, Side, continues
from federation.audit.comparison.merge import Island
from federation.audit.segments.batches import Batch
from federation.audit.segments.headers import HEADER
from federation.audit.segments.records import (
    Contents,
    StoredRecord,
    Unopenable,
    compare,
    lie,
    records,
)

HEADER_FIELDS = (
    *("base_offset", "length", "leader_epoch", "magic", "crc", "attributes", "last_offset_delta"),
    *("first_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence"),
    "records",
)
CODEC, CONTROL = 0x07, 0x20
PAYLOAD_BYTES_MAX = 256


class Scene(NamedTuple):
    """Where the island is, how to read its bytes, and whether evidence may quote keys and values."""

    topic: str
    partition: int
    read: Callable[[Batch], bytes]
    payload: bool


def classify(island: Island, scene: Scene, before: Finding | None) -> Iterator[Finding]:
    """What the island is. `before` is what was found last: what only continues it brings no evidence of its own.

    So a mirror that differs everywhere is not looked at byte by byte everywhere.
    """
    source, mirror = island
    if not source or not mirror:
        side, kind = (
            (source, Class.MISSING_ON_MIRROR) if source else (mirror, Class.EXTRA_ON_MIRROR)
        )
        yield from (_alone(batch, kind, scene) for batch in side)
        return
    damaged = _side(source, mirror, lambda batch: not batch.sound)
    lying = _side(source, mirror, lambda batch: bool(batch.lie))
    if damaged is not Side.NEITHER:
        finding, contents = _finding(island, scene, Class.DAMAGED, damaged), None
    elif lying is not Side.NEITHER:
        finding, contents = _finding(island, scene, Class.MALFORMED, lying), None
    elif len(source) == len(mirror) == 1 and _same_but_epoch(source[0], mirror[0]):
        finding, contents = _finding(island, scene, Class.EPOCH_MISMATCH, Side.NEITHER), None
    else:
        contents = _opened(island, scene)
        closed = Side.NEITHER
        if contents is None:
            closed = _side(source, mirror, lambda batch: bool(lie(scene.read(batch))))
        kind = Class.MALFORMED if contents is None else _difference(island, scene, contents)
        finding = _finding(island, scene, kind, closed)
    if before is not None and continues(finding, before):
        yield finding
    else:
        contents = contents or _opened(island, scene)
        yield _with_evidence(finding, island, scene, contents)


def _alone(batch: Batch, kind: Class, scene: Scene) -> Finding:
    island = Island((batch,), ()) if kind is Class.MISSING_ON_MIRROR else Island((), (batch,))
    return _with_evidence(_finding(island, scene, kind, Side.NEITHER), island, scene, None)


def displaced(batch: Batch, side: Side, scene: Scene, covered: bool) -> Finding:
    """A batch outside its side's rising order; `covered`: that side has its offsets in place as well."""
    island = Island((batch,), ()) if side is Side.SOURCE else Island((), (batch,))
    kind = Class.DUPLICATE if covered else Class.DISPLACED
    return _with_evidence(_finding(island, scene, kind, side), island, scene, None)


def _side(
    source: Sequence[Batch], mirror: Sequence[Batch], is_bad: Callable[[Batch], bool]
) -> Side:
    left, right = any(map(is_bad, source)), any(map(is_bad, mirror))
    if left and right:
        return Side.BOTH
    return Side.SOURCE if left else Side.MIRROR if right else Side.NEITHER


def _same_but_epoch(source: Batch, mirror: Batch) -> bool:
    return (source.base_offset, source.size, source.body) == (
        mirror.base_offset,
        mirror.size,
        mirror.body,
    )


def _difference(island: Island, scene: Scene, contents: Contents) -> Class:
    if any(batch.attributes & CONTROL for batch in (*island.source, *island.mirror)):
        return Class.CONTROL_BATCH_MISMATCH
    if contents.differing or (contents.only_source and contents.only_mirror):
        return Class.DIVERGENT
    if contents.only_source:
        return Class.MISSING_ON_MIRROR
    if contents.only_mirror:
        return Class.EXTRA_ON_MIRROR
    return Class.DIVERGENT if _headers_differ(island, scene) else Class.REBATCHED


def _headers_differ(island: Island, scene: Scene) -> bool:
    """One batch each side, and their headers say different things about the same records."""
    fields = _fields(island, scene)
    one, other = fields.get("attributes", (0, 0))
    return (one ^ other) & ~CODEC != 0 or bool(fields.keys() - {"length", "crc", "attributes"})


def _fields(island: Island, scene: Scene) -> dict[str, tuple[int, int]]:
    """Header fields that differ, where one batch stands against one."""
    if len(island.source) != 1 or len(island.mirror) != 1:
        return {}
    source = HEADER.unpack_from(scene.read(island.source[0]))
    mirror = HEADER.unpack_from(scene.read(island.mirror[0]))
    rows = zip(HEADER_FIELDS, source, mirror, strict=True)
    return {name: (left, right) for name, left, right in rows if left != right}


def _opened(island: Island, scene: Scene) -> Contents | None:
    """The records of both sides compared, or None where a batch cannot be opened."""
    try:
        source = [record for batch in island.source for record in records(scene.read(batch))]
        mirror = [record for batch in island.mirror for record in records(scene.read(batch))]
    except Unopenable:
        return None
    return compare(source, mirror)


def _finding(island: Island, scene: Scene, kind: Class, side: Side) -> Finding:
    batches = (*island.source, *island.mirror)
    from_offset = min(batch.base_offset for batch in batches)
    return Finding(
        topic=scene.topic,
        partition=scene.partition,
        from_offset=from_offset,
        to_offset=max(batch.next_offset for batch in batches),
        kind=kind,
        side=side,
        first_offset=from_offset,
        batches=max(len(island.source), len(island.mirror)),
        records=max(_records(island.source), _records(island.mirror)),
        source_fingerprint=_fingerprint(island.source),
        mirror_fingerprint=_fingerprint(island.mirror),
    )


def _with_evidence(
    finding: Finding, island: Island, scene: Scene, contents: Contents | None
) -> Finding:
    first = contents.first_offset if contents is not None else None
    return finding._replace(
        first_offset=finding.from_offset if first is None else first,
        first_byte=_first_byte(island, scene),
        evidence=json.dumps(_evidence(island, scene, contents), sort_keys=True),
    )


def _records(batches: Sequence[Batch]) -> int:
    return sum(max(0, batch.records) for batch in batches)


def _fingerprint(batches: Sequence[Batch]) -> str:
    return "+".join(f"{batch.body:032x}" for batch in batches[:4])


def _first_byte(island: Island, scene: Scene) -> int:
    """Within the batch; -1 unless one batch stands against one."""
    if len(island.source) != 1 or len(island.mirror) != 1:
        return -1
    source, mirror = scene.read(island.source[0]), scene.read(island.mirror[0])
    pairs = enumerate(zip(source, mirror, strict=False))
    differing = (number for number, (left, right) in pairs if left != right)
    return next(differing, -1 if len(source) == len(mirror) else min(len(source), len(mirror)))


def _evidence(island: Island, scene: Scene, contents: Contents | None) -> dict[str, object]:
    evidence: dict[str, object] = {}
    for name, side in (("source", island.source), ("mirror", island.mirror)):
        if side:
            evidence[name] = [_place(batch) for batch in side[:4]]
    fields = _fields(island, scene)
    if fields:
        evidence["header"] = fields
    if contents is not None and contents.first_offset is not None:
        evidence["records"] = {
            "differing": contents.differing,
            "only_on_source": contents.only_source,
            "only_on_mirror": contents.only_mirror,
        }
        evidence["example"] = [_example(record, scene.payload) for record in contents.example]
    return evidence


def _place(batch: Batch) -> dict[str, object]:
    return {
        "file": batch.path.rsplit("/", 1)[-1],
        "position": batch.position,
        "bytes": batch.size,
        "offsets": [batch.base_offset, batch.next_offset],
        "checksum": "valid" if batch.sound else "wrong",
        **({"lie": batch.lie} if batch.lie else {}),
        "leader_epoch": batch.leader_epoch,
    }


def _example(record: StoredRecord | None, payload: bool) -> dict[str, object] | None:
    """Enough to find the record; its bytes only when asked for, since an audit's report travels."""
    if record is None:
        return None
    shown: dict[str, object] = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key_xxh3": xxh3_64_hexdigest(record.key or b""),
        "body_xxh3": xxh3_64_hexdigest(record.body),
        "body_bytes": len(record.body),
    }
    if payload:
        for name, data in (("key", record.key), ("value", record.value)):
            shown[name] = (
                None if data is None else data[:PAYLOAD_BYTES_MAX].decode("utf-8", "replace")
            )
    return shown
