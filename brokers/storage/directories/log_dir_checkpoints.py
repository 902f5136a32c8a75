"""A log directory's root: Kafka's four offset checkpoints, two of ours, the clean shutdown file, leftovers of removals.

The checkpoints may be lost: the high watermark advances again, a lost log start offset restores whole segments, without
a recovery point recovery reads more, without the cleaner's a cleaning does. But one of an earlier log of the same name
would do harm: a folder is created only once no checkpoint on disk has its partition. Ours say what a log lacks because
of compaction (`brokers/log/completeness.py`); without them a mirror refuses it as a loss.
"""

from collections.abc import Mapping

from brokers.effects import KeepBrokerEpoch, NoteGap
from brokers.events import Event
from brokers.ids import NO_BROKER_EPOCH, OFFSET_MAX, Instant, Offset, TopicPartition
from brokers.ports import DiskError, Files, Replacing
from brokers.storage.directories.checkpoint_files import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    COMPLETE_FROM,
    HIGH_WATERMARKS,
    LOG_STARTS,
    MARKERS_FROM,
    RECOVERY_POINTS,
    format_clean_shutdown,
    parse_clean_shutdown,
)
from brokers.storage.directories.offset_checkpoint import OffsetCheckpointFile

DELETED_SUFFIX = "-delete"


