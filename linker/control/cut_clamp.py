"""Group offsets past the cut of a mirror topic, or past what it will be truncated to, are moved back.

Each broker does it for the groups that it coordinates.
"""

from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.ids import Instant, LeaderEpoch, Offset
from linker.control.group_clamp import GroupClamp
from linker.records.mirror_record import MirrorRecord
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 1_000


class CutClamp:
    """Of one mirror topic. `covered`: partitions of `__consumer_offsets` whose groups are at the cut or before."""

    def __init__(self, region: RegionClient, topic: str) -> None:
        self.covered: tuple[tuple[int, LeaderEpoch], ...] = ()
        self._region = region
        self._topic = topic
        self._version: Offset = -1  # of the record whose cut it is
        self._is_running = False
        self._is_done = False
        self._commits = 0  # of the topic, when it was looked at last
        self._timer: int | None = None
        self.because = ""  # it is not done yet

    def follow(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        """Move back the groups that this broker coordinates now; again whenever it coordinates others, and while a
        topic is to be restored, whatever has been committed since."""
        if not record.ends:
            return []
        if version != self._version:
            self._version, self.covered, self._is_done = version, (), False  # of another cut
        if self._is_running or self._timer is not None:
            return []
        partitions = self._region.view.led_group_partitions()
        done = partial(self._on_done, version, partitions)
        waits = record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
        clamp = GroupClamp(
            self._region,
            self._topic,
            record.ends,
            done,
            waits_for_members=waits,
            removes=waits and any(point.end > point.offset for point in record.restore),
        )
        is_done = self._is_done and partitions == self.covered
        commits, self._commits = self._commits, self._region.commits[self._topic]
        if is_done and not (waits and commits != self._commits and clamp.is_due):
            return []
        self._is_running, self._is_done, self.covered = True, False, ()
        return clamp.begin(now)

    def _on_done(
        self,
        version: Offset,
        partitions: tuple[tuple[int, LeaderEpoch], ...],
        because: str,
        now: Instant,
    ) -> Effects:
        self._is_running = False
        is_new, self.because = because != self.because, because
        if not because:
            if version == self._version:
                self.covered, self._is_done = partitions, True
            return []
        self._timer = self._region.timers.set(now + RETRY_MS, self._on_time)
        return [Changed(f"mirror {self._topic}", "waits", because)] if is_new else []

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return []
