"""The log directories of a node, one `Storage` each (Kafka's LogManager); routes each effect to its directory.

The folders found at the start say which directory has a log, not the metadata. A new log goes to the directory that the
metadata assign, or to the one with the fewest partitions. While a directory is offline, a log that no other one has is
assumed to be in it, unless the log is known to be new.
"""

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from itertools import chain
from typing import Any
from uuid import UUID

from brokers.effects import (
    CleanLog,
    CloseLog,
    CopyLog,
    FindRanges,
    KeepBrokerEpoch,
    LeaveDirectory,
    LoadState,
    MeasureDirectories,
    OpenLog,
    Range,
    RemoveStrays,
    SaveHighWatermarks,
    SaveState,
    StorageEffect,
)
from brokers.events import (
    CopyFailed,
    DirectoryRefused,
    Event,
    LogCleaned,
    LogCopied,
    LogFailed,
    LogMoved,
    MoveInterrupted,
    RangeFound,
    RangesFound,
    StraysRemoved,
)
from brokers.ids import (
    METADATA_PARTITION,
    NO_BROKER_EPOCH,
    UNASSIGNED_DIRECTORY,
    Instant,
    Offset,
    TopicPartition,
)
from brokers.ports import DiskError
from brokers.storage.cleaning.cleanings import Cleanings
from brokers.storage.directories.folders import clear_folder, folder_name, owner_of
from brokers.storage.directories.state_files import measured
from brokers.storage.directories.strays import partitions_in
from brokers.storage.logs.syncing import FlushResult
from brokers.storage.logs.writing import Write
from brokers.storage.moving import Copy, SourceError, interrupted, mark_in
from brokers.storage.pending_work import PendingWork
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.segments.ranges import share
from brokers.storage.storage import Storage


