"""What a sync is asked to do and how it ended; the only part of storage that may run in another thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.ids import Offset
from brokers.log.stored_log import StoredLog
from brokers.ports import DiskError, Files


@dataclass(slots=True)
class SyncTarget:
    """Files to sync, in the order of the log, and how far the log then is on the disk."""

    paths: dict[str, None] = field(default_factory=dict)
    next_offset: Offset = 0


@dataclass(frozen=True, slots=True)
class SyncResult:
    """How a sync ended; `failures` says why, by path, what could not be synced."""

    log: StoredLog
    next_offset: Offset
    failures: Mapping[str, str]


def sync_files(files: Files, log: StoredLog, target: SyncTarget) -> SyncResult:
    """Sync every file of the target, whatever becomes of the others."""
    failures: dict[str, str] = {}
    for path in target.paths:
        try:
            files.sync(path)
        except DiskError as error:
            failures[path] = str(error)
    return SyncResult(log, target.next_offset, failures)
