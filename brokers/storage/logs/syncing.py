"""Which files wait for a sync and which are being synced; how a sync ended.

`sync_files` is the only part of storage that may run in another thread.
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
    """Files to sync, in the order of the log, and how far the log then is on the disk.

    `writings` tells of its small files what was written of them when the sync began.
    """

    paths: dict[str, None] = field(default_factory=dict)
    next_offset: Offset = 0
    writings: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FlushResult:
    """How a sync ended; `failures` says why, by path, what could not be synced."""

    log: LocalLog
    next_offset: Offset
    failures: Mapping[str, str]


def sync_files(files: Files, log: LocalLog, target: SyncTarget) -> FlushResult:
    """Sync every file of the target, whatever becomes of the others."""
    failures: dict[str, str] = {}
    for path in target.paths:
        try:
            files.sync(path)
        except SyncError as error:
            failures[path] = str(error)
            with suppress(DiskError):
                # At once: should the process end now, the next one has to know.
                files.touch(marker_in(log.directory))
        except DiskError as error:
            failures[path] = str(error)
    return FlushResult(log, target.next_offset, failures)


class Syncs:
    """By partition, of open logs only. `asked` names those that wait."""

    def __init__(self, files: Files, asked: dict[TopicPartition, SyncTarget]) -> None:
        self._files = files
        self.asked = asked
        self._under_way: dict[TopicPartition, SyncTarget] = {}  # begun, and not ended

    def ask(self, partition: TopicPartition, log: LocalLog, segment: LogSegment) -> None:
        """For a segment of the log, and for what is to be synced with it."""
        next_offset, is_active = log.end_of(segment), segment is log.active
        # A sealed segment is trusted with its indexes once the recovery point is past it. They were finished when it
        # was sealed, so where they are on the disk its last batch may have been there for long.
        if next_offset < log.synced_offset or (is_active and next_offset == log.synced_offset):
            return
        target = self.asked.setdefault(partition, SyncTarget())
        paths = [segment.path] if is_active else segment.paths
        target.paths.update(dict.fromkeys(log.unsynced_paths))
        target.paths.update(dict.fromkeys(paths))
        target.next_offset = next_offset

    def begin(self, partition: TopicPartition, log: LocalLog) -> Callable[[], FlushResult]:
        target = self._under_way[partition] = self.asked.pop(partition)
        target.writings = dict(log.unsynced_paths)
        return lambda: sync_files(self._files, log, target)

    def ended(self, partition: TopicPartition, log: LocalLog, *, well: bool) -> None:
        target = self._under_way.pop(partition, None)
        if (
            well and target is not None
        ):  # else the log was in another directory meanwhile, which synced it
            synced = {path: each for path, each in target.writings.items() if path in target.paths}
            log.synced(synced)

    def sync_now(self, partition: TopicPartition, log: LocalLog) -> None:
        """Everything that is not on the disk for certain: nobody knows how a sync that is under way will end."""
        begun = self._under_way.get(partition, SyncTarget()).paths
        asked = self.asked.pop(partition, SyncTarget()).paths
        trimmed = [path for path in begun if not self._files.exists(path)]
        for path in dict.fromkeys((*begun, *asked)):
            if path not in trimmed:
                self._files.sync(path)
                log.synced({path: log.unsynced_paths.get(path, 0)})

    def trimmed(self, partition: TopicPartition, gone: list[str]) -> None:
        """These files are gone: nobody waits for them."""
        if target := self.asked.get(partition):
            target.paths = {path: None for path in target.paths if path not in gone}

    def drop(self, partition: TopicPartition) -> None:
        """The log is no longer open."""
        self.asked.pop(partition, None)
        self._under_way.pop(partition, None)
