"""The files that wait for a sync and those that are being synced.

`sync_files` may run in another thread.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from brokers.ids import Offset, TopicPartition
from brokers.ports import DiskError, Files, SyncError
from brokers.storage.logs.failed_syncs import marker_in
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.log_segment import LogSegment


@dataclass(slots=True)
class SyncTarget:
    """Files to sync, in the order of the log; then everything below `next_offset` is synced.

    `writings`: the versions of the small files when the sync began.
    """

    paths: dict[str, None] = field(default_factory=dict)
    next_offset: Offset = 0
    writings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlushResult:
    """The result of a sync; `failures` are the errors by path."""

    log: LocalLog
    next_offset: Offset
    failures: Mapping[str, str]


def sync_files(files: Files, log: LocalLog, target: SyncTarget) -> FlushResult:
    """Sync every file of the target, also after a failure."""
    failures: dict[str, str] = {}
    for path in target.paths:
        try:
            files.sync(path)
        except SyncError as error:
            failures[path] = str(error)
            with suppress(DiskError):
                # At once: if the process ends now, the next one must know it.
                files.touch(marker_in(log.directory))
        except DiskError as error:
            failures[path] = str(error)
    return FlushResult(log, target.next_offset, failures)


class Syncs:
    """Of open logs. `pending`: the partitions that wait for a sync."""

    def __init__(self, files: Files, pending: dict[TopicPartition, SyncTarget]) -> None:
        self._files = files
        self.pending = pending
        self._in_flight: dict[TopicPartition, SyncTarget] = {}  # begun, not ended

    def add(self, partition: TopicPartition, log: LocalLog, segment: LogSegment) -> None:
        """Add a segment of the log, and the files to sync with it."""
        next_offset, is_active = log.end_of(segment), segment is log.active
        # A sealed segment and its indexes are trusted below the recovery point. Its indexes were written last, when it
        # was sealed: they may be unsynced although its last batch is synced.
        if next_offset < log.synced_offset or (is_active and next_offset == log.synced_offset):
            return
        target = self.pending.setdefault(partition, SyncTarget())
        paths = [segment.path] if is_active else segment.paths
        target.paths.update(dict.fromkeys(log.unsynced_paths))
        target.paths.update(dict.fromkeys(paths))
        target.next_offset = next_offset

    def flush(self, partition: TopicPartition, log: LocalLog) -> None:
        """Sync what has been appended; nobody waits for it."""
        self.add(partition, log, log.active)

    def begin(self, partition: TopicPartition, log: LocalLog) -> Callable[[], FlushResult]:
        target = self._in_flight[partition] = self.pending.pop(partition)
        target.writings = dict(log.unsynced_paths)
        return lambda: sync_files(self._files, log, target)

    def ended(self, partition: TopicPartition, log: LocalLog, *, well: bool) -> None:
        target = self._in_flight.pop(partition, None)
        if (
            well and target is not None
        ):  # else the log was in another directory meanwhile, which synced it
            synced = {path: each for path, each in target.writings.items() if path in target.paths}
            log.synced(synced)

    def sync_now(self, partition: TopicPartition, log: LocalLog) -> None:
        """Sync everything, also the files of a sync in flight, which may fail."""
        begun = self._in_flight.get(partition, SyncTarget()).paths
        pending = self.pending.pop(partition, SyncTarget()).paths
        trimmed = [path for path in begun if not self._files.exists(path)]
        for path in dict.fromkeys((*begun, *pending)):
            if path not in trimmed:
                self._files.sync(path)
                log.synced({path: log.unsynced_paths.get(path, 0)})

    def sync_all(self, partition: TopicPartition, log: LocalLog) -> None:
        """Sync everything, up to the log's end."""
        self.add(partition, log, log.active)
        self.sync_now(partition, log)
        log.synced_offset = log.next_offset

    def trimmed(self, partition: TopicPartition, gone: list[str]) -> None:
        """These files were removed."""
        if target := self.pending.get(partition):
            target.paths = {path: None for path in target.paths if path not in gone}

    def drop(self, partition: TopicPartition) -> None:
        """The log was closed."""
        self.pending.pop(partition, None)
        self._in_flight.pop(partition, None)
