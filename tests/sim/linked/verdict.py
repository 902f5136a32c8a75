"""What must be true of every region at the end, wherever the topic has been. Each check yields what is wrong."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from brokers.ids import Offset, TopicPartition
from linker.records.hole_ledger import HOLE_KIND, decode_hole
from tests.sim.disks import Disk
from tests.sim.evidence import batches, log_start
from tests.sim.linked.federation import MirrorBroken, Region
from tests.sim.linked.orphans import orphans
from tests.sim.regions import checks, compacted_logs
from tests.sim.regions.checking import Evidence
from tests.sim.regions.cluster import TOPIC
from tests.sim.regions.compaction import key_of
from tests.sim.regions.inspection import Inspector
from tests.sim.statements import Place

Orphan = tuple[TopicPartition, Offset, bytes]
Disks = Mapping[TopicPartition, Disk]  # of one replica each: all are equal by then


def what_was_read_stays(evidence: Evidence) -> Iterator[str]:
    """P3: a record that was shown and is gone was shown too early, unless a takeover has cut it.

    Then it is sealed, if it had not been deleted before.
    """
    sealed = _sealed(evidence)
    for place, value in evidence.statements.read.items():
        partition, offset = place.partition, place.offset
        is_deleted = offset < evidence.statements.trims.get(partition, 0)
        is_accounted = is_deleted or (partition, offset, value) in sealed
        if not (is_accounted and evidence.statements.is_cut(partition, offset, value)):
            yield from checks.missing(evidence, partition, offset, value, "read")


def what_was_read_was_written(evidence: Evidence) -> Iterator[str]:
    """The same of compacted topics: it counts at its offset, or it was sealed, or a later one of its key was.

    Of a log that begins anew above it, it may have been replaced by a later record of its key that counts.
    """
    sealed = _sealed(evidence)
    stays = (
        (place, value)
        for place, value in evidence.statements.read.items()
        if not (
            _may_be_gone(evidence, place, value)
            and (
                _is_sealed(evidence, (place.partition, place.offset, value), sealed)
                or _is_replaced(evidence, place, value)
            )
        )
    )
    yield from compacted_logs.untrue(evidence, stays)


def _may_be_gone(evidence: Evidence, place: Place, value: bytes) -> bool:
    """A takeover has cut it; or it was copied anew, and its source's log began above that."""
    replicas = evidence.replicas.get(place.partition, ())
    starts = (log_start(evidence.disks[each], place.partition) for each in replicas)
    is_cut = evidence.statements.is_cut(place.partition, place.offset, value)
    return is_cut or place.offset < min(starts, default=0)


def _is_replaced(evidence: Evidence, place: Place, value: bytes) -> bool:
    """By a record above where the log begins now."""
    if place.partition not in evidence.replicas:
        return False
    counts, key = compacted_logs.truth_of(evidence, place.partition).records, key_of(value)
    is_below = place.offset not in counts
    return is_below and any(at > place.offset and one.key == key for at, one in counts.items())


def _sealed(evidence: Evidence) -> set[Orphan]:
    return {key for disk in evidence.disks.values() for key in orphans(disk)}


REGIONAL: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
    ("P2", checks.replicas_are_equal),
    ("P3", what_was_read_stays),
    ("P10", checks.stored_once),
    ("metadata", checks.metadata_is_one),
)

COMPACTED: tuple[tuple[str, Callable[[Evidence], Iterator[str]]], ...] = (
    ("P2", compacted_logs.replicas_agree),
    ("P8", compacted_logs.nothing_is_lost),
    ("P3", what_was_read_was_written),
    ("P3", compacted_logs.readers_know_the_latest),
    ("P10", compacted_logs.stored_once),
    ("P10", compacted_logs.sequences_are_known),
    ("metadata", checks.metadata_is_one),
)


def judge_region(region: Region, inspector: Inspector, disks: Disks) -> None:
    """Raises MirrorBroken for what the region itself, its log and its orphan stores show."""
    evidence = region.evidence
    evidence.replicas = {
        partition: replicas for partition, (_, _, replicas, _) in inspector.agreed.items()
    }
    evidence.holes = ledger(region)
    is_compacted = evidence.history is not None
    for invariant, check in COMPACTED if is_compacted else REGIONAL:
        for finding in check(evidence):
            raise MirrorBroken(f"{invariant} in {region.region}: {finding}")
    for finding in (unaccounted_by_key if is_compacted else unaccounted)(region, disks):
        raise MirrorBroken(f"P5 in {region.region}: {finding}")
    for finding in () if is_compacted else skipped(region, disks):
        raise MirrorBroken(f"P8 in {region.region}: {finding}")


