"""The leader epochs of a log by offset (Kafka's LeaderEpochFileCache; KIP-101, KIP-279, KIP-320).

Entries are (leader epoch, first offset), both strictly increasing but for a last epoch that has no data yet. An entry
ends where the next begins, the last one at the log end offset.
"""

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from brokers.ids import NO_PARTITION_LEADER_EPOCH, LeaderEpoch, Offset

UNDEFINED_OFFSET: Offset = -1

_epoch_of = itemgetter(0)
_start_of = itemgetter(1)


class EpochEnd(NamedTuple):
    """The largest known leader epoch not above the requested one, and its end offset; (-1, -1) if undefined."""

    leader_epoch: LeaderEpoch
    end_offset: Offset


class EpochHistory:
    """The leader epochs of one log, oldest first."""

    __slots__ = ("_entries", "latest")

    def __init__(self, entries: Iterable[tuple[LeaderEpoch, Offset]] = ()) -> None:
        self._entries: list[tuple[LeaderEpoch, Offset]] = []
        self.latest: LeaderEpoch = NO_PARTITION_LEADER_EPOCH
        for leader_epoch, start in entries:
            self.assign(leader_epoch, start)

    @property
    def entries(self) -> tuple[tuple[LeaderEpoch, Offset], ...]:
        """(leader epoch, first offset), ascending."""
        return tuple(self._entries)

    def assign(self, leader_epoch: LeaderEpoch, offset: Offset) -> bool:
        """Add `leader_epoch`, which begins at `offset`; False if it, or a later one, is known already.

        Removes earlier epochs that begin at or above `offset`: they have no data in the log.
        """
        if leader_epoch <= self.latest:
            return False
        while self._entries and self._entries[-1][1] >= offset:
            self._entries.pop()
        self._entries.append((leader_epoch, offset))
        self.latest = leader_epoch
        return True

    def end_offset_for(self, leader_epoch: LeaderEpoch, log_end_offset: Offset) -> EpochEnd:
        """The end of `leader_epoch`, or of the largest known one below it (OffsetForLeaderEpoch)."""
        if leader_epoch < 0 or leader_epoch > self.latest:
            return EpochEnd(NO_PARTITION_LEADER_EPOCH, UNDEFINED_OFFSET)
        if leader_epoch == self.latest:
            return EpochEnd(leader_epoch, log_end_offset)
        higher = bisect_right(self._entries, leader_epoch, key=_epoch_of)
        end_offset = self._entries[higher][1]
        # Older than all known epochs: as in Kafka, the requested epoch ends where the first known one begins.
        floor = self._entries[higher - 1][0] if higher else leader_epoch
        return EpochEnd(floor, end_offset)

    def epoch_at(self, offset: Offset) -> LeaderEpoch:
        """The leader epoch that wrote (or would write) `offset`; -1 if it is older than the history."""
        after = bisect_right(self._entries, offset, key=_start_of)
        return self._entries[after - 1][0] if after else NO_PARTITION_LEADER_EPOCH

    def truncate_from_end(self, log_end_offset: Offset) -> bool:
        """Remove epochs that begin above the log end; returns whether there were any."""
        kept = bisect_right(self._entries, log_end_offset, key=_start_of)
        changed = kept < len(self._entries)
        del self._entries[kept:]
        self.latest = self._entries[-1][0] if self._entries else NO_PARTITION_LEADER_EPOCH
        return changed

    def drop_from(self, offset: Offset) -> bool:
        """Remove epochs that begin at or above `offset`, also one without data; returns whether there were any."""
        return self.truncate_from_end(offset - 1)

    def truncate_from_start(self, log_start_offset: Offset) -> bool:
        """Remove epochs that end at or below the log start offset; the first one kept begins there."""
        after = bisect_right(self._entries, log_start_offset, key=_start_of)
        if after == 0 or self._entries[0] == (self._entries[after - 1][0], log_start_offset):
            return False
        self._entries[:after] = [(self._entries[after - 1][0], log_start_offset)]
        return True