class LogDirCheckpoints:
    """The checkpoints, and the logs that the last process closed cleanly."""

    def __init__(self, files: Files) -> None:
        self._files = files
        closed = files.exists(CLEAN_SHUTDOWN)
        # Of the clean shutdown file.
        self.previous_broker_epoch = NO_BROKER_EPOCH
        if closed:
            marker = files.read(CLEAN_SHUTDOWN, 0, files.size(CLEAN_SHUTDOWN))
            self.previous_broker_epoch = parse_clean_shutdown(marker)
        self.broker_epoch = NO_BROKER_EPOCH  # for the next clean shutdown file
        files.remove(CLEAN_SHUTDOWN)  # from now on a stop is unclean
        for name in files.list(""):
            if name.endswith(DELETED_SUFFIX):
                files.remove(name)
        self.high_watermarks = OffsetCheckpointFile(files, HIGH_WATERMARKS)
        self.log_starts = OffsetCheckpointFile(files, LOG_STARTS)
        self.recovery_points = OffsetCheckpointFile(files, RECOVERY_POINTS)
        self.cleaner_offsets = OffsetCheckpointFile(files, CLEANER_OFFSETS)
        self.complete_from = OffsetCheckpointFile(files, COMPLETE_FROM)
        self.markers_from = OffsetCheckpointFile(files, MARKERS_FROM)
        # The end of the last one that was appended, or that recovery found: above the recovery point.
        self._gaps: dict[TopicPartition, Offset] = {}
        known = [each for each in self.recovery_points.offsets if files.exists(str(each))]
        self._closed = set(known) if closed else set()
        self._in_doubt = set() if closed else set(known)  # not checked since a crash

    @property
    def _checkpoints(self) -> tuple[OffsetCheckpointFile, ...]:
        return (
            self.high_watermarks,
            self.log_starts,
            self.complete_from,
            self.markers_from,
            self.recovery_points,
            self.cleaner_offsets,
        )

    @property
    def repairs(self) -> tuple[str, ...]:
        """One line for each checkpoint that could not be read."""
        return tuple(each.repair for each in self._checkpoints if each.repair)

    def keep_broker_epoch(self, effect: KeepBrokerEpoch, now: Instant) -> list[Event]:
        """The broker epoch of the next clean shutdown file."""
        self.broker_epoch = effect.broker_epoch
        return []

    def begin_checkpoint(self, offsets: Mapping[TopicPartition, Offset]) -> list[Replacing]:
        """High watermarks and recovery points, to be run in any thread. Raises `DiskError`: then nothing is begun."""
        files = (self.high_watermarks, self.recovery_points)
        self.high_watermarks.offsets.update(offsets)
        self._save_gaps()
        for file in files:
            file.save_failed()
        begun = [file.begin_save() for file in files]
        return [each for each in begun if each is not None]

    def save_log_start(self, partition: TopicPartition, offset: Offset) -> None:
        """Persist a log start offset; a `DiskError` leaves the old one."""
        before = self.log_starts.offsets
        self.log_starts.offsets = before | {partition: offset}
        try:
            self.log_starts.save()
        except DiskError:
            self.log_starts.offsets = before
            raise

    def save_recovery_point(self, partition: TopicPartition, offset: Offset) -> None:
        self.recovery_points.offsets[partition] = offset
        self.save_recovery_points()

    def save_recovery_points(self) -> None:
        self._save_gaps()
        self.recovery_points.save()

    def _save_gaps(self) -> None:
        """What is below recovery points is not read at an opening after a crash, so its gaps are saved before them."""
        for partition, gap in self._gaps.items():
            known = min(gap, self.recovery_points.get(partition))
            self._raise(self.complete_from, partition, known)
            self._raise(self.markers_from, partition, known)
        self.complete_from.save()
        self.markers_from.save()

    def note_gap(self, effect: NoteGap) -> None:
        """Batches are appended that lack records. Raises `DiskError`.

        Recovery takes gaps below the saved `complete_from` for known ones, so markers may be missing up to there.
        """
        partition, complete_from = effect.partition, effect.complete_from
        self._gaps[partition] = effect.next_offset
        if complete_from > effect.next_offset:
            self.save_cleaned(partition, complete_from, complete_from)

    def found_gap(self, partition: TopicPartition, gap_end: Offset, log_end: Offset) -> None:
        """By an opening, which looks only at what was not checked before, and will not look there again once the
        recovery point is above it. -1: it found none. One above the log's end was not written; there may be an earlier
        one then, up to that end.
        """
        if gap_end > self.complete_from.get(partition):
            self._gaps[partition] = gap_end
        elif partition in self._gaps:
            self._gaps[partition] = min(self._gaps[partition], log_end)

    def last_gap(self, partition: TopicPartition) -> Offset:
        """The end of the last gap above the saved ones, 0 if there is none: a log that is opened again has it too."""
        return self._gaps.get(partition, 0)

    def save_cleaned(
        self, partition: TopicPartition, complete_from: Offset, markers_from: Offset
    ) -> None:
        """Before a cleaned segment is put in place."""
        self._raise(self.complete_from, partition, complete_from)
        self._raise(self.markers_from, partition, markers_from)
        self.complete_from.save()
        self.markers_from.save()

    def _raise(self, file: OffsetCheckpointFile, partition: TopicPartition, offset: Offset) -> None:
        if offset > file.get(partition):
            file.offsets[partition] = offset

    def forsake(self, partition: TopicPartition) -> None:
        """Before all of a log is removed: what a crash leaves of it must not be used."""
        self.complete_from.offsets[partition] = OFFSET_MAX
        self.complete_from.save()

    def is_forsaken(self, partition: TopicPartition) -> bool:
        return self.complete_from.get(partition) == OFFSET_MAX

    def begin_anew(self, partition: TopicPartition, offset: Offset) -> None:
        """The log is empty, and begins at `offset`: it lacks nothing by compaction."""
        self.lower(partition, offset)
        self._gaps.pop(partition, None)
        for each in (self.complete_from, self.markers_from):
            each.offsets.pop(partition, None)
            each.save()

    def lower_recovery_point(self, partition: TopicPartition, offset: Offset) -> None:
        """The log may not be synced above `offset`."""
        point = self.recovery_points
        if point.is_above(partition, offset):
            point.offsets[partition] = offset
            point.save()

    def take_over(
        self, other: "LogDirCheckpoints", partition: TopicPartition, synced_offset: Offset
    ) -> None:
        """Persist the checkpoints of a log that moves here, synced up to this offset."""
        self.high_watermarks.offsets[partition] = other.high_watermarks.get(partition)
        self.log_starts.offsets[partition] = other.log_starts.get(partition)
        self.recovery_points.offsets[partition] = synced_offset
        self.cleaner_offsets.offsets[partition] = other.cleaner_offsets.get(partition)
        gap = other._gaps.get(partition, 0)
        self.save_cleaned(
            partition,
            max(gap, other.complete_from.get(partition)),
            max(gap, other.markers_from.get(partition)),
        )
        for each in self._checkpoints:
            each.save()

    def lower(self, partition: TopicPartition, offset: Offset) -> None:
        """Before a truncation to `offset`: persist that no checkpoint of the log is above it."""
        for each in (self.high_watermarks, self.recovery_points, self.cleaner_offsets):
            if each.is_above(partition, offset):
                each.offsets[partition] = offset
                each.save()

    def mark_closed(self) -> None:
        """Write the clean shutdown file, unless a log was not checked since a crash: the next start trusts all logs."""
        self.high_watermarks.save()
        self.save_recovery_points()
        if self._in_doubt:
            return
        self._files.replace(CLEAN_SHUTDOWN, format_clean_shutdown(self.broker_epoch))

    def was_closed(self, partition: TopicPartition) -> bool:
        """Whether the last process closed this log cleanly. True at most once: then the log is open."""
        closed = partition in self._closed
        self._closed.discard(partition)
        self._in_doubt.discard(partition)
        return closed

    def forget(self, partition: TopicPartition) -> None:
        """The partition's folder is removed; the files are updated later."""
        for each in self._checkpoints:
            each.offsets.pop(partition, None)
        self._gaps.pop(partition, None)
        self._closed.discard(partition)
        self._in_doubt.discard(partition)

    def begin(self, partition: TopicPartition) -> None:
        """Before a partition's folder is created: no checkpoint on disk may have the partition."""
        self.forget(partition)
        for each in self._checkpoints:
            if each.may_have(partition):
                each.save()