def unaccounted(region: Region, disks: Disks) -> Iterator[str]:
    """P1, P5: what a region has acknowledged lies in its log, where it said, or in one of its orphan stores, unless an
    operator has discarded it."""
    held = values_of(disks)
    sealed = _sealed(region.evidence) | region.discarded
    if region.statements.loses:
        return
    for ack in region.evidence.statements.acknowledged:
        partition, offset = ack.place.partition, ack.place.offset
        may_be_gone = offset < region.statements.trims.get(partition, 0)
        if may_be_gone or held.get(partition, {}).get(offset) == ack.value:
            continue
        if (partition, offset, ack.value) not in sealed:
            yield f"{ack.value!r:.40} was acknowledged at {partition}@{offset}, and is nowhere"


def unaccounted_by_key(region: Region, disks: Disks) -> Iterator[str]:
    """P1, P5: it counts at its offset, or was sealed with its log, or a later record of its key was.

    Of a log that begins anew above it, it may have been replaced by a later record of its key that counts.
    """
    evidence = region.evidence
    sealed = _sealed(evidence)
    latest = _latest_that_count(region, disks)
    for ack in evidence.statements.acknowledged:
        partition, offset, value = ack.place.partition, ack.place.offset, ack.value
        if partition not in disks or offset < region.statements.trims.get(partition, 0):
            continue
        written = compacted_logs.truth_of(evidence, partition).records.get(offset)
        if written is not None and written.value == value:
            continue
        if written is None and latest.get((partition, key_of(value)), -1) > offset:
            continue
        if not _is_sealed(evidence, (partition, offset, value), sealed):
            yield f"{value!r:.40} was acknowledged at {partition}@{offset}, and is nowhere"


def _latest_that_count(
    region: Region, disks: Disks
) -> Mapping[tuple[TopicPartition, bytes], Offset]:
    """By partition and key, where the last record lies that was acknowledged there and counts."""
    latest: dict[tuple[TopicPartition, bytes], Offset] = {}
    for ack in region.evidence.statements.acknowledged:
        partition, offset = ack.place.partition, ack.place.offset
        if partition not in disks:
            continue
        written = compacted_logs.truth_of(region.evidence, partition).records.get(offset)
        if written is not None and written.value == ack.value:
            known = latest.get((partition, key_of(ack.value)), -1)
            latest[partition, key_of(ack.value)] = max(known, offset)
    return latest


def _is_sealed(evidence: Evidence, place: Orphan, sealed: Iterable[Orphan]) -> bool:
    partition, offset, value = place
    key = key_of(value)
    if place in sealed:
        return True
    if any(at == partition and key_of(later) == key and o > offset for at, o, later in sealed):
        return True
    history = evidence.history
    assert history is not None
    may_be_over = not evidence.markers_last
    return may_be_over and history.deletes(partition, key, offset)


def skipped(region: Region, disks: Disks) -> Iterator[str]:
    """P8: every offset below a log's end was in the region once, or is in its hole ledger."""
    holes = ledger(region)
    for partition, disk in disks.items():
        if partition.topic not in region.topics:
            continue
        ranges = sorted({*region.covered.get(partition, ()), *holes.get(partition, ())})
        position, end = 0, checks.end_of(disk, partition)
        for base, following in [*ranges, (end, end)]:
            if base > position and position < end:
                yield f"{partition} skips [{position}, {min(base, end)}), which is not in the ledger"
            position = max(position, following)


def ledger(
    region: Region, wanted: str = HOLE_KIND
) -> dict[TopicPartition, list[tuple[Offset, Offset]]]:
    """Its entries of a kind, by its own metadata."""
    found: dict[TopicPartition, list[tuple[Offset, Offset]]] = {}
    for (kind, _), document in region.newest.documents.items():
        if kind == wanted:
            hole = decode_hole(document.body)
            found.setdefault(hole.partition, []).append((hole.base_offset, hole.next_offset))
    return found


def chosen_starts(region: Region) -> dict[TopicPartition, Offset]:
    """Where its partitions began as mirrors, other than where their sources did."""
    found = (
        decode_hole(document.body)
        for (kind, _), document in region.newest.documents.items()
        if kind == HOLE_KIND
    )
    return {hole.partition: hole.next_offset for hole in found if hole.is_chosen}


def unsealed(region: Region) -> Iterator[str]:
    """No transition but a restore moves anything out of a log."""
    for node in region.nodes.values():
        for partition, offset, value in orphans(node.disk):
            yield f"{value!r:.40} of {partition}@{offset} was sealed at {node.place}"


def values_of(disks: Disks) -> dict[TopicPartition, dict[Offset, bytes]]:
    """Every record of the topic, by offset."""
    return {
        partition: {
            offset: value for batch in batches(disk, partition) for offset, value in batch.values()
        }
        for partition, disk in disks.items()
        if partition.topic == TOPIC
    }
