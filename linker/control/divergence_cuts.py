"""What a restore cuts from the logs of a mirror topic, as entries of the hole ledger."""

from brokers.ids import Instant, Offset, TopicPartition
from linker.control.mirror_reports import MirrorReports
from linker.records.hole_ledger import Hole, HoleCause
from linker.records.mirror_record import MirrorRecord


def divergence_cuts(
    record: MirrorRecord, version: Offset, reports: MirrorReports, now: Instant
) -> tuple[Hole, ...]:
    """Of each partition that has a tail, which its leader has sealed. What lies in front of where the source's log
    began, and is sealed as well, is none: the source never had these offsets."""
    cuts = []
    for index, point in enumerate(record.restore):
        if point.offset < point.end:
            partition = TopicPartition(record.topic, index)
            size = reports.sealed_bytes(partition, version)
            cause = HoleCause.DIVERGENCE_CUT
            hole = Hole(
                partition,
                point.offset,
                point.end,
                cause,
                now,
                size=size,
                tail_epoch=point.leader_epoch,
            )
            cuts.append(hole)
    return tuple(cuts)
