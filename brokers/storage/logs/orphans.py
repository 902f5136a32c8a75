"""The orphan store: what was sealed of logs before they were cut, until an operator discards it (P5). That is their
ends; of logs that are emptied to be copied anew, their beginning, too, where the source never had it.

Kafka has no such thing: it deletes what it truncates. A sealed tail is a folder with the tail's batches in Kafka's
segment format and a manifest, `orphans/TOPIC-PARTITION/FIRST-END.eEPOCH`. Its name is the same on every replica that
had the same tail. A folder without its final name is not complete; the next attempt removes it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from brokers.effects import SealTail
from brokers.events import Event, TailSealed
from brokers.ids import Buffer, Instant, LeaderEpoch, Offset, TopicPartition
from brokers.ports import DiskError, Files
from brokers.records.batch import BatchError, iter_headers, parse_header
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.file_names import LOG, file_name

ORPHANS: Final = "orphans"
MANIFEST: Final = "manifest.json"
UNFINISHED_SUFFIX: Final = ".sealing"
DISCARDED_SUFFIX: Final = ".discarded"
MANIFEST_VERSION: Final = 1
STEP_BYTES: Final = 1 << 20  # of one step, in which the node does nothing else


@dataclass(slots=True)
class _File:
    """A segment of a tail, as far as it is copied."""

    name: str
    base_offset: Offset
    size: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    def described(self) -> dict[str, object]:
        return {
            "file": self.name,
            "base_offset": self.base_offset,
            "bytes": self.size,
            "sha256": self.digest.hexdigest(),
        }


class TailSealing:
    """One tail on its way into the store. `advance` until it returns True. Raises `DiskError`, `BatchError`."""

    def __init__(self, files: Files, log: LocalLog, effect: SealTail) -> None:
        self.log = log
        self.offset = effect.offset
        # What was deleted stays deleted, though its segment may still hold it.
        self.next_offset = max(effect.offset, log.log_start_offset)
        self._files = files
        self._effect = effect
        self._end = log.next_offset if effect.end < 0 else min(effect.end, log.next_offset)
        self._home = f"{ORPHANS}/{effect.partition}"
        self._folder = f"{self._home}/{effect.offset}{UNFINISHED_SUFFIX}"
        self._copied: list[_File] = []
        self._segment: Offset = -1  # the base offset of the log's segment that is being copied
        self._epochs: list[tuple[LeaderEpoch, Offset]] = []
        self._batches = self._records = 0
        self._size_before = 0  # of what was sealed before

    @property
    def size(self) -> int:
        """Bytes of the batches that are in the store."""
        return self._size_before + sum(each.size for each in self._copied)

    def continues(self, log: LocalLog, effect: SealTail) -> bool:
        """Whether this is what was asked for before, of the same open log."""
        is_same = (self.offset, self._effect.end) == (effect.offset, effect.end)
        return self.log is log and is_same

    def begin(self) -> None:
        """Make an empty folder. Nothing is made for a log that ends before its tail, nor if it was sealed before."""
        if self.next_offset < self._end and not self._was_sealed():
            self._require_room()
            self._files.remove(self._folder)
            self._files.make_directory(self._folder)

    def _was_sealed(self) -> bool:
        """Then there is nothing to copy, and no more room needed."""
        data, _ = self.log.read(self.next_offset, self._end, 1, at_least_one=True)
        folder = (
            self._named(parse_header(data).base_offset, self._effect.last_epoch) if data else ""
        )
        if not folder or not self._files.exists(folder):
            return False
        self.next_offset = self._end
        self._size_before = _bytes_of(self._files, folder)
        return True

    def _named(self, first: Offset, epoch: LeaderEpoch) -> str:
        return f"{self._home}/{first}-{self._end}.e{epoch}"

    def advance(self, now: Instant) -> bool:
        """Copy a further part -> whether the tail is sealed."""
        if self.next_offset < self._end:
            segment = self.log.segment_of(self.next_offset)
            data, next_offset = self.log.read(
                self.next_offset, self._end, STEP_BYTES, at_least_one=True
            )
            if data:
                self._append(segment.base_offset, data)
            # Offsets that no batch has, as compaction leaves them, may follow the last batch.
            self.next_offset = next_offset if data else self._end
        if self.next_offset < self._end:
            return False
        if self._copied:
            self._finish(now)
        return True

    def _append(self, segment: Offset, data: Buffer) -> None:
        for _, header in iter_headers(data):
            self._batches += 1
            self._records += header.record_count
            if not self._epochs or self._epochs[-1][0] != header.leader_epoch:
                self._epochs.append((header.leader_epoch, header.base_offset))
        if segment != self._segment:
            base_offset = parse_header(data).base_offset
            self._copied.append(_File(file_name(base_offset, LOG), base_offset))
            self._segment = segment
        file = self._copied[-1]
        path = f"{self._folder}/{file.name}"
        self._files.append(path, [data])
        self._files.sync(path)  # each step, so that none takes long
        file.size += len(data)
        file.digest.update(data)

    def _finish(self, now: Instant) -> None:
        first, (epoch, _) = self._copied[0].base_offset, self._epochs[-1]
        target = self._named(first, epoch)
        if self._files.exists(target):
            self._files.remove(self._folder)  # sealed before; the answer was lost
            return
        data = json.dumps(self._manifest(first, now), indent=1).encode()
        self._files.replace(f"{self._folder}/{MANIFEST}", data)
        self._files.rename(self._folder, target)
        self._files.close(target)

    def _manifest(self, first: Offset, now: Instant) -> Mapping[str, object]:
        partition = self._effect.partition
        return {
            "version": MANIFEST_VERSION,
            "topic": partition.topic,
            "partition": partition.partition,
            "topic_id": self.log.topic_id.hex(),
            "base_offset": first,
            "next_offset": self._end,
            "bytes": self.size,
            "batches": self._batches,
            "records": self._records,
            "leader_epochs": self._epochs,
            "reason": self._effect.reason,
            "readers": self._effect.readers,
            "sealed_at": now,
            "files": [each.described() for each in self._copied],
        }

    def _require_room(self) -> None:
        """Raises `DiskError` where the store would hold more than it may."""
        limit = self._effect.store_bytes_max
        if limit < 0:
            return
        tail = sum(
            each.size
            for each in self.log.segments
            if self.log.end_of(each) > self.offset and each.base_offset < self._end
        )
        held = stored_bytes(self._files)
        if held + tail > limit:
            raise DiskError(
                f"the orphan store holds {held} bytes, and this tail may have {tail}: more than"
                f" orphan.store.max.bytes={limit}; {_what_helps(tail, limit)}"
            )


def _what_helps(tail: int, limit: int) -> str:
    raised = "a higher limit and a restart of the broker"
    return raised if tail > limit else f"`causeway orphans discard` makes room, or {raised}"


def stored_bytes(files: Files) -> int:
    """The bytes of all sealed tails of a log directory."""
    return sum(
        _bytes_of(files, f"{ORPHANS}/{home}/{name}")
        for home in files.list(ORPHANS)
        for name in files.list(f"{ORPHANS}/{home}")
        if not name.endswith((UNFINISHED_SUFFIX, DISCARDED_SUFFIX))
    )


def _bytes_of(files: Files, folder: str) -> int:
    """Of the batches of a sealed tail."""
    return sum(files.size(f"{folder}/{file}") for file in files.list(folder) if file.endswith(LOG))


class OrphanStore:
    """Performs `SealTail` for the open `logs` of one directory."""

    def __init__(self, files: Files, logs: Mapping[TopicPartition, LocalLog]) -> None:
        self._files = files
        self._logs = logs
        self._sealings: dict[TopicPartition, TailSealing] = {}

    def seal(self, effect: SealTail, now: Instant) -> list[Event]:
        """The log stays as it is, also where the disk refuses."""
        partition, log = effect.partition, self._logs.get(effect.partition)
        if log is None:
            self._sealings.pop(partition, None)
            return [_failed(effect, f"{partition} is not open")]
        sealing = self._sealings.get(partition)
        try:
            if sealing is None or not sealing.continues(log, effect):
                sealing = self._sealings[partition] = TailSealing(self._files, log, effect)
                sealing.begin()
            done = sealing.advance(now)
        except (DiskError, BatchError) as error:
            self._sealings.pop(partition, None)
            return [_failed(effect, error.because if isinstance(error, BatchError) else str(error))]
        if done:
            del self._sealings[partition]
        return [TailSealed(effect.ticket, partition, sealing.next_offset, done, size=sealing.size)]


def _failed(effect: SealTail, because: str) -> Event:
    return TailSealed(effect.ticket, effect.partition, effect.offset, error=because)
