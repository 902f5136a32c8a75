"""Appends to the open logs of one directory: at once, or as writes that the host runs in any thread."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from brokers.effects import Append
from brokers.events import Event, Written
from brokers.ids import Instant, Offset, TopicPartition
from brokers.ports import DiskError
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.logs.reads import Fail
from brokers.storage.logs.syncing import Syncs
from brokers.storage.logs.writing import Write, Writes

Performer: TypeAlias = Callable[[Any, Instant], list[Event]]


class Appends:
    """For the open `logs`. `checked`: the batches below it, of logs that failed at an append, need no check."""

    def __init__(
        self,
        logs: Mapping[TopicPartition, LocalLog],
        writes: Writes,
        syncs: Syncs,
        checked: dict[TopicPartition, Offset],
        fail: Fail,
    ) -> None:
        self._logs = logs
        self._writes = writes
        self._syncs = syncs
        self._checked = checked
        self._fail = fail

    def append(self, effect: Append, now: Instant) -> list[Event]:
        partition = effect.partition
        log = self._logs.get(partition)
        if log is None:
            return []  # it failed, as reported before
        try:
            log.save_epochs_behind()
        except DiskError as error:
            return self._fail(partition, error)
        if self._writes.take(effect):
            return []
        settled = self.settle(partition) if self._writes.has(partition) else []
        if partition not in self._logs:
            return settled
        act = partial(log.append, effect.headers, effect.buffers)
        return settled + self._write(partition, act, effect.sync)

    def begin_write(self, partition: TopicPartition) -> Write:
        """Take a partition from those that wait -> a write to `run` in any thread."""
        return self._writes.begin(partition, self._logs[partition])

    def end_write(self, partition: TopicPartition, write: Write) -> list[Event]:
        """The events of the write, unless `settle` returned them before."""
        is_mine = self._writes.finish(partition, write)
        return self._write(partition, write.end, write.sync) if is_mine else []

    def settle(self, partition: TopicPartition) -> list[Event]:
        """Complete the writes of a log."""
        events: list[Event] = []
        while write := self._writes.next(partition, self._logs.get(partition)):
            events += self._write(partition, write.end, write.sync)
        return events

    def before(self, perform: Performer) -> Performer:
        """Complete the writes of an effect's log before it is performed."""

        def perform_settled(effect: Any, now: Instant) -> list[Event]:
            if not self._writes.has(effect.partition):
                return perform(effect, now)
            return self.settle(effect.partition) + perform(effect, now)

        return perform_settled

    def _write(self, partition: TopicPartition, act: Callable[[], None], sync: bool) -> list[Event]:
        log = self._logs[partition]
        try:
            act()
        except DiskError as error:
            self._checked[partition] = log.next_offset
            return self._fail(partition, error)
        if sync or log.sync_promised > log.synced_offset:
            log.sync_promised = log.next_offset
            self._syncs.add(partition, log, log.active)
            return []
        return [Written(partition, log.next_offset)]
