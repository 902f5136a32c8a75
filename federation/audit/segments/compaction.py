"""What logs lack because of compaction, as checkpoint files of their directory say.

A node of Causeway writes up to where it compacts a log before it does. Kafka's own checkpoint follows a cleaning: it is
the lower bound for directories of other brokers.
"""

import os
from typing import NamedTuple

from federation.audit.segments import checkpoints
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.data_dir import META


class Compaction(NamedTuple):
    """Of one log: from `complete_from` on it has every record that was written, from `markers_from` on every deletion
    marker."""

    complete_from: int = 0
    markers_from: int = 0


class Compactions:
    """Of the logs of one directory. Partition folders that were copied without the files beside them say nothing.

    Raises ValueError where a checkpoint is damaged, OSError where it can't be read.
    """

    def __init__(self, data_dir: str) -> None:
        self._is_told = any(os.path.exists(os.path.join(data_dir, name)) for name in _BESIDE)
        kafka = checkpoints.read(data_dir, checkpoints.CLEANER_OFFSETS)
        self._complete_from = checkpoints.read(data_dir, checkpoints.COMPLETE_FROM)
        for key, offset in kafka.items():
            self._complete_from[key] = max(offset, self._complete_from.get(key, 0))
        self._markers_from = checkpoints.read(data_dir, checkpoints.MARKERS_FROM)

    def of(self, key: Key) -> Compaction | None:
        if not self._is_told:
            return None
        return Compaction(self._complete_from.get(key, 0), self._markers_from.get(key, 0))


_BESIDE = (META, *checkpoints.NAMES)
