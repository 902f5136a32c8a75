"""What is written behind, as it may be the files of thousands of logs at once: leader epochs that have no batch yet,
and indexes after the periodic checkpoint."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from brokers.effects import SaveBehind, SaveEpochs
from brokers.events import Event
from brokers.ids import Instant, TopicPartition
from brokers.storage.logs.local_log import LocalLog

OnLog: TypeAlias = Callable[[TopicPartition, Callable[[LocalLog], None]], list[Event]]


class SavesBehind:
    """Of the open `logs`. `pending`: the partitions of which the host is to perform a `SaveBehind`."""

    def __init__(
        self,
        logs: Mapping[TopicPartition, LocalLog],
        pending: dict[TopicPartition, None],
        on_log: OnLog,
    ) -> None:
        self.pending = pending
        self._logs = logs
        self._on_log = on_log

    def save_epochs(self, effect: SaveEpochs, now: Instant) -> list[Event]:
        def save(log: LocalLog) -> None:
            log.save_epochs(effect.entries)
            if log.has_epochs_behind:
                self.pending[effect.partition] = None

        return self._on_log(effect.partition, save)

    def save(self, effect: SaveBehind, now: Instant) -> list[Event]:
        return self._on_log(effect.partition, LocalLog.save_behind)

    def want_indexes(self, partitions: Iterable[TopicPartition]) -> None:
        """Of these partitions what is new in their indexes is to be written."""
        for partition in partitions:
            log = self._logs.get(partition)
            if log is not None and log.active.has_unsaved_indexes:
                self.pending[partition] = None
