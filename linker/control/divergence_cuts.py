"""What a restore cuts from the logs of a mirror topic, as entries of the hole ledger."""

from collections.abc import Iterable

from brokers.ids import Instant, Offset, TopicPartition
from linker.control.mirror_reports import MirrorReports
from linker.records.hole_ledger import Hole, HoleCause
from linker.records.mirror_record import MirrorRecord


def divergence_cuts(
    record: MirrorRecord, version: Offset, reports: MirrorReports, now: Instant
) -> tuple[Hole, ...]:
    """Of each partition that has a tail, which its leader has sealed. What lies in front of where the source's log
    began, and is sealed as well, is none: the source never had these offsets. Nor is what was deleted before."""
    cuts = []
    for index, point in enumerate(record.restore):
        partition = TopicPartition(record.topic, index)
        report = reports.of(partition, now, version)
        offset = max(point.offset, report.log_start_offset) if report else point.offset
        if offset < point.end:
            size = reports.sealed_bytes(partition, version)
            cause = HoleCause.DIVERGENCE_CUT
            epoch = point.leader_epoch
            hole = Hole(partition, offset, point.end, cause, now, size=size, tail_epoch=epoch)
            cuts.append(hole)
    return tuple(cuts)


def offsets_cut(record: MirrorRecord, ledger: Iterable[Hole]) -> int:
    """How many offsets the cuts of this restore have, by the ledger of the topic."""
    ends = {index: (point.end, point.leader_epoch) for index, point in enumerate(record.restore)}
    return sum(
        hole.next_offset - hole.base_offset
        for hole in ledger
        if hole.is_cut and ends.get(hole.partition.partition) == (hole.next_offset, hole.tail_epoch)
    )
