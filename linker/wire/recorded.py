"""Records of the metadata log as parts of replies. Ids of topics are written as Kafka does, but for audits."""

from collections.abc import Callable
from dataclasses import asdict
from uuid import UUID

from brokers.ids import id_text
from linker.answers import HeldPartition
from linker.records.decision import Decision
from linker.records.hole_ledger import Hole
from linker.records.mirror_record import Cut
from linker.records.retention_hold import HoldRecord
from linker.wire.v1 import admin_pb2 as pb


def hole_message(hole: Hole, spelled: Callable[[UUID], str] = id_text) -> pb.Hole:
    """`spelled`: how the id of a topic is written."""
    return pb.Hole(
        topic=hole.partition.topic,
        partition=hole.partition.partition,
        from_offset=hole.base_offset,
        to_offset=hole.next_offset,
        cause=hole.cause.value,
        first_seen_ms=hole.first_seen,
        topic_id=spelled(hole.topic_id) if hole.topic_id else "",
        deleted_at_ms=hole.deleted_at or 0,
        bytes=hole.size if hole.size >= 0 else None,
    )


def hold_message(hold: HoldRecord, partitions: tuple[HeldPartition, ...]) -> pb.RetentionHold:
    return pb.RetentionHold(
        link_name=hold.link,
        destination_cluster_id=hold.cluster_id,
        topic=hold.topic,
        topic_id=id_text(hold.topic_id),
        max_bytes=hold.max_bytes,
        max_ms=hold.max_ms,
        since_ms=hold.since,
        dropped_at_ms=hold.dropped_at or 0,
        partitions=[pb.HeldPartition(**asdict(one)) for one in partitions],
    )


def cut_message(cut: Cut) -> pb.Cut:
    partitions = [
        pb.CutPartition(
            partition=index,
            offset=one.offset,
            source_high_watermark=one.source_high_watermark,
            source_clock_ms=one.source_clock,
            missing=one.missing,
            leader_epoch=one.leader_epoch,
        )
        for index, one in enumerate(cut.partitions)
    ]
    return pb.Cut(
        kind=cut.kind.value,
        at_ms=cut.at,
        partitions=partitions,
        known_missing=cut.missing,
        is_known_missing_exact=cut.is_missing_exact,
    )


def decision_message(decision: Decision) -> pb.Decision:
    return pb.Decision(
        decision_id=decision.asked.decision_id,
        topic=decision.topic,
        topic_id=id_text(decision.topic_id),
        link_name=decision.link,
        kind=decision.kind.value,
        generation=decision.generation,
        asked_at_ms=decision.asked.at,
        asked_by=decision.asked.by,
        reason=decision.asked.why,
        done_at_ms=decision.done_at,
        known_missing=decision.cut.missing,
        is_known_missing_exact=decision.cut.is_missing_exact,
        cut=cut_message(decision.cut),
        origins=decision.origins,
    )
