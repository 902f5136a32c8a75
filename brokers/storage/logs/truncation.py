"""Cut the end off a log: what a follower does with batches that its leader's history does not have (KIP-101).

The order makes a crash at any point harmless: first nothing claims any more that the tail is on the disk, then segments
go, the last one first, then the batches of the one that stays, and last the leader epochs. What a crash leaves is a log
that ends somewhere between the old end and the new one, and recovery opens it as it opens any other.
"""

from brokers.effects import TruncateLog
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import SNAPSHOT, file_name, offset_in_name


def cut_log(
    files: Files,
    root: LogDirCheckpoints,
    effect: TruncateLog,
    log: LocalLog,
) -> None:
    """Remove every batch that holds the offset or lies above it; the log must be opened anew. Raises `DiskError`."""
    offset = max(effect.offset, log.log_start_offset)
    root.lower(effect.partition, offset)
    try:
        end = log.cut(offset)
    except BatchError as error:  # the opening that follows finds the damage, and cuts there
        raise DiskError(f"{log.directory}: {error.because}") from error
    for name in files.list(log.directory):
        at = offset_in_name(name, SNAPSHOT)
        if at is not None and at > end:
            files.remove(f"{log.directory}/{file_name(at, SNAPSHOT)}")
    # An epoch that would begin at the new end has no batch left to show for it.
    log.save_epochs([entry for entry in effect.epochs if entry[1] < end])
