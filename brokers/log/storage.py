"""The disk side of all logs of a node: performs every storage effect against the `Files` port, now.

One `Storage` per data directory. A failed write closes its log and is reported as `LogFailed`; the next `OpenLog`
recovers from what the disk holds, and writes again what a failed sync left in memory only. Of appends to be synced the
partition appears in `unsynced`; the host runs `begin_sync` → the work, in any thread → `end_sync`.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from brokers.effects import (
    Append,
    CloseLog,
    FindRanges,
    FindTimestamp,
    KeepBrokerEpoch,
    LoadState,
    MeasureDirectories,
    OpenLog,
    Range,
    ReadRange,
    RemoveStrays,
    Roll,
    SaveEpochs,
    SaveHighWatermarks,
    SaveState,
    StorageEffect,
    TrimLog,
    TruncateLog,
)
from brokers.errors import KafkaError
from brokers.events import (
    DirectoryRefused,
    Event,
    LogFailed,
    LogOpened,
    RangeFound,
    RangeRead,
    RangesFound,
    StraysRemoved,
    TimestampFound,
    Written,
)
from brokers.ids import MIGRATING_DIRECTORY, Instant, Offset, TopicPartition
from brokers.log.doubts import Doubts
from brokers.log.folders import aside_name, folder_name
from brokers.log.log import Log
from brokers.log.opening import open_log
from brokers.log.ranges import share
from brokers.log.reads import taken
from brokers.log.root import DELETED_SUFFIX, Root
from brokers.log.segment_file import LoadedIndexes
from brokers.log.snapshots import encode_snapshot
from brokers.log.states import measured, perform_on_state
from brokers.log.stored_log import StoredLog
from brokers.log.strays import remove_folder, remove_strays
from brokers.log.syncing import SyncResult, Syncs, SyncTarget
from brokers.log.timestamps import NOTHING_FOUND, found_timestamp
from brokers.log.truncation import cut_log
from brokers.ports import DiskError, Files, SyncError


class Storage:
    """Performs storage effects. `unsynced` names the partitions that wait for a sync."""

    def __init__(
        self,
        files: Files,
        *,
        index_interval_bytes: int = 4096,
        directory: UUID = MIGRATING_DIRECTORY,
        unsynced: dict[TopicPartition, SyncTarget] | None = None,
    ) -> None:
        """`unsynced` is shared by the directories of a node that has several."""
        self.directory = directory
        self.files = self._files = files
        self._interval = index_interval_bytes
        self.root = Root(files)
        self._doubts = Doubts(files, self.root)
        self._loaded = LoadedIndexes()
        self._logs: dict[TopicPartition, StoredLog] = {}
        self._cores: dict[TopicPartition, Log] = {}  # read again only once the core has stopped
        # Below, batches of a log that a failed append took offline need no second look when it is opened again.
        self._checked: dict[TopicPartition, Offset] = {}
        self._offline: dict[TopicPartition, str] = {}  # why, of those that were not reopened
        self._syncs = Syncs(files, {} if unsynced is None else unsynced)
        self.unsynced = self._syncs.asked
        self._performers: dict[type, Callable[[Any, Instant], list[Event]]] = {
            Append: self._append,
            ReadRange: self._read,
            FindRanges: self._find,
            Roll: self._roll,
            OpenLog: self._open,
            SaveEpochs: self._save_epochs,
            TrimLog: self._trim,
            TruncateLog: self._truncate,
            CloseLog: self._close,
            RemoveStrays: self._remove_strays,
            SaveHighWatermarks: self._save_high_watermarks,
            FindTimestamp: self._find_timestamp,
            SaveState: self._perform_on_state,
            LoadState: self._perform_on_state,
            KeepBrokerEpoch: self._keep_broker_epoch,
            MeasureDirectories: lambda effect, now: [measured(effect, {self.directory: files})],
        }

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was wrong with the files in the data directory's root when it was opened."""
        return self.root.repairs

    @property
    def previous_broker_epoch(self) -> int:
        """Of the registration that ended with a clean shutdown just before this start; -1 if none did."""
        return self.root.previous_broker_epoch

    def perform(self, effect: StorageEffect, now: Instant) -> list[Event]:
        """Do it and report."""
        return self._performers[type(effect)](effect, now)

    def begin_sync(self, partition: TopicPartition) -> Callable[[], SyncResult]:
        """Take a partition from `unsynced` -> the syncing, in whatever thread, while appends go on."""
        return self._syncs.begin(partition, self._logs[partition])

    def end_sync(self, partition: TopicPartition, result: SyncResult) -> list[Event]:
        """What came of it: `Written` for appends that waited, or `LogFailed`."""
        log = result.log
        is_open = self._logs.get(partition) is log
        if is_open:
            self._syncs.ended(partition, log, well=not result.failures)
        for path, reason in result.failures.items():
            if self._files.exists(path) or (is_open and log.needs(path)):  # else it was trimmed
                return self._sync_failed(partition, log, reason)
        if not is_open:
            return []  # closed, or opened anew, meanwhile
        was_promised = log.is_synced_to(result.next_offset)
        self.root.recovery_points.offsets[partition] = log.synced_offset
        return [Written(partition, log.synced_offset)] if was_promised else []

    def _sync_failed(self, partition: TopicPartition, log: StoredLog, reason: str) -> list[Event]:
        """Even if the log was closed or opened anew meanwhile: nobody was told but this sync."""
        self._doubts.raise_for(partition, log.synced_offset)
        return self._fail(partition, DiskError(reason)) if partition in self._logs else []

    def sync(self, partition: TopicPartition) -> list[Event]:
        """Begin and end in one: for hosts without threads."""
        return self.end_sync(partition, self.begin_sync(partition)())

    def close(self) -> None:
        """Clean shutdown, after the core has stopped: the next start then trusts every log as it is.

        What the disk refuses now, or refused before, is left to the next start's recovery.
        """
        for partition in list(self._logs):
            self._close(CloseLog(partition, delete=False), 0)
        with suppress(DiskError):
            if not self._offline:
                self.root.mark_closed()

    def abandon(self) -> None:
        """The directory has failed: let go of its logs, and leave it as it is."""
        for partition in list(self._logs):
            self._drop(partition)

    def opened(self, partition: TopicPartition) -> tuple[StoredLog, Log] | None:
        """Both halves of a log, if it is open."""
        log = self._logs.get(partition)
        return None if log is None else (log, self._cores[partition])

    def adopt(self, other: "Storage", partition: TopicPartition) -> list[Event]:
        """A log that was open in another directory goes on in this one: what its appends waited for has come."""
        log, core = other._logs[partition], other._cores[partition]
        other._drop(partition)
        was_promised = log.is_synced_to(log.next_offset)
        log.go_on(self._files, self._loaded)
        self._logs[partition], self._cores[partition] = log, core
        return [Written(partition, log.synced_offset)] if was_promised else []

    def _open(self, effect: OpenLog, now: Instant) -> list[Event]:
        partition = effect.partition
        self._drop(partition)
        try:
            if self._doubts.settle(partition):  # then all of it is looked at
                self._checked.pop(partition, None)
            log, stored, repairs = open_log(
                self._files,
                self.root,
                partition,
                effect.topic_id,
                loaded=self._loaded,
                checked_offset=self._checked.pop(partition, 0),
                index_interval_bytes=self._interval,
                now=now,
            )
        except DiskError as error:
            return self._fail(partition, error)
        self._logs[partition], self._cores[partition] = stored, log
        self._offline.pop(partition, None)
        for segment in stored.segments[:-1]:
            self._syncs.ask(partition, stored, segment)
        sync = partial(self._sync_recovered, partition)
        failures = self._on_log(partition, sync) if effect.sync else []
        return failures or [LogOpened(partition, log, repairs, self.directory)]

    def _sync_recovered(self, partition: TopicPartition, log: StoredLog) -> None:
        """What was written and never synced is about to be served as committed."""
        self._syncs.ask(partition, log, log.active)
        self._syncs.sync_now(partition, log)
        log.synced_offset = log.next_offset
        self.root.recovery_points.offsets[partition] = log.synced_offset

    def _append(self, effect: Append, now: Instant) -> list[Event]:
        partition = effect.partition
        log = self._logs.get(partition)
        if log is None:
            return []  # it failed, which was reported
        try:
            log.append(effect.headers, effect.buffers)
        except DiskError as error:
            self._checked[partition] = log.next_offset
            return self._fail(partition, error)
        if effect.sync or log.sync_promised > log.synced_offset:
            log.sync_promised = log.next_offset
            self._syncs.ask(partition, log, log.active)
            return []
        return [Written(partition, log.next_offset)]

    def _roll(self, effect: Roll, now: Instant) -> list[Event]:
        events: list[Event] = []

        def roll(log: StoredLog) -> None:
            sealed, end = log.active, log.next_offset
            if effect.base_offset < end:
                # An empty log begins anew below, where nothing is on the disk yet.
                self.root.lower(effect.partition, effect.base_offset)
                log.synced_offset = min(log.synced_offset, effect.base_offset)
            log.roll(effect.base_offset, effect.producers)
            self._syncs.ask(effect.partition, log, sealed)
            if effect.base_offset > end:
                events.extend(self._settle_gap(effect.partition, log))

        failures = self._on_log(effect.partition, roll)
        return [*events, *failures]

    def _settle_gap(self, partition: TopicPartition, log: StoredLog) -> list[Event]:
        """Make a hole between two segments durable as one that is meant; recovery takes any other for a loss."""
        self._syncs.sync_now(partition, log)
        was_promised = log.is_synced_to(log.next_offset)
        self.root.save_recovery_point(partition, log.synced_offset)
        return [Written(partition, log.synced_offset)] if was_promised else []

    def _save_epochs(self, effect: SaveEpochs, now: Instant) -> list[Event]:
        return self._on_log(effect.partition, lambda log: log.save_epochs(effect.entries))

    def _trim(self, effect: TrimLog, now: Instant) -> list[Event]:
        def trim(log: StoredLog) -> None:
            for path in list(log.unsynced_paths):  # whose the folder is, before what is said of it
                self._files.sync(path)
                log.synced((path,))
            self.root.save_log_start(effect.partition, effect.log_start_offset)
            self._syncs.trimmed(effect.partition, log.trim(effect.log_start_offset))

        return self._on_log(effect.partition, trim)

    def _truncate(self, effect: TruncateLog, now: Instant) -> list[Event]:
        """Cut, then opened anew, all of it synced: whoever hears what is left may rely on it."""
        partition, core = effect.partition, self._cores.get(effect.partition)
        if core is None:
            return []
        self._checked[partition] = effect.offset
        cut = partial(cut_log, self._files, self.root, effect, core.epochs.entries)
        return self._on_log(partition, cut) or self._open(
            OpenLog(partition, core.topic_id, True), now
        )

    def _on_log(self, partition: TopicPartition, act: Callable[[StoredLog], None]) -> list[Event]:
        """Act on an open log; what the disk refuses takes it offline."""
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
        core = self._cores.get(partition)
        directory = folder_name(partition)
        self._drop(partition)
        self._offline.pop(partition, None)
        self.root.forget(partition)
        self._doubts.forget(partition)
        if self._files.exists(directory):
            aside = aside_name(partition, core.topic_id.hex() if core else "", DELETED_SUFFIX)
            remove_folder(self._files, directory, aside)

    def _remove_strays(self, effect: RemoveStrays, now: Instant) -> list[Event]:
        folders = remove_strays(self._files, self.root, effect.kept.union(self._logs))
        return [StraysRemoved(folders)] if folders else []

    def _close_cleanly(self, partition: TopicPartition) -> None:
        log, core = self._logs[partition], self._cores[partition]
        self._syncs.sync_now(partition, log)
        log.close(encode_snapshot(core.producers))
        self.root.recovery_points.offsets[partition] = log.next_offset
        self._drop(partition)

    def _save_high_watermarks(self, effect: SaveHighWatermarks, now: Instant) -> list[Event]:
        """The periodic checkpoint; index tails go to their files with it. A refusing disk is asked again next time."""
        try:
            self.root.save_high_watermarks(effect.offsets)
            self.root.recovery_points.save()
        except DiskError as error:
            return [DirectoryRefused(str(error), self.directory)]
        events: list[Event] = []
        for partition in effect.offsets:
            events += self._on_log(partition, lambda log: log.active.save_indexes())
        return events

    def _read(self, effect: ReadRange, now: Instant) -> list[Event]:
        wanted = Range(effect.partition, effect.offset, effect.bound, effect.size_max)
        taken, failures = self._take(StoredLog.read, wanted, effect.size_max, effect.at_least_one)
        return [RangeRead(effect.ticket, effect.partition, *taken), *failures]

    def _find(self, effect: FindRanges, now: Instant) -> list[Event]:
        failures: list[Event] = []
        found = share(effect.ranges, effect.size_max, partial(self.find, failures))
        return [RangesFound(effect.ticket, found), *failures]

    def find(
        self, failures: list[Event], wanted: Range, size_max: int, at_least_one: bool
    ) -> RangeFound:
        """One range of several; what failed for good is added to `failures`."""
        taken, failed = self._take(StoredLog.find, wanted, size_max, at_least_one)
        failures += failed
        return RangeFound(*taken)

    def _take(
        self,
        take: Callable[..., tuple[Any, Offset]],
        wanted: Range,
        size_max: int,
        at_least_one: bool,
    ) -> tuple[tuple[Any, Offset, KafkaError], list[Event]]:
        """(what there is of a range, read or found; where it ends; what was wrong), and what failed for good."""
        log = self._logs.get(wanted.partition)
        try:
            return taken(log, take, wanted, size_max, at_least_one), []
        except DiskError as error:
            failed = b"", wanted.offset, KafkaError.KAFKA_STORAGE_ERROR
            return failed, self._fail(wanted.partition, error)

    def _find_timestamp(self, effect: FindTimestamp, now: Instant) -> list[Event]:
        found, events = NOTHING_FOUND, list[Event]()
        try:
            found = found_timestamp(self._files, self._logs.get(effect.partition), effect)
        except DiskError as error:
            events = self._fail(effect.partition, error)
        return [TimestampFound(effect.ticket, effect.partition, *found), *events]

    def _perform_on_state(self, effect: SaveState | LoadState, now: Instant) -> list[Event]:
        """What the disk refuses takes the log offline in whose folder the file lies; without one nobody can go on."""
        try:
            return [perform_on_state(self._files, effect)]
        except DiskError as error:
            for partition, log in self._logs.items():
                if effect.name.startswith(f"{log.directory}/"):
                    return self._fail(partition, error)
            raise

    def _keep_broker_epoch(self, effect: KeepBrokerEpoch, now: Instant) -> list[Event]:
        self.root.broker_epoch = effect.broker_epoch
        return []

    def _fail(self, partition: TopicPartition, error: DiskError) -> list[Event]:
        self._drop(partition)
        if isinstance(error, SyncError):
            self._doubts.raise_for(partition)
        reason = self._offline[partition] = str(error)
        return [LogFailed(partition, reason, self.directory)]

    def _drop(self, partition: TopicPartition) -> None:
        """Let go of a log without touching its files."""
        self._logs.pop(partition, None)
        self._cores.pop(partition, None)
        self._syncs.drop(partition)
        self._files.close(folder_name(partition))
