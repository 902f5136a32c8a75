"""The logs of one log directory: performs storage effects at once, through the `Files` port.

A failed write closes its log and is reported as `LogFailed`; the next `OpenLog` recovers the log from its files, and
writes again what a failed sync left in memory only. A partition with appends to sync is in `unsynced`; the host runs
`begin_sync` → the work, in any thread → `end_sync`. Large appends that may be written later are in `unwritten`, if the
host uses it; other effects of their log wait for them.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from uuid import UUID

from brokers.effects import (
    Append,
    CleanLog,
    CloseLog,
    ConfigureLog,
    FlushLog,
    KeepBrokerEpoch,
    KeepProducers,
    LoadState,
    MeasureDirectories,
    NoteGap,
    OpenLog,
    RemoveStrays,
    Roll,
    SaveBehind,
    SaveEpochs,
    SaveHighWatermarks,
    SaveState,
    SealTail,
    StorageEffect,
    TrimLog,
    TruncateLog,
)
from brokers.events import Event, LogFailed, LogOpened, Written
from brokers.ids import MIGRATING_DIRECTORY, Instant, Offset, TopicPartition
from brokers.ports import DiskError, Files, SyncError
from brokers.storage.cleaning.cleanings import Cleanings
from brokers.storage.directories.folders import aside_name, folder_name
from brokers.storage.directories.log_dir_checkpoints import DELETED_SUFFIX, LogDirCheckpoints
from brokers.storage.directories.periodic_checkpoint import PeriodicCheckpoint
from brokers.storage.directories.removals import Removals
from brokers.storage.directories.state_files import measured, perform_on_state
from brokers.storage.directories.strays import strays_removed
from brokers.storage.logs.appends import Appends, Performer
from brokers.storage.logs.digests import Digests
from brokers.storage.logs.failed_syncs import FailedSyncs
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.logs.orphans import OrphanStore
from brokers.storage.logs.reads import Reads
from brokers.storage.logs.rolling import roll_log
from brokers.storage.logs.saving_behind import SavesBehind
from brokers.storage.logs.syncing import FlushResult, Syncs
from brokers.storage.logs.truncation import truncate_log
from brokers.storage.logs.writing import WORTH_A_THREAD_BYTES, Write, Writes
from brokers.storage.pending_work import PendingWork
from brokers.storage.recovery.opening import open_log
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.segments.log_segment import LoadedIndexes


class Storage:
    """`unsynced`, `unwritten`, `undigested`: the partitions that wait for a sync, a write, a digest.

    `cleanings` has those that wait for a cleaning. `discarded`: what is to be removed after a delay. `checkpoints`:
    what any thread is to run. `unsaved`: the partitions of which the host is to perform a `SaveBehind`.
    """

    def __init__(
        self,
        files: Files,
        *,
        index_interval_bytes: int = 4096,
        file_delete_delay_ms: int = 0,
        directory: UUID = MIGRATING_DIRECTORY,
        pending: PendingWork | None = None,
        writes_behind: bool = False,
        behind_from_bytes: int = WORTH_A_THREAD_BYTES,
    ) -> None:
        """`pending` is shared by the directories of a node.

        Unless it `writes_behind` every append and checkpoint is written at once. `file_delete_delay_ms` is the delay of
        logs whose `OpenLog` names none.
        """
        pending = pending or PendingWork()
        self.directory = directory
        self.files, self.root = files, LogDirCheckpoints(files)
        self._interval = index_interval_bytes
        self._delay_ms = file_delete_delay_ms
        self._removals = Removals(files, directory, pending.discarded)
        self.discarded, self.checkpoints = self._removals.waiting, pending.checkpoints
        self._checkpoint = PeriodicCheckpoint(
            self.root, directory, self.checkpoints if writes_behind else None
        )
        self._failed_syncs = FailedSyncs(files, self.root)
        self._loaded = LoadedIndexes()
        self._logs: dict[TopicPartition, LocalLog] = {}
        # Batches below it, of logs that failed at an append, need no check when they are opened again.
        self._checked: dict[TopicPartition, Offset] = {}
        self._offline: dict[TopicPartition, str] = {}  # -> reason
        self._syncs = Syncs(files, pending.unsynced)
        self.unsynced = self._syncs.pending
        self._writes = Writes(pending.unwritten if writes_behind else None, behind_from_bytes)
        self.unwritten = self._writes.pending
        self._appends = Appends(self._logs, self._writes, self._syncs, self._checked, self._fail)
        self._digests = Digests(files, self._logs, pending.undigested)
        self.undigested = self._digests.pending
        self._behind = SavesBehind(self._logs, pending.unsaved, self._on_log)
        self.uncleaned, self.unsaved = pending.uncleaned, self._behind.pending
        self.cleanings = Cleanings(
            files, self.root, self._logs, self._digests, self.uncleaned, self._fail
        )
        reads = Reads(files, self._logs, self._fail)
        self.find = reads.find
        self._performers = self._performers_of(reads)

    def _performers_of(self, reads: Reads) -> dict[type, Performer]:
        after_writes, settled, files = self._appends.before, self._settled, self.files
        return {
            Append: self._appends.append,
            FlushLog: after_writes(self._flush),
            CleanLog: self.cleanings.clean,
            **reads.performers,
            Roll: after_writes(self._roll),
            OpenLog: settled(self._open),
            SaveEpochs: self._behind.save_epochs,
            SaveBehind: self._behind.save,
            TrimLog: settled(self._trim),
            TruncateLog: settled(self._truncate),
            SealTail: settled(OrphanStore(files, self._logs).seal),
            KeepProducers: lambda each, _: self._on_log(each.partition, lambda log: log.keep(each)),
            ConfigureLog: self._configure,
            CloseLog: settled(self._close),
            RemoveStrays: lambda effect, now: strays_removed(files, self.root, effect, self._logs),
            SaveHighWatermarks: self._save_high_watermarks,
            SaveState: self._perform_on_state,
            LoadState: self._perform_on_state,
            KeepBrokerEpoch: self.root.keep_broker_epoch,
            NoteGap: lambda gap, _: self._on_log(gap.partition, lambda _: self.root.note_gap(gap)),
            MeasureDirectories: lambda effect, now: [measured(effect, {self.directory: files})],
        }

    def _settled(self, perform: Performer) -> Performer:
        """After the writes and the swap that a log is in the middle of."""
        return self.cleanings.before(self._appends.before(perform))

    @property
    def repairs(self) -> tuple[str, ...]:
        """The repairs of the directory's checkpoint files when it was opened."""
        return self.root.repairs

    @property
    def previous_broker_epoch(self) -> int:
        """The broker epoch of the last clean shutdown, if the process before this one ended with it; else -1."""
        return self.root.previous_broker_epoch

    def perform(self, effect: StorageEffect, now: Instant) -> list[Event]:
        return self._performers[type(effect)](effect, now)

    def begin_write(self, partition: TopicPartition) -> Write:
        """Take a partition from `unwritten` -> a write to `run` in any thread."""
        return self._appends.begin_write(partition)

    def end_write(self, partition: TopicPartition, write: Write) -> list[Event]:
        """The events of the write, unless `settle` returned them before."""
        return self._appends.end_write(partition, write)

    def settle(self, partition: TopicPartition) -> list[Event]:
        """Complete the writes of a log."""
        return self._appends.settle(partition)

    def begin_sync(self, partition: TopicPartition) -> Callable[[], FlushResult]:
        """Take a partition from `unsynced` -> a sync to run in any thread, while the log is appended to."""
        return self._syncs.begin(partition, self._logs[partition])

    def end_sync(self, partition: TopicPartition, result: FlushResult) -> list[Event]:
        """`Written` for appends that waited, or `LogFailed`."""
        log = result.log
        is_open = self._logs.get(partition) is log
        if is_open:
            self._syncs.ended(partition, log, well=not result.failures)
        for path, reason in result.failures.items():
            if self.files.exists(path) or (is_open and log.needs(path)):  # else trimmed
                return self._sync_failed(partition, log, reason)
        if not is_open:
            return []  # closed or reopened meanwhile
        was_promised = log.is_synced_to(result.next_offset)
        self.root.recovery_points.offsets[partition] = log.synced_offset
        self._digests.add(partition)
        return [Written(partition, log.synced_offset)] if was_promised else []

    def _sync_failed(self, partition: TopicPartition, log: LocalLog, reason: str) -> list[Event]:
        """Also if the log was closed or reopened: the kernel reports the error only to this sync."""
        self._failed_syncs.mark(partition, log.synced_offset)
        return self._fail(partition, DiskError(reason)) if partition in self._logs else []

    def cleanings_of(self, partition: TopicPartition) -> Cleanings:
        return self.cleanings

    def begin_digest(self, partition: TopicPartition) -> DigestWriting:
        """Take a partition from `undigested` -> a writing whose steps run in any thread. One at a time per log."""
        return self._digests.begin(partition)

    def end_digest(self, partition: TopicPartition, writing: DigestWriting) -> list[Event]:
        """`SegmentSealed`, if the segment still exists."""
        return self._digests.end(partition, writing)

    def sync(self, partition: TopicPartition) -> list[Event]:
        """Begin and end a sync: for hosts without threads."""
        return self.end_sync(partition, self.begin_sync(partition)())

    def close(self) -> None:
        """Clean shutdown, after the core has stopped: the next start need not check the logs.

        Logs that failed, now or before, are recovered at the next start.
        """
        for partition in list(self._logs):
            self.perform(CloseLog(partition, delete=False), 0)
        self._removals.end()
        with suppress(DiskError):
            if not self._offline:
                self.root.mark_closed()

    def abandon(self) -> None:
        """The directory has failed: close its logs without touching their files."""
        for partition in list(self._logs):
            self._drop(partition)
        self._removals.end()

    def opened(self, partition: TopicPartition) -> LocalLog | None:
        """The files of a log, if it is open."""
        return self._logs.get(partition)

    def take_log(self, other: "Storage", partition: TopicPartition) -> list[Event]:
        """The open log of another directory continues in this one; all of it is synced."""
        log = other._logs[partition]
        other._drop(partition)
        was_promised = log.is_synced_to(log.next_offset)
        log.moved_to(self.files, self._loaded, self._removals)
        self._logs[partition] = log
        self._digests.add(partition)
        return [Written(partition, log.synced_offset)] if was_promised else []

    def _open(self, effect: OpenLog, now: Instant) -> list[Event]:
        partition, interval = effect.partition, effect.index_interval_bytes
        delay_ms = effect.file_delete_delay_ms
        self._drop(partition)
        try:
            if self._failed_syncs.repair(partition):  # then check all batches
                self._checked.pop(partition, None)
            stored, recovered, repairs = open_log(
                self.files,
                self.root,
                partition,
                effect.topic_id,
                loaded=self._loaded,
                checked_offset=self._checked.pop(partition, 0),
                index_interval_bytes=self._interval if interval is None else interval,
                removals=self._removals,
                file_delete_delay_ms=self._delay_ms if delay_ms is None else delay_ms,
                now=now,
            )
        except DiskError as error:
            return self._fail(partition, error)
        stored.preallocate_bytes = effect.preallocate_bytes
        self._logs[partition] = stored
        self._offline.pop(partition, None)
        for segment in stored.segments[:-1]:
            self._syncs.add(partition, stored, segment)
        sync = partial(self._sync_recovered, partition)
        failures = self._on_log(partition, sync) if effect.sync else []
        failures = failures or self._on_log(partition, LocalLog.preallocate)
        self._digests.add(partition)
        return failures or [LogOpened(partition, recovered, repairs, self.directory)]

    def _sync_recovered(self, partition: TopicPartition, log: LocalLog) -> None:
        """Sync all of a log that is about to be served as committed."""
        self._syncs.sync_all(partition, log)
        self.root.recovery_points.offsets[partition] = log.synced_offset

    def _roll(self, effect: Roll, now: Instant) -> list[Event]:
        events: list[Event] = []

        def roll(log: LocalLog) -> None:
            events.extend(roll_log(self.root, self._syncs, effect, log))
            self._digests.add(effect.partition)

        failures = self._on_log(effect.partition, roll)
        return [*events, *failures]

    def _flush(self, effect: FlushLog, now: Instant) -> list[Event]:
        return self._on_log(effect.partition, partial(self._syncs.flush, effect.partition))

    def _trim(self, effect: TrimLog, now: Instant) -> list[Event]:
        def trim(log: LocalLog) -> None:
            log.sync_small_files()  # partition.metadata before the checkpoint
            self.root.save_log_start(effect.partition, effect.log_start_offset)
            self._syncs.trimmed(effect.partition, log.trim(effect.log_start_offset))
            self._digests.trimmed(effect.partition)

        return self._on_log(effect.partition, trim)

    def _truncate(self, effect: TruncateLog, now: Instant) -> list[Event]:
        """Truncate, then reopen and sync the log: `LogOpened` reports only durable batches."""
        partition, log = effect.partition, self._logs.get(effect.partition)
        if log is None:
            return []
        self._checked[partition] = effect.offset
        truncate = partial(truncate_log, self.files, self.root, effect)
        again = OpenLog(
            partition,
            log.topic_id,
            sync=True,
            index_interval_bytes=log.active.interval,
            file_delete_delay_ms=log.file_delete_delay_ms,
            preallocate_bytes=log.preallocate_bytes,
        )
        return self._on_log(partition, truncate) or self._open(again, now)

    def _configure(self, effect: ConfigureLog, now: Instant) -> list[Event]:
        if (log := self._logs.get(effect.partition)) is not None:
            log.file_delete_delay_ms = effect.file_delete_delay_ms
            log.preallocate_bytes = effect.preallocate_bytes
        return []

    def _on_log(self, partition: TopicPartition, act: Callable[[LocalLog], None]) -> list[Event]:
        """Act on an open log; a `DiskError` takes the log offline."""
        try:
            if (log := self._logs.get(partition)) is not None:
                act(log)
        except DiskError as error:
            return self._fail(partition, error)
        return []

    def _close(self, effect: CloseLog, now: Instant) -> list[Event]:
        try:
            if effect.delete:
                self._delete(effect.partition)
            elif effect.partition in self._logs:
                self._close_cleanly(effect.partition)
        except DiskError as error:
            return self._fail(effect.partition, error)
        return []

    def _delete(self, partition: TopicPartition) -> None:
        log = self._logs.get(partition)
        directory = folder_name(partition)
        self._drop(partition)
        self._offline.pop(partition, None)
        self.root.forget(partition)
        self._failed_syncs.forget(partition)
        if self.files.exists(directory):
            aside = aside_name(partition, log.topic_id.hex() if log else "", DELETED_SUFFIX)
            delay_ms = log.file_delete_delay_ms if log else self._delay_ms
            self._removals.discard_folder(directory, aside, delay_ms=delay_ms)

    def _close_cleanly(self, partition: TopicPartition) -> None:
        log = self._logs[partition]
        self._syncs.sync_now(partition, log)
        log.close()
        self.root.recovery_points.offsets[partition] = log.next_offset
        self._drop(partition)

    def _save_high_watermarks(self, effect: SaveHighWatermarks, now: Instant) -> list[Event]:
        """The periodic checkpoint; indexes are to be saved as well: they may be those of thousands of logs."""
        if refused := self._checkpoint.save(effect.offsets):
            return refused
        self._behind.want_indexes(effect.offsets)
        return []

    def _perform_on_state(self, effect: SaveState | LoadState, now: Instant) -> list[Event]:
        """A `DiskError` takes the log offline whose folder has the file; without such a log it is raised."""
        try:
            return [perform_on_state(self.files, effect)]
        except DiskError as error:
            for partition in (*self._logs, *self._offline):
                if effect.name.startswith(f"{folder_name(partition)}/"):
                    return self._fail(partition, error)
            raise

    def _fail(self, partition: TopicPartition, error: DiskError) -> list[Event]:
        self._drop(partition)
        if isinstance(error, SyncError):
            self._failed_syncs.mark(partition)
        reason = self._offline[partition] = str(error)
        return [LogFailed(partition, reason, self.directory)]

    def _drop(self, partition: TopicPartition) -> None:
        """Close a log without touching its files."""
        self._logs.pop(partition, None)
        self._syncs.drop(partition)
        self._digests.drop(partition)
        self.cleanings.drop(partition)
        self._writes.drop(partition)
        self.files.close(folder_name(partition))
