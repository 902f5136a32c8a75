"""Appends that reach their files while the core goes on: one write a log at a time, those that wait together.

A write runs in whatever thread. Whoever needs the log as it then is runs it too: the first to come does it, the others
wait until it is done.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from brokers.effects import Append
from brokers.ids import TopicPartition
from brokers.ports import Appending, DiskError
from brokers.storage.logs.local_log import LocalLog

WORTH_A_THREAD_BYTES: Final = (
    128 * 1024
)  # less than that is written sooner than another thread is awake


class Write:
    """Appends of one log; `run` in any thread, then `end` where the log belongs."""

    def __init__(self, log: LocalLog, appends: Sequence[Append]) -> None:
        self.log = log
        self.sync = any(each.sync for each in appends)
        self._headers = tuple(header for each in appends for header in each.headers)
        self._appending: Appending | None = None
        self._failure = DiskError()  # why there is none
        try:
            pieces = [piece for each in appends for piece in each.buffers]
            self._appending = log.begin_append(pieces)
        except DiskError as error:
            self._failure = error

    def run(self) -> None:
        """Write, unless that is done; `end` tells how it went."""
        with suppress(DiskError):
            self._run()

    def end(self) -> None:
        """The log has what was written; `DiskError` where the disk refused, and then the file may hold a part."""
        self.log.appended(self._headers, self._run())

    def give_up(self) -> None:
        """When this returns nothing is being written, and nothing will be."""
        if self._appending is not None:
            self._appending.give_up()

    def _run(self) -> int:
        if self._appending is None:
            raise self._failure
        return self._appending.run()


class Writes:
    """By partition, of open logs only. `asked` holds those that wait; None where no host would begin them."""

    def __init__(self, asked: dict[TopicPartition, list[Append]] | None, from_bytes: int) -> None:
        self._is_hosted = asked is not None
        self._from_bytes = from_bytes
        self.asked: dict[TopicPartition, list[Append]] = {} if asked is None else asked
        self._under_way: dict[TopicPartition, Write] = {}

    def take(self, effect: Append) -> bool:
        """Whether an append is left to the host."""
        if not (effect.behind and self._is_hosted):
            return False
        size = sum(map(len, effect.buffers))
        if size < self._from_bytes and not self.has(effect.partition):
            return False
        self.asked.setdefault(effect.partition, []).append(effect)
        return True

    def has(self, partition: TopicPartition) -> bool:
        """Whether a log is to get more than its file holds for certain."""
        return partition in self._under_way or partition in self.asked

    def begin(self, partition: TopicPartition, log: LocalLog) -> Write:
        """Everything of a log that waits."""
        write = self._under_way[partition] = Write(log, self.asked.pop(partition))
        return write

    def ends(self, partition: TopicPartition, write: Write) -> bool:
        """Whether nobody else has seen to its end."""
        if self._under_way.get(partition) is not write:
            return False
        del self._under_way[partition]
        return True

    def next(self, partition: TopicPartition, log: LocalLog | None) -> Write | None:
        """The write of a log that is to end next, for whoever can't wait for the host."""
        if partition in self.asked and partition not in self._under_way:
            assert log is not None
            self.begin(partition, log)
        return self._under_way.pop(partition, None)

    def drop(self, partition: TopicPartition) -> None:
        """The log is no longer open, and its files may soon be somebody else's."""
        self.asked.pop(partition, None)
        if write := self._under_way.pop(partition, None):
            write.give_up()
