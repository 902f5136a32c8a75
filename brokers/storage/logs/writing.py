"""Appends that are written in any thread: one write a log at a time, which takes all appends that wait.

Code that needs the log after the write calls `run` too: the first caller writes, the others wait for it.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokers.effects import Append
from brokers.ids import TopicPartition
from brokers.ports import Appending, DiskError
from brokers.storage.logs.local_log import LocalLog

WORTH_A_THREAD_BYTES: Final = 128 * 1024  # less is written before another thread wakes


class Write:
    """Appends of one log: `run` in any thread, then `end` in the log's thread."""

    def __init__(self, log: LocalLog, appends: Sequence[Append]) -> None:
        self.log = log
        self.sync = any(each.sync for each in appends)
        self._headers = tuple(header for each in appends for header in each.headers)
        self._appending: Appending | None = None
        self._failure = DiskError()  # if it is None
        try:
            pieces = [piece for each in appends for piece in each.buffers]
            self._appending = log.begin_append(pieces)
        except DiskError as error:
            self._failure = error

    def run(self) -> None:
        """Write, unless that is done; `end` raises its error."""
        with suppress(DiskError):
            self._run()

    def end(self) -> None:
        """Add the batches to the log. Raises `DiskError` if the write failed; the file may hold a part of them."""
        self.log.appended(self._headers, self._run())

    def give_up(self) -> None:
        """Cancel the write; when this returns it has ended."""
        if self._appending is not None:
            self._appending.give_up()

    def _run(self) -> int:
        if self._appending is None:
            raise self._failure
        return self._appending.run()


class Writes:
    """Of open logs. `pending`: the appends that wait, by partition; None for a host that writes at once."""

    def __init__(self, pending: dict[TopicPartition, list[Append]] | None, from_bytes: int) -> None:
        self._is_hosted = pending is not None
        self._from_bytes = from_bytes
        self.pending: dict[TopicPartition, list[Append]] = {} if pending is None else pending
        self._in_flight: dict[TopicPartition, Write] = {}

    def take(self, effect: Append) -> bool:
        """Add an append to `pending`, if the host is to write it -> whether it was added."""
        if not (effect.behind and self._is_hosted):
            return False
        size = sum(map(len, effect.buffers))
        if size < self._from_bytes and not self.has(effect.partition):
            return False
        self.pending.setdefault(effect.partition, []).append(effect)
        return True

    def has(self, partition: TopicPartition) -> bool:
        """Whether appends of a log are not written yet."""
        return partition in self._in_flight or partition in self.pending

    def begin(self, partition: TopicPartition, log: LocalLog) -> Write:
        """Begin a write of all appends of a log that wait."""
        write = self._in_flight[partition] = Write(log, self.pending.pop(partition))
        return write

    def finish(self, partition: TopicPartition, write: Write) -> bool:
        """Remove an ended write -> whether it was still in flight."""
        if self._in_flight.get(partition) is not write:
            return False
        del self._in_flight[partition]
        return True

    def next(self, partition: TopicPartition, log: LocalLog | None) -> Write | None:
        """Take the next write of a log, to end it without the host."""
        if partition in self.pending and partition not in self._in_flight:
            assert log is not None
            self.begin(partition, log)
        return self._in_flight.pop(partition, None)

    def drop(self, partition: TopicPartition) -> None:
        """The log was closed: its write must end before its files are reused."""
        self.pending.pop(partition, None)
        if write := self._in_flight.pop(partition, None):
            write.give_up()