class LogManager:
    """`add` every directory that could be opened, also the metadata log's; then use it like a `Storage`."""

    def __init__(self, metadata: UUID, log_dirs: Collection[UUID], *, missing: int) -> None:
        """`log_dirs` hold partitions; `missing` more could not be opened."""
        self.pending = PendingWork()
        self.unsynced, self.unwritten = self.pending.unsynced, self.pending.unwritten
        self.undigested, self.uncleaned = self.pending.undigested, self.pending.uncleaned
        self.discarded, self.checkpoints = self.pending.discarded, self.pending.checkpoints
        self.unsaved = self.pending.unsaved
        self._metadata_id = metadata
        self._log_dirs = dict.fromkeys(log_dirs)
        self._missing = missing
        self._storages: dict[UUID, Storage] = {}
        self._found: dict[TopicPartition, list[Storage]] = {}  # found, not opened yet
        self._storage_of: dict[TopicPartition, Storage] = {}
        self._counts: Counter[UUID] = Counter()  # partitions by directory
        self._copies: dict[TopicPartition, Copy] = {}
        self._interrupted: dict[TopicPartition, UUID] = {}  # -> target directory
        self._syncing: dict[TopicPartition, Storage] = {}
        self._writing: dict[TopicPartition, Storage] = {}
        self._digesting: dict[TopicPartition, Storage] = {}
        self._performers: dict[type, Callable[[Any, Instant], list[Event]]] = {
            OpenLog: self._open,
            CloseLog: self._close,
            CopyLog: self._copy,
            CleanLog: self._clean,
            LeaveDirectory: self._leave,
            RemoveStrays: self._remove_strays,
            SaveHighWatermarks: self._save_high_watermarks,
            FindRanges: self._find,
            SaveState: self._on_metadata,
            LoadState: self._on_metadata,
            KeepBrokerEpoch: self._on_all,
            MeasureDirectories: self._measure,
        }

    def add(self, storage: Storage) -> None:
        """Add a directory, made with `pending`. Raises `DiskError`."""
        for partition in interrupted(storage.files):
            self._interrupted[partition] = storage.directory
        held = list(partitions_in(storage.files))
        self._storages[storage.directory] = storage
        if storage.directory in self._log_dirs:
            for partition in held:
                self._found.setdefault(partition, []).append(storage)
            self._counts[storage.directory] = len(held)
        if storage.directory == self._metadata_id:
            self._storage_of[METADATA_PARTITION] = storage

    def add_missing(self) -> None:
        """Another directory could not be opened."""
        self._missing += 1

    @property
    def repairs(self) -> tuple[str, ...]:
        """The repairs of the directories' checkpoint files when they were opened."""
        return tuple(chain.from_iterable(each.repairs for each in self._storages.values()))

    @property
    def previous_broker_epoch(self) -> int:
        """The broker epoch of the last clean shutdown, if all directories have the same; else -1."""
        found = {each.previous_broker_epoch for each in self._storages.values()}
        return found.pop() if len(found) == 1 and not self._missing else NO_BROKER_EPOCH

    def perform(self, effect: StorageEffect, now: Instant) -> list[Event]:
        performer = self._performers.get(type(effect))
        if performer is not None:
            return performer(effect, now)
        return self._storage_for(effect.partition).perform(effect, now)  # type: ignore[union-attr]

    def begin_write(self, partition: TopicPartition) -> Write:
        """Take a partition from `unwritten` -> a write to `run` in any thread."""
        storage = self._writing[partition] = self._storage_of[partition]
        return storage.begin_write(partition)

    def end_write(self, partition: TopicPartition, write: Write) -> list[Event]:
        """The events of the write, unless they were returned before."""
        return self._writing.pop(partition).end_write(partition, write)

    def begin_sync(self, partition: TopicPartition) -> Callable[[], FlushResult]:
        """Take a partition from `unsynced` -> a sync to run in any thread."""
        storage = self._syncing[partition] = self._storage_of[partition]
        return storage.begin_sync(partition)

    def end_sync(self, partition: TopicPartition, result: FlushResult) -> list[Event]:
        return self._syncing.pop(partition).end_sync(partition, result)

    def begin_digest(self, partition: TopicPartition) -> DigestWriting:
        """Take a partition from `undigested` -> a writing whose steps run in any thread. One at a time per log."""
        storage = self._digesting[partition] = self._storage_of[partition]
        return storage.begin_digest(partition)

    def end_digest(self, partition: TopicPartition, writing: DigestWriting) -> list[Event]:
        return self._digesting.pop(partition).end_digest(partition, writing)

    def sync(self, partition: TopicPartition) -> list[Event]:
        """Begin and end a sync: for hosts without threads."""
        return self.end_sync(partition, self.begin_sync(partition)())

    def close(self) -> None:
        """Clean shutdown of the directories that have not failed."""
        for storage in self._storages.values():
            storage.close()

    # --- the directory of a log ---

    @property
    def _metadata(self) -> Storage:
        return self._storages[self._metadata_id]

    def _storage_for(self, partition: TopicPartition) -> Storage:
        """The Storage of the log; for an unknown log the metadata log's, which ignores its effects."""
        return self._storage_of.get(partition, self._metadata)

    def _open(self, effect: OpenLog, now: Instant) -> list[Event]:
        partition, refused = effect.partition, list[Event]()
        storage = self._storage_of.get(partition) or self._found_storage(effect, refused)
        storage = storage or self._new_storage(effect.directory)
        if storage is None:
            because = "it lies in a log directory that is offline"
            return [LogFailed(partition, because, effect.directory)]
        self._storage_of[partition] = storage
        events = storage.perform(effect, now)
        target = self._interrupted.get(partition, storage.directory)
        if target != storage.directory and storage.opened(partition) is not None:
            events.append(MoveInterrupted(partition, self._interrupted.pop(partition)))
        return events + refused

    def _found_storage(self, effect: OpenLog, refused: list[Event]) -> Storage | None:
        """The directory with the log's folder. Of two folders, keep the one that a move marked, or the assigned one.

        If the other folder cannot be removed, its directory has failed.
        """
        partition, found = effect.partition, self._found.get(effect.partition, [])
        mark = mark_in(folder_name(partition))
        if len(found) > 1:
            found.sort(key=lambda each: each.directory != effect.directory)
            found.sort(key=lambda each: not each.files.exists(mark))
            found.sort(key=lambda each: not _may_belong(each, partition, effect.topic_id))
            for other in found[1:]:
                _try(other, partial(clear_folder, other.files, partition), refused)
                self._counts[other.directory] -= 1
        if found and not self._missing and not refused:  # else there may be another folder
            _try(found[0], partial(found[0].files.remove, mark), refused)
        self._found.pop(partition, None)
        return found[0] if found else None

    def _new_storage(self, wanted: UUID) -> Storage | None:
        """The directory of a new log."""
        online = [each for each in self._log_dirs if each in self._storages]
        if wanted not in online:
            if (self._missing and wanted != UNASSIGNED_DIRECTORY) or not online:
                return None
            wanted = min(online, key=lambda each: self._counts[each])
        self._counts[wanted] += 1
        return self._storages[wanted]

    def _copy(self, effect: CopyLog, now: Instant) -> list[Event]:
        partition, source = effect.partition, self._storage_of.get(effect.partition)
        target = None if effect.directory is None else self._storages.get(effect.directory)
        copy = self._copies.get(partition)
        if copy is not None and (copy.target is not target or copy.source is not source):
            self._drop_copy(partition)
            copy = None
        if effect.directory is None or source is None:
            return []
        if target is source:
            return [LogMoved(partition, effect.directory)]
        if target is None:
            return [CopyFailed(partition, effect.directory, "the log directory is offline")]
        copy = self._copies[partition] = copy or Copy(source, target, partition)
        written = source.cleanings.stop(partition) + source.settle(partition)
        opened = source.opened(partition)
        if opened is None:  # failed, or not opened yet: retry later
            return [*written, LogCopied(partition, effect.directory, 0, 0)]
        try:
            if not copy.advance(opened):
                return [
                    *written,
                    LogCopied(partition, effect.directory, copy.size, copy.next_offset),
                ]
            copy.finish(opened)
        except SourceError as error:
            return [*written, LogFailed(partition, str(error.__cause__), source.directory)]
        except DiskError as error:
            self._drop_copy(partition)
            return [*written, CopyFailed(partition, effect.directory, str(error))]
        return written + self._swap(partition, copy)

    def _clean(self, effect: CleanLog, now: Instant) -> list[Event]:
        """Not while the log is being copied, as both read its segments."""
        if effect.partition in self._copies:
            return [LogCleaned(effect.partition, None)]
        return self._storage_for(effect.partition).perform(effect, now)

    def cleanings_of(self, partition: TopicPartition) -> Cleanings:
        """Of the directory that has the log; `pending` is the same for all."""
        return self._storage_for(partition).cleanings

    def _swap(self, partition: TopicPartition, copy: Copy) -> list[Event]:
        """The copy is renamed: the open log continues in it."""
        del self._copies[partition]
        source, target = copy.source, copy.target
        self._storage_of[partition] = target
        self._counts.update({source.directory: -1, target.directory: 1})
        events = [LogMoved(partition, target.directory), *target.take_log(source, partition)]
        try:
            copy.remove_original()
        except DiskError as error:
            events.append(DirectoryRefused(str(error), source.directory))
        return events

    def _drop_copy(self, partition: TopicPartition) -> None:
        copy = self._copies.pop(partition, None)
        if copy is not None:
            copy.discard()

    def _close(self, effect: CloseLog, now: Instant) -> list[Event]:
        if effect.delete:
            self._drop_copy(effect.partition)
        events = self._storage_for(effect.partition).perform(effect, now)
        storage = self._storage_of.pop(effect.partition, None) if effect.delete else None
        if storage is not None:
            self._counts[storage.directory] -= 1
        return events

    def _leave(self, effect: LeaveDirectory, now: Instant) -> list[Event]:
        left = self._storages.pop(effect.directory, None)
        if left is not None:
            self._missing += 1
            left.abandon()
            for name, copy in list(self._copies.items()):
                if left in (copy.source, copy.target):
                    del self._copies[name]
            self._storage_of = {
                name: storage for name, storage in self._storage_of.items() if storage is not left
            }
            for found in self._found.values():
                found[:] = (each for each in found if each is not left)
        return []

    def _remove_strays(self, effect: RemoveStrays, now: Instant) -> list[Event]:
        removed: list[str] = []
        for storage in self._storages.values():
            for event in storage.perform(effect, now):
                if isinstance(event, StraysRemoved):
                    removed += event.folders
        self._found = {name: found for name, found in self._found.items() if name in effect.kept}
        storages = (
            storage for name, storage in self._storage_of.items() if name != METADATA_PARTITION
        )
        held = chain(storages, chain.from_iterable(self._found.values()))
        self._counts = Counter(storage.directory for storage in held)
        return [StraysRemoved(tuple(removed))] if removed else []

    # --- several directories ---

    def _save_high_watermarks(self, effect: SaveHighWatermarks, now: Instant) -> list[Event]:
        shares: dict[UUID, dict[TopicPartition, Offset]] = {each: {} for each in self._storages}
        for partition, offset in effect.offsets.items():
            storage = self._storage_of.get(partition)
            if storage is not None and storage.directory in shares:
                shares[storage.directory][partition] = offset
        return [
            event
            for directory, offsets in shares.items()
            for event in self._storages[directory].perform(SaveHighWatermarks(offsets), now)
        ]

    def _find(self, effect: FindRanges, now: Instant) -> list[Event]:
        failures: list[Event] = []

        def take(wanted: Range, size_max: int, at_least_one: bool) -> RangeFound:
            return self._storage_for(wanted.partition).find(
                failures, wanted, size_max, at_least_one
            )

        return [RangesFound(effect.ticket, share(effect.ranges, effect.size_max, take)), *failures]

    def _measure(self, effect: MeasureDirectories, now: Instant) -> list[Event]:
        return [measured(effect, {each: disk.files for each, disk in self._storages.items()})]

    def _on_metadata(self, effect: StorageEffect, now: Instant) -> list[Event]:
        return self._metadata.perform(effect, now)

    def _on_all(self, effect: StorageEffect, now: Instant) -> list[Event]:
        return [event for each in self._storages.values() for event in each.perform(effect, now)]


def _may_belong(storage: Storage, partition: TopicPartition, topic_id: bytes) -> bool:
    """Whether the folder is the topic's, or cannot be read: opening or clearing it raises the error."""
    try:
        return owner_of(storage.files, partition) == topic_id
    except DiskError:
        return True


def _try(storage: Storage, act: Callable[[], object], refused: list[Event]) -> None:
    try:
        act()
    except DiskError as error:
        refused.append(DirectoryRefused(str(error), storage.directory))
