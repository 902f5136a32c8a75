"""Logs with a failed sync: data that may be in memory only are written again before they are used.

Linux reports a failed write-back once, marks the pages clean, and lets the next sync succeed without them. Everything
above the recovery point may then be unsynced, although it can be read. It is not truncated: some of it may have been
acknowledged without a sync. So it is recovered like the tail after a crash, and what is valid is written again.

An empty file in the log's folder marks the failed sync beyond the end of the process, as the pages may outlive it. A
power loss may remove that file, and the unsynced data with it.
"""

from contextlib import suppress
from itertools import pairwise

from brokers.ids import Offset, TopicPartition
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError
from brokers.storage.directories.checkpoint_files import LEADER_EPOCHS, PARTITION_METADATA
from brokers.storage.directories.folders import folder_name
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints
from brokers.storage.segments.file_names import LOG, offset_in_name
from brokers.storage.segments.log_segment import LogSegment


def marker_in(directory: str) -> str:
    """The file that marks a log's folder after a failed sync."""
    return f"{directory}/sync-failed"


class FailedSyncs:
    """The logs of a log directory with a failed sync."""

    def __init__(self, files: Files, root: LogDirCheckpoints) -> None:
        self._files = files
        self._root = root
        self._marked: dict[TopicPartition, None] = {}  # also if the file could not be made

    def mark(self, partition: TopicPartition, synced_offset: Offset | None = None) -> None:
        """A sync failed. Everything below `synced_offset`, if given, was synced before."""
        self._marked[partition] = None
        with suppress(DiskError):
            self._files.touch(marker_in(folder_name(partition)))
        if synced_offset is not None:
            with suppress(DiskError):
                self._root.lower_recovery_point(partition, synced_offset)

    def repair(self, partition: TopicPartition) -> bool:
        """Before a log is opened: write again what a failed sync covered -> whether one did. Raises `DiskError`."""
        directory = folder_name(partition)
        marker = marker_in(directory)
        if partition not in self._marked and not self._files.exists(marker):
            return False
        self._rewrite(directory, self._root.recovery_points.get(partition))
        self._files.remove(marker)
        self._marked.pop(partition, None)
        return True

    def forget(self, partition: TopicPartition) -> None:
        """The folder was removed."""
        self._marked.pop(partition, None)

    def _rewrite(self, directory: str, recovery_point: Offset) -> None:
        names = list(self._files.list(directory))
        for name in (LEADER_EPOCHS, PARTITION_METADATA):
            if name in names:
                self._files.rewrite(f"{directory}/{name}", 0)
        # Indexes are rebuilt from the recovery point on.
        bases = sorted(base for name in names if (base := offset_in_name(name, LOG)) is not None)
        for base, following in pairwise([*bases, recovery_point + 1]):
            if following > recovery_point:
                segment = LogSegment(self._files, directory, base, interval=0)
                self._files.rewrite(segment.path, self._synced_bytes(segment, recovery_point))

    def _synced_bytes(self, segment: LogSegment, recovery_point: Offset) -> int:
        """The bytes of a segment's file below the recovery point."""
        synced = 0
        try:
            for position, header in segment.scan_headers(0, self._files.size(segment.path)):
                if header.base_offset >= recovery_point:
                    break
                synced = position + header.length
        except BatchError:
            pass  # corrupt from here on
        return synced
