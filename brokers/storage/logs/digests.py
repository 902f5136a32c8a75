"""Sealed segments that wait for their digest. When it is written the core receives `SegmentSealed`.

A segment waits once it is synced. A worker thread writes one digest of a log at a time. If that fails, `SegmentSealed`
is sent all the same, and the next opening of the log tries again.
"""

from collections.abc import Mapping
from contextlib import suppress

from brokers.events import Event, SegmentSealed
from brokers.ids import TopicPartition
from brokers.ports import DiskError, Files
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.digest_writing import DigestWriting


class Digests:
    """For the open `logs` of one directory. `pending`: the partitions with a segment that waits."""

    def __init__(
        self,
        files: Files,
        logs: Mapping[TopicPartition, LocalLog],
        pending: dict[TopicPartition, None],
    ) -> None:
        self._files = files
        self._logs = logs
        self.pending = pending
        self._in_flight: dict[TopicPartition, tuple[LocalLog, DigestWriting]] = {}

    def add(self, partition: TopicPartition) -> None:
        """Called after a sync, an opening, and each digest."""
        log = self._logs.get(partition)
        if log is None or not log.undigested or partition in self._in_flight:
            return
        if log.end_of(next(iter(log.undigested))) <= log.synced_offset:
            self.pending[partition] = None

    def begin(self, partition: TopicPartition) -> DigestWriting:
        """The oldest segment of a log in `pending`."""
        del self.pending[partition]
        log = self._logs[partition]
        writing = DigestWriting(self._files, log.topic_id, next(iter(log.undigested)))
        self._in_flight[partition] = log, writing
        return writing

    def end(self, partition: TopicPartition, writing: DigestWriting) -> list[Event]:
        """`SegmentSealed`, if the log is still open and the segment a part of it."""
        log, segment = self._logs.get(partition), writing.segment
        begun = self._in_flight.pop(partition, None)
        if begun != (log, writing) or log is None or segment not in log.undigested:
            self._remove(log, writing)
            self.add(partition)
            return []
        if writing.is_given_up and writing.digest is None:
            return []  # the process stops
        del log.undigested[segment]
        segment.is_digested = writing.digest is not None
        digest = b"" if writing.digest is None else writing.digest.digest
        self.add(partition)
        return [
            SegmentSealed(partition, segment.base_offset, log.end_of(segment), segment.size, digest)
        ]

    def _remove(self, log: LocalLog | None, writing: DigestWriting) -> None:
        """The segment was removed or reopened: the digest may not be of its bytes."""
        path = writing.segment.digest_path
        is_anothers = log is not None and any(
            each.is_digested and each.digest_path == path for each in log.segments
        )
        if not is_anothers:
            with suppress(DiskError):
                self._files.remove(path)

    def trimmed(self, partition: TopicPartition) -> None:
        """Segments of the log were removed, perhaps one that waited."""
        self.pending.pop(partition, None)
        self.add(partition)

    def replaced(self, partition: TopicPartition) -> None:
        """A cleaned segment has replaced others, perhaps one whose digest is being written."""
        begun = self._in_flight.get(partition)
        if begun is not None and begun[1].segment not in begun[0].undigested:
            begun[1].give_up()
        self.trimmed(partition)

    def drop(self, partition: TopicPartition) -> None:
        """The log was closed."""
        self.pending.pop(partition, None)
        if begun := self._in_flight.pop(partition, None):
            begun[1].give_up()
