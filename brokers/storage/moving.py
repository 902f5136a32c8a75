"""Moves a log to another directory of the node (KIP-113), while it is appended to.

The log is copied in steps into `topic-0.ID-future`. The last step copies the rest while nothing is appended, syncs the
copy, marks it as the valid one, renames it and removes the original. A crash before the renaming leaves the original
and an incomplete copy; a crash after it leaves two folders of the name, of which the marked one is valid. The open log
continues with the new files.
"""

import re
from collections.abc import Iterator
from contextlib import suppress

from brokers.ids import Offset, TopicPartition
from brokers.ports import DiskError, Files
from brokers.storage.directories.folders import ASIDE_NAME_MAX, aside_name, folder_name
from brokers.storage.directories.log_dir_checkpoints import DELETED_SUFFIX
from brokers.storage.directories.removals import DELETED
from brokers.storage.directories.strays import remove_folder
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import CLEANED, DIGEST, INDEX, LOG, SNAPSHOT, TIME_INDEX
from brokers.storage.segments.log_segment import LogSegment
from brokers.storage.storage import Storage

FUTURE_SUFFIX = "-future"
_FUTURE = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)\.[0-9a-f]+-future")
STEP_BYTES = 1 << 20  # of one step, in which the node does nothing else


class SourceError(Exception):
    """The original's directory failed; the cause is its `DiskError`."""


def mark_in(folder: str) -> str:
    """The file that marks the valid one of two folders of one name."""
    return f"{folder}/moved-here"


def interrupted(files: Files) -> Iterator[TopicPartition]:
    """Remove the incomplete copies of the last process -> their partitions, if known. Raises `DiskError`."""
    for name in list(files.list("")):
        if name.endswith(FUTURE_SUFFIX):
            files.remove(name)
            is_whole = len(name) < ASIDE_NAME_MAX
            if is_whole and (match := _FUTURE.fullmatch(name)):
                yield TopicPartition(match["topic"], int(match["partition"]))


class Copy:
    """`advance` until it returns True, then `finish`. `size` bytes of batches are copied, all below `next_offset`."""

    def __init__(self, source: Storage, target: Storage, partition: TopicPartition) -> None:
        self.source = source
        self.target = target
        self.size = 0
        self.next_offset: Offset = 0
        self._partition = partition
        self._folder = ""
        self._log: LocalLog | None = None
        self._copied: dict[str, int] = {}  # bytes by name, of incomplete files and the last one
        self._whole: dict[LogSegment, None] = {}

    def advance(self, log: LocalLog) -> bool:
        """Copy a further part -> whether all is copied. Raises `DiskError`, or `SourceError`."""
        files = self.target.files
        if log is not self._log:  # truncated or reopened: begin again
            self.discard()
            self._folder = aside_name(self._partition, log.topic_id.hex(), FUTURE_SUFFIX)
            files.remove(self._folder)
            files.make_directory(self._folder)
            self._log = log
        self._drop_trimmed(log)
        left = STEP_BYTES
        for segment in list(log.segments):
            if segment not in self._whole:
                left -= self._copy_some(segment, left, is_sealed=segment is not log.active)
                if left <= 0:
                    return False
        return True

    def _copy_some(self, segment: LogSegment, size_max: int, *, is_sealed: bool) -> int:
        copied = self._copied.get(segment.path, 0)
        size = min(segment.size - copied, size_max)
        if size > 0 or copied == 0:
            self._append(segment.path, self._read(segment.path, copied, size))
            self._copied[segment.path] = copied + size
            self.size += size
        if is_sealed and copied + size == segment.size:
            for path in segment.paths_beside:
                self._copy_whole(path)
            self._whole[segment] = None
        self.next_offset = segment.base_offset
        return size

    def _drop_trimmed(self, log: LocalLog) -> None:
        kept = {segment.path for segment in log.segments}
        for path in [path for path in self._copied if path not in kept]:
            self.size -= self._copied.pop(path)
            stem = self._there(path).removesuffix(LOG)
            for suffix in (DIGEST, SNAPSHOT, TIME_INDEX, INDEX, LOG):
                self.target.files.remove(stem + suffix)

    def finish(self, log: LocalLog) -> None:
        """Make the complete copy the log. If it raises `DiskError` or `SourceError`, nothing has changed."""
        source, target = self.source, self.target
        folder = folder_name(self._partition)
        try:
            log.save_behind()
            names = list(source.files.list(folder))
        except DiskError as error:
            raise SourceError from error
        for path in (f"{folder}/{name}" for name in names):
            is_copied = path in self._copied or any(path in each.paths for each in self._whole)
            is_digest = path.endswith(DIGEST) and target.files.exists(self._there(path))
            is_no_part = path.endswith((".tmp", CLEANED, DELETED))
            if not is_copied and not is_digest and not is_no_part:
                self._copy_whole(path)
        target.files.replace(mark_in(self._folder), b"")
        target.root.take_over(source.root, self._partition, log.next_offset)
        try:
            target.files.rename(self._folder, folder)
        except DiskError:
            self._keep_original(folder)
            raise

    def _keep_original(self, folder: str) -> None:
        """The rename may have happened. If both folders are marked, the metadata's directory is valid."""
        with suppress(DiskError):
            self.source.files.replace(mark_in(folder), b"")
        with suppress(DiskError):
            if not self.target.files.exists(self._folder):
                self.target.files.remove(folder)

    def remove_original(self) -> None:
        """After `finish`: remove the original. A `DiskError` is of its directory; the copy is valid."""
        folder = folder_name(self._partition)
        aside = aside_name(self._partition, "moved", DELETED_SUFFIX)
        remove_folder(self.source.files, folder, aside)
        self.source.root.forget(self._partition)
        with suppress(DiskError):
            self.target.files.remove(mark_in(folder))

    def discard(self) -> None:
        """Remove the copy. If that fails, the next start removes it."""
        self._copied.clear()
        self._whole.clear()
        self.size, self._log = 0, None
        if self._folder:
            with suppress(DiskError):
                self.target.files.remove(self._folder)

    # --- files ---

    def _there(self, path: str) -> str:
        return f"{self._folder}/{path.rpartition('/')[2]}"

    def _read(self, path: str, position: int, size: int) -> bytes:
        try:
            return bytes(self.source.files.read(path, position, size))
        except DiskError as error:
            raise SourceError from error

    def _append(self, path: str, data: bytes) -> None:
        there = self._there(path)
        self.target.files.append(there, [data])
        self.target.files.sync(there)

    def _copy_whole(self, path: str) -> None:
        files: Files = self.source.files
        try:
            data = bytes(files.read(path, 0, files.size(path))) if files.exists(path) else None
        except DiskError as error:
            raise SourceError from error
        self.target.files.remove(self._there(path))
        if data is not None:
            self._append(path, data)
