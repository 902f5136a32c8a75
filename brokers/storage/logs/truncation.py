"""Removes the end of a log: the batches of a follower that its leader does not have (KIP-101).

The order makes a crash at any point harmless: first the checkpoints are lowered, then segments are removed, the last
one first, then batches of the remaining last segment, then leader epochs. A crash leaves a log that ends between the
old and the new end, which recovery opens like any other. A log that is to begin anew is marked first, and recovery
removes what a crash leaves of it.
"""

from brokers.effects import TruncateLog
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import SNAPSHOT, file_name, offset_in_name


def truncate_log(
    files: Files,
    root: LogDirCheckpoints,
    effect: TruncateLog,
    log: LocalLog,
) -> None:
    """Remove the batches that hold the offset or lie above it; the log must be reopened. Raises `DiskError`."""
    offset = max(effect.offset, log.log_start_offset)
    if effect.begins_anew or offset < root.complete_from.get(effect.partition):
        # A cleaning that was in the middle of a swap has not been heard of by the log's core.
        root.forsake(effect.partition)
        offset = log.log_start_offset
    begins_lower = effect.begins_anew and effect.offset < log.log_start_offset
    if begins_lower:
        offset = effect.offset
        root.save_log_start(effect.partition, offset)
    root.lower(effect.partition, offset)
    try:
        end = log.clear(offset) if begins_lower else log.cut(offset)
    except BatchError as error:  # the opening finds the corruption, and truncates there
        raise DiskError(f"{log.directory}: {error.because}") from error
    for name in files.list(log.directory):
        at = offset_in_name(name, SNAPSHOT)
        if at is not None and at > end:
            files.remove(f"{log.directory}/{file_name(at, SNAPSHOT)}")
    # An epoch that would begin at the new end has no batch.
    log.save_epochs([entry for entry in effect.epochs if entry[1] < end])
