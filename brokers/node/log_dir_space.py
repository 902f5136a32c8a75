"""Measures the disks of the log directories, and says when one passes a watermark.

Below the second watermark producers and links are refused, and the directory gets no new replicas. What others have
accepted already is still copied here: followers fetch, coordinators commit group offsets, the metadata log grows, in
what the watermark keeps free for them. Once half of that is gone followers stop, and leave the in-sync replicas.
"""

from typing import Final

from brokers.config.broker_config import BrokerConfig
from brokers.config.disk_watermarks import DiskLevel, watermarks
from brokers.continuations import Continuations
from brokers.effects import Changed, Effect, MeasureDirectories
from brokers.events import DirectoriesMeasured, LogAnswer
from brokers.ids import Instant
from brokers.membership.log_dirs import OwnDirectories, OwnDirectory
from brokers.timers import Timers

INTERVAL_MS: Final = 1_000
SHORT_INTERVAL_MS: Final = (
    100  # while a disk is below a watermark, for what followers and others write
)
_SAYS: Final = {
    DiskLevel.ROOM: "has room again",
    DiskLevel.WARN: "is short of space",
    DiskLevel.REFUSE: "refuses producers",
    DiskLevel.FULL: "refuses producers, and its followers stop copying",
}


class LogDirSpace:
    """Asks the host for the free space again and again; what it finds is kept in `OwnDirectories`."""

    def __init__(
        self,
        config: BrokerConfig,
        log_dirs: OwnDirectories,
        continuations: Continuations,
        timers: Timers,
    ) -> None:
        self._config = config
        self._log_dirs = log_dirs
        self._continuations = continuations
        self._timers = timers
        self._told: dict[str, DiskLevel] = {}  # by path

    def measure(self, now: Instant) -> list[Effect]:
        """Begins it, at the start of the node."""
        return [MeasureDirectories(self._continuations.on_storage(self._measured))]

    def _measured(self, answer: LogAnswer, now: Instant) -> list[Effect]:
        assert isinstance(answer, DirectoriesMeasured)
        effects: list[Effect] = []
        for each in self._log_dirs.all:
            if each.id is not None:
                volume = answer.volumes.get(each.id)
                marks = watermarks(self._config, 0 if volume is None else volume.total_bytes)
                self._log_dirs.measured(each, volume, marks)
                effects += self._changed(each)
        is_short = any(each.level for each in self._log_dirs.all)
        pause = SHORT_INTERVAL_MS if is_short else INTERVAL_MS
        self._timers.set(now + pause, self.measure)
        return effects

    def _changed(self, directory: OwnDirectory) -> list[Effect]:
        path, level, volume = directory.path, directory.level, directory.volume
        before, self._told[path] = self._told.get(path, DiskLevel.ROOM), level
        if level is before or volume is None:
            return []
        mark = {
            DiskLevel.REFUSE: directory.marks.refuse,
            DiskLevel.FULL: directory.marks.refuse // 2,
        }.get(level, directory.marks.warn)
        because = f"{volume.usable_bytes} of {volume.total_bytes} bytes are free; the watermark is at {mark}"
        return [Changed(f"log directory {path}", _SAYS[level], because)]
