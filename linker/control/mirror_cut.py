"""Where a mirror topic is cut, what has to be known for it, and what a promotion needs besides."""

from typing import Final

from brokers.ids import Instant, LeaderEpoch, TopicPartition
from brokers.metadata.commands.mirror_commands import ELECTION_BITS
from linker.control.group_sync import GroupSync
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.records.mirror_record import Cut, CutKind, CutPartition, SourceEnd

GROUPS_BEHIND: Final = "group offsets are behind"


def lacking(mirror: MirrorTopic, groups: GroupSync, reports: MirrorReports, now: Instant) -> str:
    """What the mirror lacks of its source, by the newest frames received; empty if it lacks nothing."""
    if not mirror.in_step:
        return "partitions or settings are not in step"
    for index in range(mirror.partition_count):
        partition = TopicPartition(mirror.topic, index)
        report = reports.of(partition, now, mirror.version)
        if report is None:
            return f"the leader of partition {index} does not answer"
        if not report.is_caught_up:
            return f"partition {index} is behind{_advice(mirror)}"
    if not groups.settled(mirror.record.source_topic, now):
        return GROUPS_BEHIND
    return ""


def _advice(mirror: MirrorTopic) -> str:
    """A reversal's source takes no records: it will be caught up with."""
    is_written = not mirror.record.is_reversing
    return "; if producers go on at the source, pause them" if is_written else ""


def unknown_ends(mirror: MirrorTopic, reports: MirrorReports, now: Instant) -> str:
    """Why the ends of some partitions are not known; empty if all are."""
    unknown = []
    for index in range(mirror.partition_count):
        report = reports.of(TopicPartition(mirror.topic, index), now, mirror.version)
        if report is None or not report.is_drained:
            unknown.append(str(index))
    return f"the ends of partitions {', '.join(unknown)} are not known yet" if unknown else ""


def source_ends(mirror: MirrorTopic, reports: MirrorReports, now: Instant) -> tuple[SourceEnd, ...]:
    """What is known of the source, by partition."""
    found = []
    for index in range(mirror.partition_count):
        report = reports.of(TopicPartition(mirror.topic, index), now)
        found.append(
            SourceEnd(report.source_high_watermark, report.source_clock)
            if report is not None
            else SourceEnd(-1, -1)
        )
    return tuple(found)


def lost(mirror: MirrorTopic, reports: MirrorReports, now: Instant) -> str:
    """What was proven for a promotion and is not there any more, as a disk has lost it; empty if nothing is."""
    for index in range(mirror.partition_count):
        report = reports.of(TopicPartition(mirror.topic, index), now, mirror.version)
        proven = _known(mirror, index).high_watermark
        if report is not None and report.log_end_offset < proven:
            return f"partition {index} ends at {report.log_end_offset}, and held {proven}"
    return ""


def cut_of(mirror: MirrorTopic, reports: MirrorReports, kind: CutKind, now: Instant) -> Cut:
    """The mirror's log ends as they are now, which have to be known."""
    partitions = range(mirror.partition_count)
    return Cut(
        kind,
        now,
        tuple(_cut_partition(mirror, reports, kind, index, now) for index in partitions),
        mirror.topic_id,
    )


def _cut_partition(
    mirror: MirrorTopic, reports: MirrorReports, kind: CutKind, index: int, now: Instant
) -> CutPartition:
    report = reports.of(TopicPartition(mirror.topic, index), now, mirror.version)
    assert report is not None and report.is_drained, (mirror.topic, index)
    # A leader that has restarted since the mirror was halted has heard nothing of the source.
    source = max(
        SourceEnd(report.source_high_watermark, report.source_clock), _known(mirror, index)
    )
    first = first_epoch_after(
        max(report.last_epoch, report.leader_epoch, _source_epoch(mirror, index))
    )
    # The other region may make the next number its own, if its reversal is cut all the same.
    first = first_epoch_after(first) if kind is CutKind.WITHDRAW else first
    return CutPartition(report.log_end_offset, *source, first)


def first_epoch_after(newest: LeaderEpoch) -> LeaderEpoch:
    """The first leader epoch after a cut, which no other region gives out: elections raise the lower 16 bits, each cut
    the upper ones. So two histories that part at a cut have no leader epoch in common after it (KIP-101)."""
    return ((newest >> ELECTION_BITS) + 1) << ELECTION_BITS


def _source_epoch(mirror: MirrorTopic, index: int) -> LeaderEpoch:
    """In which the source has written nothing that the mirror holds, perhaps; -1 if it is not known."""
    epochs = mirror.source_state.leader_epochs if mirror.source_state is not None else ()
    return epochs[index] if index < len(epochs) else -1


def _known(mirror: MirrorTopic, index: int) -> SourceEnd:
    known = mirror.record.known
    return known[index] if index < len(known) else SourceEnd(-1, -1)
