"""Opens or creates the folder of a partition."""

from collections.abc import Iterator

from brokers.ids import Instant, Offset, TopicPartition
from brokers.log.recovered import RecoveredLog, RecoveredSegment
from brokers.ports import Files
from brokers.records.batch import BatchError
from brokers.storage.directories.checkpoint_files import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    format_epochs,
)
from brokers.storage.directories.folders import claim_folder, folder_name
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.directories.removals import Removals
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.recovery.log_loader import Folder, LogLoader, Recovered
from brokers.storage.segments.log_segment import LoadedIndexes, LogSegment


def open_log(
    files: Files,
    root: LogDirCheckpoints,
    partition: TopicPartition,
    topic_id: bytes,
    *,
    loaded: LoadedIndexes,
    checked_offset: Offset,
    index_interval_bytes: int,
    removals: Removals,
    file_delete_delay_ms: int,
    now: Instant,
) -> tuple[LocalLog, RecoveredLog, tuple[str, ...]]:
    """(the files, the log for the core, repairs made); raises `DiskError`.

    Batches below `checked_offset` were written by this process and are still in the page cache.
    """
    directory = folder_name(partition)
    repairs = claim_folder(files, root, partition, topic_id)
    recovery_point = root.recovery_points.get(partition)
    folder = Folder(
        directory=directory,
        recovery_point=max(recovery_point, checked_offset),
        log_start_offset=root.log_starts.get(partition),
        closed=root.was_closed(partition),
        index_interval_bytes=index_interval_bytes,
        discarded=removals.names_in(directory),
        forsaken=root.is_forsaken(partition),
    )
    found = LogLoader(files, folder).run(now)
    _keep_what_was_found(files, root, partition, folder, found)
    for segment in found.segments[:-1]:
        segment.find_digest(topic_id)
    stored = LocalLog(
        files,
        directory,
        topic_id,
        found.segments,
        loaded,
        removals,
        log_start_offset=found.log_start_offset,
        next_offset=found.next_offset,
        synced_offset=min(recovery_point, found.next_offset),
        settled=found.settled,
        file_delete_delay_ms=file_delete_delay_ms,
    )
    stored.unsynced_paths = dict.fromkeys(_unsynced_paths(files, stored, directory), 0)
    recovered = _recovered(root, partition, topic_id, found, now)
    return stored, recovered, (*repairs, *found.repairs)


def _keep_what_was_found(
    files: Files,
    root: LogDirCheckpoints,
    partition: TopicPartition,
    folder: Folder,
    found: Recovered,
) -> None:
    """In the checkpoints of the directory and the epoch file of the log."""
    if folder.forsaken:
        root.begin_anew(partition, found.next_offset)
    root.found_gap(partition, found.gap_end, found.next_offset)
    if root.recovery_points.get(partition) > found.next_offset:
        # New writes below it are not synced.
        root.save_recovery_point(partition, found.next_offset)
    if found.epochs_changed:
        files.replace(f"{folder.directory}/{LEADER_EPOCHS}", format_epochs(found.epochs.entries))


def _unsynced_paths(files: Files, stored: LocalLog, directory: str) -> Iterator[str]:
    """The small files that may be unsynced."""
    names = [LEADER_EPOCHS]
    if stored.synced_offset <= stored.log_start_offset:
        names.insert(0, PARTITION_METADATA)
    for path in (f"{directory}/{name}" for name in names):
        if files.exists(path):
            yield path


def _recovered(
    root: LogDirCheckpoints,
    partition: TopicPartition,
    topic_id: bytes,
    found: Recovered,
    now: Instant,
) -> RecoveredLog:
    active = found.segments[-1]
    high_watermark = root.high_watermarks.get(partition)
    cleaner_offset = root.cleaner_offsets.get(partition)  # alone in logs of earlier releases
    gap_end = root.last_gap(partition)
    return RecoveredLog(
        topic_id,
        segments=(
            *(_recovered_segment(segment, now) for segment in found.segments[:-1]),
            _recovered_segment(active, now)._replace(index_entries=len(active.index)),
        ),
        log_start_offset=found.log_start_offset,
        log_end_offset=found.next_offset,
        high_watermark_checkpoint=min(
            max(high_watermark, found.log_start_offset), found.next_offset
        ),
        epochs=found.epochs.entries,
        producers=found.producers.entries,
        cleaner_offset=cleaner_offset,
        complete_from=max(root.complete_from.get(partition), gap_end, cleaner_offset),
        markers_from=max(root.markers_from.get(partition), gap_end),
        stored_high_watermark=high_watermark,
    )


def _recovered_segment(segment: LogSegment, now: Instant) -> RecoveredSegment:
    """A segment's age is that of its first batch, at most `now`."""
    try:
        first = next((header.max_timestamp for _, header in segment.scan_headers(0)), -1)
    except BatchError:
        first = -1  # a read of that batch reports the corruption
    created_at = min(first, now) if first >= 0 else now
    return RecoveredSegment(
        segment.base_offset, segment.size, created_at, segment.max_timestamp, segment.is_digested
    )
