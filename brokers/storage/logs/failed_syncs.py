"""Logs of which a sync has failed: what may be in memory only is written again before anyone relies on it.

Linux tells of a write that failed once, takes its pages for clean, and lets the next sync succeed without them. Nothing
above the recovery point can be believed to be on the disk then, though it can be read. It is not cut: some of it may
have been acknowledged without a sync, and of a change that was asked for the owner has been told that it may have been
made. So it is read as any tail of a crash is, and where it is whole it stays, on the disk this time.

The doubt outlives the process, as the pages do, in an empty file beside the log. A power cut may take that file, and
what was in doubt with it.
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
    """The file that says of a log's folder that a sync has failed there."""
    return f"{directory}/sync-failed"


class FailedSyncs:
    """Which logs of a data directory are in doubt."""

    def __init__(self, files: Files, root: LogDirCheckpoints) -> None:
        self._files = files
        self._root = root
        self._raised: dict[TopicPartition, None] = {}  # where the disk would not even take the file

    def raise_for(self, partition: TopicPartition, synced_offset: Offset | None = None) -> None:
        """A sync failed. Below `synced_offset`, if it is given, the log was on the disk for certain."""
        self._raised[partition] = None
        with suppress(DiskError):
            self._files.touch(marker_in(folder_name(partition)))
        if synced_offset is not None:
            with suppress(DiskError):
                self._root.lower_recovery_point(partition, synced_offset)

    def settle(self, partition: TopicPartition) -> bool:
        """Before a log is opened: write again what is in doubt -> whether anything was. Raises `DiskError`."""
        directory = folder_name(partition)
        marker = marker_in(directory)
        if partition not in self._raised and not self._files.exists(marker):
            return False
        self._rewrite(directory, self._root.recovery_points.get(partition))
        self._files.remove(marker)
        self._raised.pop(partition, None)
        return True

    def forget(self, partition: TopicPartition) -> None:
        """The folder is gone, and the doubt with it."""
        self._raised.pop(partition, None)

    def _rewrite(self, directory: str, recovery_point: Offset) -> None:
        names = list(self._files.list(directory))
        for name in (LEADER_EPOCHS, PARTITION_METADATA):
            if name in names:
                self._files.rewrite(f"{directory}/{name}", 0)
        # Indexes need no mention: from the recovery point on they are made anew.
        bases = sorted(base for name in names if (base := offset_in_name(name, LOG)) is not None)
        for base, following in pairwise([*bases, recovery_point + 1]):
            if following > recovery_point:
                segment = LogSegment(self._files, directory, base, interval=0)
                self._files.rewrite(segment.path, self._settled_bytes(segment, recovery_point))

    def _settled_bytes(self, segment: LogSegment, recovery_point: Offset) -> int:
        """How much of a segment's file lies below the recovery point."""
        settled = 0
        try:
            for position, header in segment.hop(0, self._files.size(segment.path)):
                if header.base_offset >= recovery_point:
                    break
                settled = position + header.length
        except BatchError:
            pass  # from here on nothing can be told apart
        return settled
