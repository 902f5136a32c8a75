"""Group offsets past the cut of a mirror topic are moved back, by each broker for the groups that it coordinates."""

from functools import partial
from typing import Final

from brokers.effects import Changed
from brokers.ids import Instant, LeaderEpoch, Offset
from linker.control.group_clamp import GroupClamp
from linker.records.mirror_state import MirrorRecord, MirrorState
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
        self._timer: int | None = None

    def follow(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        """Move back the groups that this broker coordinates now; again whenever it coordinates others."""
        if record.cut is None or record.state is not MirrorState.PENDING_STOPPED:
            return []
        partitions = self._region.view.led_group_partitions()
        is_done = version == self._version and partitions == self.covered
        if is_done or self._is_running or self._timer is not None:
            return []
        self._is_running, self._version = True, version
        done = partial(self._on_done, partitions)
        return GroupClamp(self._region, self._topic, record.cut, done).begin(now)

    def _on_done(
        self, partitions: tuple[tuple[int, LeaderEpoch], ...], because: str, now: Instant
    ) -> Effects:
        self._is_running = False
        if not because:
            self.covered = partitions
            return []
        self._timer = self._region.timers.set(now + RETRY_MS, self._on_time)
        return [Changed(f"mirror {self._topic}", "failover waits", because)]

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return []
