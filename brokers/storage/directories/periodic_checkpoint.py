"""The periodic checkpoint of a log directory, Kafka's `highwatermark-checkpoint` and `kafka-recovery-point-checkpoint`.

Like there it is written by a thread of its own: a disk may need long for a sync, and clients would wait meanwhile.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from uuid import UUID

from brokers.events import DirectoryRefused, Event
from brokers.ids import Offset, TopicPartition
from brokers.ports import DiskError, Replacing
from brokers.storage.directories.log_dir_checkpoints import LogDirCheckpoints


class PeriodicCheckpoint:
    """`waiting`: what the host runs in any thread and has not taken yet; None: all is written at once."""

    def __init__(
        self,
        root: LogDirCheckpoints,
        directory: UUID,
        waiting: list[Callable[[], list[Event]]] | None,
    ) -> None:
        self._root = root
        self._directory = directory
        self._waiting = waiting

    def save(self, offsets: Mapping[TopicPartition, Offset]) -> list[Event]:
        """High watermarks and recovery points. Where the disk refuses, the next one tries again."""
        try:
            saves = self._root.begin_checkpoint(offsets)
        except DiskError as error:
            return self._refused(error)
        if self._waiting is None:
            return self._run(saves)
        if saves:
            self._waiting.append(partial(self._run, saves))
        return []

    def _run(self, saves: Sequence[Replacing]) -> list[Event]:
        try:
            for each in saves:
                each.run()
        except DiskError as error:
            return self._refused(error)
        finally:
            for each in saves:
                each.give_up()
        return []

    def _refused(self, error: DiskError) -> list[Event]:
        return [DirectoryRefused(str(error), self._directory)]
