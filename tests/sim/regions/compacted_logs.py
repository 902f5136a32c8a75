"""What must be on the disks of a region whose logs are compacted, once all is well again.

Each replica cleans its own log. From where its checkpoint says that nothing was removed, it has every record that was
written; below, it may lack what a later record of the same key has replaced, and deletion markers whose time is over.
What it has lies where it was written. From the largest of these offsets on all replicas have the same bytes (P2).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brokers.ids import METADATA_PARTITION, Offset, ProducerId, TopicPartition
from tests.sim.disks import Disk
from tests.sim.evidence import Batch, batches, log_start
from tests.sim.history import Truth, Written, written_in
from tests.sim.statements import Place

if TYPE_CHECKING:
    from tests.sim.regions.checking import Evidence

_COMPLETE_FROM = "complete-from-offset-checkpoint"
Holes = Sequence[tuple[Offset, Offset]]


@dataclass(frozen=True)
class CompactedLog:
    """One replica, as its disk shows it. `ends`: one past the last batch of each producer. `left_out`: what it was
    copied without, and no replica has."""

    start: Offset
    complete_from: Offset
    batches: tuple[Batch, ...]
    records: Mapping[Offset, Written]
    ends: Mapping[ProducerId, Offset]
    left_out: frozenset[Offset] = frozenset()

    def above(self, offset: Offset) -> dict[Offset, bytes]:
        """Its batches from there on, as bytes."""
        return {each.base_offset: each.data for each in self.batches if each.base_offset >= offset}


def read(disk: Disk, partition: TopicPartition) -> CompactedLog:
    start = log_start(disk, partition)
    found = tuple(each for each in batches(disk, partition) if each.next_offset > start)
    records = {
        offset: record for each in found for offset, record in written_in(each) if offset >= start
    }
    ends: dict[ProducerId, Offset] = {}
    for each in found:
        ends[each.producer_id] = each.next_offset
    return CompactedLog(start, complete_from(disk, partition), found, records, ends)


def complete_from(disk: Disk, partition: TopicPartition) -> Offset:
    """From where on the log has all that was written."""
    if not disk.exists(_COMPLETE_FROM):
        return 0
    lines = bytes(disk.read(_COMPLETE_FROM, 0, disk.size(_COMPLETE_FROM))).decode().splitlines()
    key = f"{partition.topic} {partition.partition} "
    return max((int(line.removeprefix(key)) for line in lines if line.startswith(key)), default=0)


# --- one log ---


def misplaced(log: CompactedLog, truth: Truth) -> Iterator[str]:
    """What lies where something else was written, or nothing was."""
    for offset, record in log.records.items():
        if truth.records.get(offset) != record:
            written = truth.records.get(offset)
            yield f"holds {_brief(record)} at {offset}, where {_brief(written)} was written"


def removed(
    log: CompactedLog, truth: Truth, *, markers_last: bool, holes: Holes = ()
) -> Iterator[str]:
    """What is gone and should not be."""
    for offset, record in truth.records.items():
        if offset < log.start or offset in log.records or offset in log.left_out:
            continue
        if any(base <= offset < following for base, following in holes):
            continue
        if offset >= log.complete_from:
            clean = f"which says that it has everything from {log.complete_from} on"
            yield f"lacks {_brief(record)} at {offset}, {clean}"
        elif not truth.is_replaced(offset) and (markers_last or not record.is_marker):
            yield f"lacks {_brief(record)} at {offset}, the last one of its key: it went too early"


def forgotten(log: CompactedLog, truth: Truth) -> Iterator[str]:
    """Producers whose last sequence nothing in the log says any more."""
    for producer, end in truth.ends.items():
        if end > log.start and log.ends.get(producer, -1) < end:
            found = log.ends.get(producer, "nothing")
            yield f"has lost the last sequence of producer {producer}, before {end}: has {found}"


# --- the replicas of a region ---


def logs_of(evidence: "Evidence") -> Iterator[tuple[TopicPartition, str, CompactedLog, Truth]]:
    """(partition, where, the replica there, what was written): of every replica."""
    for partition, replicas in evidence.replicas.items():
        truth = truth_of(evidence, partition)
        logs = {number: read(evidence.disks[number], partition) for number in replicas}
        held = {offset for log in logs.values() for offset in log.records}
        for number, log in logs.items():
            left_out = frozenset(evidence.left_out(number, partition)) - held
            where = f"{partition} on node {number}"
            yield partition, where, replace(log, left_out=left_out), truth


def truth_of(evidence: "Evidence", partition: TopicPartition) -> Truth:
    assert evidence.history is not None
    if partition not in evidence.truths:
        logs = [batches(evidence.disks[each], partition) for each in evidence.replicas[partition]]
        evidence.truths[partition] = evidence.history.truth(partition, logs)
    return evidence.truths[partition]


def nothing_is_lost(evidence: "Evidence") -> Iterator[str]:
    """P1, P8: every log has what was written, but for what compaction may remove."""
    for partition, where, log, truth in logs_of(evidence):
        holes = evidence.holes.get(partition, ())
        for finding in removed(log, truth, markers_last=evidence.markers_last, holes=holes):
            yield f"{where} {finding}"


def what_was_acknowledged_was_written(evidence: "Evidence") -> Iterator[str]:
    """P1: it is what counts at its offset."""
    told = ((each.place, each.value) for each in evidence.statements.acknowledged)
    yield from untrue(evidence, told)


def what_was_read_was_written(evidence: "Evidence") -> Iterator[str]:
    """P3: it is what counts at its offset."""
    yield from untrue(evidence, evidence.statements.read.items())


def untrue(evidence: "Evidence", told: Iterable[tuple[Place, bytes]]) -> Iterator[str]:
    """What clients were told of, and does not count at its offset."""
    for place, value in told:
        trimmed = place.offset < evidence.statements.trims.get(place.partition, 0)
        if place.partition in evidence.replicas and not trimmed:
            written = truth_of(evidence, place.partition).records.get(place.offset)
            if written is None or written.value != value:
                yield f"{value!r:.40} was told of at {place}; there lay {_brief(written)}"


def replicas_agree(evidence: "Evidence") -> Iterator[str]:
    """P2: each record where it was written, and the same bytes above all clean points."""
    logs: dict[TopicPartition, list[CompactedLog]] = {}
    for partition, where, log, truth in logs_of(evidence):
        logs.setdefault(partition, []).append(log)
        for finding in misplaced(log, truth):
            yield f"{where} {finding}"
    for partition, found in logs.items():
        for finding in differing(found):
            yield f"{partition}: {finding}"


def differing(logs: list[CompactedLog]) -> Iterator[str]:
    """Other bytes above the clean points, and the starts, of all."""
    clean = max(max(each.complete_from, each.start) for each in logs)
    first = logs[0].above(clean)
    for log in logs[1:]:
        other = log.above(clean)
        for offset in sorted(first.keys() | other.keys()):
            if first.get(offset) != other.get(offset):
                yield f"other bytes at {offset}, and nobody has cleaned beyond {clean}"


def stored_once(evidence: "Evidence") -> Iterator[str]:
    """P10: however often an idempotent producer sent it, and whether or not its first copy was replaced since."""
    seen: dict[bytes, str] = {}
    for partition in evidence.replicas:
        if partition.topic.startswith("__"):
            continue
        for offset, record in truth_of(evidence, partition).records.items():
            if not evidence.statements.is_idempotent(record.value):
                continue
            here = f"{partition}@{offset}"
            if record.value in seen:
                yield f"{record.value!r:.40} was stored at {seen[record.value]} and at {here}"
            seen[record.value] = here


def sequences_are_known(evidence: "Evidence") -> Iterator[str]:
    """P10: whoever copies a log learns by it which sequence each producer comes to next."""
    for partition, where, log, truth in logs_of(evidence):
        if not partition.topic.startswith("__"):
            for finding in forgotten(log, truth):
                yield f"{where} {finding}"


def readers_know_the_latest(evidence: "Evidence") -> Iterator[str]:
    """P3: whoever has read beyond it has the last value of a key, and none of one that was deleted."""
    left_out: dict[TopicPartition, frozenset[Offset]] = {}
    for partition, _, log, _ in logs_of(evidence):
        left_out[partition] = left_out.get(partition, frozenset()) | log.left_out
    for (reader, partition), table in evidence.statements.tables.items():
        if partition not in evidence.replicas:
            continue
        truth = truth_of(evidence, partition)
        for key, offset in truth.latest.items():
            record, (at, value) = truth.records[offset], table.get(key, (-1, b""))
            is_known = at == offset and value == record.value
            may_lack = record.is_marker and not evidence.markers_last
            trimmed = offset < evidence.statements.trims.get(partition, 0)
            is_beyond = offset >= evidence.statements.reached.get((reader, partition), 0)
            is_left_out = offset in left_out[partition]
            if not (is_known or may_lack or trimmed or is_beyond or is_left_out):
                told = f"has {value!r:.40} of {at}, and {_brief(record)} at {offset} is the last"
                yield f"{reader} of {partition}, key {key!r}: {told}"


def _brief(record: Written | None) -> str:
    if record is None:
        return "nothing"
    return f"{record.value[:40]!r}{' (a deletion marker)' if record.is_marker else ''}"


def is_compacted(partition: TopicPartition) -> bool:
    """In a run with compaction every topic is."""
    return partition != METADATA_PARTITION
