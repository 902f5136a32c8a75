"""The disk side of a node that has several log directories: one `Storage` each; an effect goes to the one it is for.

What lies in a directory is known by looking into it at the start, whatever the region has on record. A new log goes
where the region has it, or to the directory with the fewest. While a directory is missing, a log that is in none of the
others is taken to be in that one, unless it is known to be new.
"""

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from itertools import chain
from typing import Any
from uuid import UUID

from brokers.effects import (
    Append,
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
from brokers.storage.directories.folders import clear_folder, folder_name, owner_of
from brokers.storage.directories.state_files import measured
from brokers.storage.directories.strays import partitions_in
from brokers.storage.logs.syncing import FlushResult, SyncTarget
from brokers.storage.logs.writing import Write
from brokers.storage.moving import Copy, SourceError, interrupted, mark_in
from brokers.storage.segments.digest_writing import DigestWriting
from brokers.storage.segments.ranges import share
from brokers.storage.storage import Storage


class LogManager:
    """`add` every directory that could be opened, the metadata log's among them; then it is used like a `Storage`."""

    def __init__(self, metadata: UUID, log_dirs: Collection[UUID], *, missing: int) -> None:
        """`log_dirs` take partitions, in this order; `missing` more could not be opened."""
        self.unsynced: dict[TopicPartition, SyncTarget] = {}
        self.unwritten: dict[TopicPartition, list[Append]] = {}
        self.undigested: dict[TopicPartition, None] = {}
        self._metadata_id = metadata
        self._log_dirs = dict.fromkeys(log_dirs)
        self._missing = missing
        self._storages: dict[UUID, Storage] = {}
        self._found: dict[TopicPartition, list[Storage]] = {}  # by looking, and not opened yet
        self._homes: dict[TopicPartition, Storage] = {}
        self._counts: Counter[UUID] = Counter()  # partitions by directory
        self._copies: dict[TopicPartition, Copy] = {}
        self._interrupted: dict[TopicPartition, UUID] = {}  # on the way to which directory
        self._syncing: dict[TopicPartition, Storage] = {}
        self._writing: dict[TopicPartition, Storage] = {}
        self._digesting: dict[TopicPartition, Storage] = {}
        self._performers: dict[type, Callable[[Any, Instant], list[Event]]] = {
            OpenLog: self._open,
            CloseLog: self._close,
            CopyLog: self._copy,
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
        """Made with `unsynced`, and `unwritten` and `undigested` if the host wants them. Raises `DiskError`."""
        for partition in interrupted(storage.files):
            self._interrupted[partition] = storage.directory
        held = list(partitions_in(storage.files))
        self._storages[storage.directory] = storage
        if storage.directory in self._log_dirs:
            for partition in held:
                self._found.setdefault(partition, []).append(storage)
            self._counts[storage.directory] = len(held)
        if storage.directory == self._metadata_id:
            self._homes[METADATA_PARTITION] = storage

    def miss(self) -> None:
        """One more could not be opened."""
        self._missing += 1

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was wrong with the files in the directories' roots when they were opened."""
        return tuple(chain.from_iterable(each.repairs for each in self._storages.values()))

    @property
    def previous_broker_epoch(self) -> int:
        """Of the registration that ended with a clean shutdown just before this start, of all of them; else -1."""
        found = {each.previous_broker_epoch for each in self._storages.values()}
        return found.pop() if len(found) == 1 and not self._missing else NO_BROKER_EPOCH

    def perform(self, effect: StorageEffect, now: Instant) -> list[Event]:
        """Do it and report."""
        performer = self._performers.get(type(effect))
        if performer is not None:
            return performer(effect, now)
        return self._home(effect.partition).perform(effect, now)  # type: ignore[union-attr]

    def begin_write(self, partition: TopicPartition) -> Write:
        """Take a partition from `unwritten` -> what to `run`, in whatever thread."""
        storage = self._writing[partition] = self._homes[partition]
        return storage.begin_write(partition)

    def end_write(self, partition: TopicPartition, write: Write) -> list[Event]:
        """What came of it, unless that was told before."""
        return self._writing.pop(partition).end_write(partition, write)

    def begin_sync(self, partition: TopicPartition) -> Callable[[], FlushResult]:
        """Take a partition from `unsynced` -> the syncing, which may run in another thread while appends go on."""
        storage = self._syncing[partition] = self._homes[partition]
        return storage.begin_sync(partition)

    def end_sync(self, partition: TopicPartition, result: FlushResult) -> list[Event]:
        """What came of it."""
        return self._syncing.pop(partition).end_sync(partition, result)

    def begin_digest(self, partition: TopicPartition) -> DigestWriting:
        """Take a partition from `undigested` -> what to do step by step, in whatever thread. One at a time of a log."""
        storage = self._digesting[partition] = self._homes[partition]
        return storage.begin_digest(partition)

    def end_digest(self, partition: TopicPartition, writing: DigestWriting) -> list[Event]:
        """What came of it."""
        return self._digesting.pop(partition).end_digest(partition, writing)

    def sync(self, partition: TopicPartition) -> list[Event]:
        """Begin and end in one: for hosts without threads."""
        return self.end_sync(partition, self.begin_sync(partition)())

    def close(self) -> None:
        """Clean shutdown, of those that have not failed."""
        for storage in self._storages.values():
            storage.close()

    # --- where a log lies ---

    @property
    def _metadata(self) -> Storage:
        return self._storages[self._metadata_id]

    def _home(self, partition: TopicPartition) -> Storage:
        """Who has no log of that name answers for those that nobody has."""
        return self._homes.get(partition, self._metadata)

    def _open(self, effect: OpenLog, now: Instant) -> list[Event]:
        partition, refused = effect.partition, list[Event]()
        home = self._homes.get(partition) or self._found_home(effect, refused)
        home = home or self._new_home(effect.directory)
        if home is None:
            because = "it lies in a log directory that is offline"
            return [LogFailed(partition, because, effect.directory)]
        self._homes[partition] = home
        events = home.perform(effect, now)
        target = self._interrupted.get(partition, home.directory)
        if target != home.directory and home.opened(partition) is not None:
            events.append(MoveInterrupted(partition, self._interrupted.pop(partition)))
        return events + refused

    def _found_home(self, effect: OpenLog, refused: list[Event]) -> Storage | None:
        """Where it was found. Of two, that which a move has ended in is kept, or that which the region knows.

        A directory that won't give up the other one has failed, and not the one that is kept.
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
        if found and not self._missing and not refused:  # else the other folder may come back
            _try(found[0], partial(found[0].files.remove, mark), refused)
        self._found.pop(partition, None)
        return found[0] if found else None

    def _new_home(self, wanted: UUID) -> Storage | None:
        """For a log that is in none of the directories."""
        online = [each for each in self._log_dirs if each in self._storages]
        if wanted not in online:
            if (self._missing and wanted != UNASSIGNED_DIRECTORY) or not online:
                return None
            wanted = min(online, key=lambda each: self._counts[each])
        self._counts[wanted] += 1
        return self._storages[wanted]

    def _copy(self, effect: CopyLog, now: Instant) -> list[Event]:
        partition, source = effect.partition, self._homes.get(effect.partition)
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
        written = source.settle(partition)
        opened = source.opened(partition)
        if opened is None:  # it failed, or is being opened: later, perhaps
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

    def _swap(self, partition: TopicPartition, copy: Copy) -> list[Event]:
        """The copy has the name; the log goes on in it."""
        del self._copies[partition]
        source, target = copy.source, copy.target
        self._homes[partition] = target
        self._counts.update({source.directory: -1, target.directory: 1})
        events = [LogMoved(partition, target.directory), *target.adopt(source, partition)]
        try:
            copy.hand_over()
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
        events = self._home(effect.partition).perform(effect, now)
        home = self._homes.pop(effect.partition, None) if effect.delete else None
        if home is not None:
            self._counts[home.directory] -= 1
        return events

    def _leave(self, effect: LeaveDirectory, now: Instant) -> list[Event]:
        left = self._storages.pop(effect.directory, None)
        if left is not None:
            self._missing += 1
            left.abandon()
            for name, copy in list(self._copies.items()):
                if left in (copy.source, copy.target):
                    del self._copies[name]
            self._homes = {name: home for name, home in self._homes.items() if home is not left}
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
        homes = (home for name, home in self._homes.items() if name != METADATA_PARTITION)
        held = chain(homes, chain.from_iterable(self._found.values()))
        self._counts = Counter(home.directory for home in held)
        return [StraysRemoved(tuple(removed))] if removed else []

    # --- what concerns several of them ---

    def _save_high_watermarks(self, effect: SaveHighWatermarks, now: Instant) -> list[Event]:
        shares: dict[UUID, dict[TopicPartition, Offset]] = {each: {} for each in self._storages}
        for partition, offset in effect.offsets.items():
            home = self._homes.get(partition)
            if home is not None and home.directory in shares:
                shares[home.directory][partition] = offset
        return [
            event
            for directory, offsets in shares.items()
            for event in self._storages[directory].perform(SaveHighWatermarks(offsets), now)
        ]

    def _find(self, effect: FindRanges, now: Instant) -> list[Event]:
        failures: list[Event] = []

        def take(wanted: Range, size_max: int, at_least_one: bool) -> RangeFound:
            return self._home(wanted.partition).find(failures, wanted, size_max, at_least_one)

        return [RangesFound(effect.ticket, share(effect.ranges, effect.size_max, take)), *failures]

    def _measure(self, effect: MeasureDirectories, now: Instant) -> list[Event]:
        return [measured(effect, {each: disk.files for each, disk in self._storages.items()})]

    def _on_metadata(self, effect: StorageEffect, now: Instant) -> list[Event]:
        return self._metadata.perform(effect, now)

    def _on_all(self, effect: StorageEffect, now: Instant) -> list[Event]:
        return [event for each in self._storages.values() for event in each.perform(effect, now)]


def _may_belong(storage: Storage, partition: TopicPartition, topic_id: bytes) -> bool:
    """Whether the folder is the topic's, or nobody can tell: whoever opens or clears it hears why."""
    try:
        return owner_of(storage.files, partition) == topic_id
    except DiskError:
        return True


def _try(storage: Storage, act: Callable[[], object], refused: list[Event]) -> None:
    try:
        act()
    except DiskError as error:
        refused.append(DirectoryRefused(str(error), storage.directory))
