"""truncate-and-restore: a former primary's topic becomes the mirror of the region that it was failed over to.

The link coordinator goes by the record alone, so that another one goes on where it ended:

    PENDING_SETUP_FOR_RESTORE   the link becomes the topic's writer: producers are refused
                                each leader compares its log with the source's, and the record has what is in common
                                every in-sync replica seals what it has beyond, once it has all that its leader has
                                groups past the common offset are moved back
                                the hole ledger says what is cut
    PENDING_RESTORE             each leader truncates, in a leader epoch of its own, and follows the source
    ACTIVE                      every leader follows, and no replica that may be elected has its old tail

Until PENDING_RESTORE nothing is removed, and a failover makes the topic what it was. Lineage says what is in common: a
cut begins leader epochs that no other region gives out (`mirror_cut`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.errors import Refusal
from brokers.ids import NO_PARTITION_LEADER_EPOCH, Instant, Offset, TopicPartition
from brokers.metadata.commands.mirror_commands import superseder_of
from brokers.region import MirrorPartitionStatus
from linker.config import DivergencePolicy
from linker.control.divergence_cuts import divergence_cuts, offsets_cut
from linker.control.link_settings import LinkSettings
from linker.control.mirror_reports import MirrorReports
from linker.control.mirror_topic import MirrorTopic
from linker.control.writer_changes import taken_by_link
from linker.errors import DIVERGED
from linker.gathering import TOGETHER_MAX
from linker.records import hole_ledger
from linker.records.hole_ledger import Hole
from linker.records.mirror_record import READERS_MAX, MirrorRecord, RestorePoint
from linker.records.mirror_state import RESTORING, TRANSITIONS, MirrorState, MirrorTrigger
from linker.region_client import Effects, RegionClient

CHECK_MS: Final = 100
RETRY_MS: Final = 500
READERS_WAIT_MS: Final = (
    10_000  # for brokers that do not say what groups have read; the tail is sealed all the same
)


class MirrorRestore:
    """Of one mirror topic, on the link coordinator. `because`: what it waits for."""

    def __init__(
        self,
        region: RegionClient,
        link: LinkSettings,
        reports: MirrorReports,
        mirror: MirrorTopic,
    ) -> None:
        self.because = ""
        self._region = region
        self._link = link
        self._reports = reports
        self._mirror = mirror
        self._is_asking = False  # an answer will lead on
        self._timer: int | None = None

    def follow(self, now: Instant) -> Effects:
        """The record is new, this broker coordinates now, or an answer has come."""
        record = self._mirror.record
        if not self._region.is_coordinator or self._is_asking or self._mirror.is_forgotten:
            return []
        if self._is_due(record):
            return self._restore(record, now)
        if record.state not in RESTORING:
            return []
        topic = self._region.view.image.topics_by_name.get(self._mirror.topic)
        if topic is None:
            return []  # deleted; its record will be, too
        if topic.writer is None or superseder_of(topic.writer) is not None:
            return self._take_over(topic.writer)
        self._is_asking = True
        is_setup = record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
        is_sealing = is_setup and bool(record.restore)
        names = (self._mirror.topic,)
        return self._reports.collect(
            names, self._on_collected, now, groups=is_setup, replicas=is_sealing
        )

    def _is_due(self, record: MirrorRecord) -> bool:
        """Whether the link's configuration decides what an operator would."""
        is_diverged = record.state is MirrorState.FAILED and record.error in DIVERGED
        return is_diverged and self._link.config.divergence_policy is DivergencePolicy.TRUNCATE

    def _restore(self, record: MirrorRecord, now: Instant) -> Effects:
        self._is_asking = True
        target = TRANSITIONS[record.state, MirrorTrigger.RESTORE]
        restored = record.restored(target, f"mirror.divergence.policy: {record.reason}", now)
        return self._mirror.change(restored, self._on_written)

    def _take_over(self, expected_writer: str | None) -> Effects:
        self._is_asking = True
        self.because = "the link becomes the topic's writer"
        command = taken_by_link(self._region, self._mirror, expected_writer)
        return self._region.set_writer(command, self._on_taken_over)

    def _on_taken_over(self, result: object, now: Instant) -> Effects:
        self._is_asking = False
        if isinstance(result, Refusal):
            self.because = result.because
            self._again_in(RETRY_MS, now)
            return []
        return self.follow(now)

    def _again_in(self, pause_ms: int, now: Instant) -> None:
        if self._timer is None:
            self._timer = self._region.timers.set(now + pause_ms, self._on_time)

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return self.follow(now)

    def _on_collected(self, now: Instant) -> Effects:
        self._is_asking = False
        record = self._mirror.record
        if record.state is MirrorState.PENDING_RESTORE:
            return self._end(now)
        if record.state is not MirrorState.PENDING_SETUP_FOR_RESTORE:
            return self.follow(now)  # it may have failed meanwhile, and be due
        return self._begin_truncation(now) if record.restore else self._note_points(now)

    def _wait(self, because: str, now: Instant) -> Effects:
        self.because = because
        self._reports.pace.looked(self._mirror.topic, self._mirror.partition_count, now)
        self._again_in(self._reports.pace.pause(CHECK_MS), now)
        return []

    def _write(
        self, now: Instant, partition_epochs: tuple[int, ...] = (), **changes: object
    ) -> Effects:
        self._is_asking = True
        record = replace(self._mirror.record, **changes)  # type: ignore[arg-type]
        return self._mirror.change(record, self._on_written, partition_epochs)

    def _on_written(self, refusal: Refusal | None, now: Instant) -> Effects:
        self._is_asking = False
        if refusal is not None:
            return self._wait(refusal.because, now)
        return self.follow(now)

    def _each(self, lacks: Callable[[int], str]) -> str:
        """What the first partition lacks that lacks something."""
        found = (lacks(index) for index in range(self._mirror.partition_count))
        return next(filter(None, found), "")

    # --- the steps ---

    def _note_points(self, now: Instant) -> Effects:
        points: list[RestorePoint] = []
        began_at: list[Offset] = []

        def lacks(index: int) -> str:
            partition = TopicPartition(self._mirror.topic, index)
            report = self._reports.of(partition, now, self._mirror.version)
            if report is None:
                return f"the leader of partition {index} does not answer"
            if report.common_offset < 0:
                why = f": {report.trouble}" if report.trouble else ""
                return f"partition {index} is not compared with its source yet{why}"
            points.append(_point(report))
            began_at.append(report.source_began_at)
            return ""

        mirror = self._mirror
        because = mirror.lacking_at_source or self._each(lacks)
        committed, is_all = self._reports.readers(mirror.topic, mirror.version)
        if not because and not is_all and now - mirror.record.since < READERS_WAIT_MS:
            because = "groups that have read the topic are looked for"
        if because:
            return self._wait(because, now)
        readers = [
            one
            for one in committed
            if one.partition < len(points) and one.offset > points[one.partition].offset
        ]
        furthest = sorted(readers, key=lambda one: points[one.partition].offset - one.offset)
        return self._write(
            now,
            restore=tuple(points),
            began_at=tuple(began_at),
            readers=tuple(furthest[:READERS_MAX]),
        )

    def _begin_truncation(self, now: Instant) -> Effects:
        mirror = self._mirror
        points = tuple(self._as_now(index, now) for index in range(len(mirror.record.restore)))
        if points != mirror.record.restore:
            return self._write(now, restore=points)
        effects = mirror.clamp.follow(mirror.record, mirror.version, now)
        because = self._reports.not_sealed(mirror.topic, mirror.version, len(points))
        if not because and not self._reports.is_clamped(mirror.topic, mirror.version):
            why = self._reports.trouble(mirror.topic)
            because = f"groups are moved back: {why}" if why else "groups are moved back"
        if because:
            return effects + self._wait(because, now)
        cuts = divergence_cuts(mirror.record, mirror.version, self._reports, now)
        epochs = self._partition_epochs(len(points))
        return effects + (self._record(cuts, epochs) if cuts else self._write_sealed(epochs, now))

    def _partition_epochs(self, count: int) -> tuple[int, ...]:
        """By which each replica in sync has sealed its tail: one that comes into sync until that is written has not."""
        topic = self._region.view.image.topics_by_name.get(self._mirror.topic)
        found = topic.partitions[:count] if topic is not None else ()
        return tuple(each.partition_epoch for each in found)

    def _as_now(self, index: int, now: Instant) -> RestorePoint:
        """Its end is where the log of the leader ends: an election may have lost what no replica in sync had."""
        point = self._mirror.record.restore[index]
        partition = TopicPartition(self._mirror.topic, index)
        report = self._reports.of(partition, now, self._mirror.version)
        if point.offset == point.end or report is None or report.log_end_offset < 0:
            return point
        is_of_source = report.last_epoch > point.leader_epoch
        end = max(point.offset, report.log_end_offset)
        return point if is_of_source else point._replace(end=end)

    def _record(self, cuts: Sequence[Hole], epochs: tuple[int, ...]) -> Effects:
        self._is_asking = True
        command = hole_ledger.record(self._region.view.image, *cuts[:TOGETHER_MAX])
        left = cuts[TOGETHER_MAX:]
        recorded = partial(self._on_recorded, self._mirror.version, left, epochs)
        return [self._region.propose(command, recorded)]

    def _on_recorded(
        self,
        version: Offset,
        left: Sequence[Hole],
        epochs: tuple[int, ...],
        result: object,
        now: Instant,
    ) -> Effects:
        self._is_asking = False
        if self._mirror.version != version:
            return self.follow(now)  # what was sealed may be another tail than is to be cut by now
        if isinstance(result, Refusal):
            return self._wait(result.because, now)
        return self._record(left, epochs) if left else self._write_sealed(epochs, now)

    def _write_sealed(self, epochs: tuple[int, ...], now: Instant) -> Effects:
        target = TRANSITIONS[self._mirror.record.state, MirrorTrigger.SEALED]
        return self._write(now, epochs, state=target, since=now)

    def _end(self, now: Instant) -> Effects:
        def lacks(index: int) -> str:
            partition = TopicPartition(self._mirror.topic, index)
            report = self._reports.of(partition, now, self._mirror.version)
            if report is None:
                return f"the leader of partition {index} does not answer"
            why = f": {report.trouble}" if report.trouble else ""
            return (
                ""
                if report.is_following
                else f"partition {index} does not follow its source yet{why}"
            )

        because = self._each(lacks)
        if because:
            return self._wait(because, now)
        record = self._mirror.record
        target = TRANSITIONS[record.state, MirrorTrigger.RESTORED]
        restored = offsets_cut(record, self._region.holes.of(self._region.view.image, record.topic))
        changed = Changed(f"mirror {record.topic}", "restored", f"{restored} records are orphans")
        return [changed, *self._write(now, state=target, since=now, reason="")]


def _point(report: MirrorPartitionStatus) -> RestorePoint:
    """A partition that has only what its source has, or follows it already, has no orphans.

    It may have lost its stream just now, and get more of its source in the same leader epoch until the point is noted.
    """
    offset = report.common_offset
    if report.is_following or 0 <= report.log_end_offset <= offset:
        return RestorePoint(offset, offset, NO_PARTITION_LEADER_EPOCH)
    return RestorePoint(offset, max(offset, report.log_end_offset), report.last_epoch)
