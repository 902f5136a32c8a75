"""The orphan tails of a topic that is restored are sealed, by each broker for the replicas that it holds (P5).

A log that may be compacted beyond its cut is emptied and copied anew (`Log.truncate`). What it holds below where its
source's log began comes back from nowhere, so this head of the log is sealed, too, before its tail.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

from brokers.effects import Changed
from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import PartitionState, Placed, PlaceRefused, SealOrphans
from linker.records.mirror_record import MirrorRecord, RestorePoint
from linker.records.mirror_state import MirrorState
from linker.region_client import Effects, RegionClient

RETRY_MS: Final = 500


class _Piece(NamedTuple):
    """Of a log, from `offset` up to `end`; -1: to the log's end."""

    offset: Offset
    end: Offset = -1


class OrphanSealing:
    """Of one mirror topic. `sealed`: the partitions whose tail this broker has sealed, or does not have; its bytes."""

    def __init__(self, region: RegionClient, topic: str) -> None:
        self.because = ""  # the last reason why a tail was not sealed
        self._region = region
        self._topic = topic
        self._record: MirrorRecord | None = None
        self._version: Offset = -1
        self._sealed: dict[int, int] = {}
        self._ends: dict[int, Offset] = {}  # up to where
        self._sealing: set[int] = set()
        self._timer: int | None = None

    @property
    def sealed(self) -> Mapping[int, int]:
        """Not those whose log has grown since: a follower may get the last records of producers after it has sealed."""
        unfinished = {
            index for index, point in enumerate(self._points) if self._lacks(index, point)
        }
        return {
            index: size for index, size in sorted(self._sealed.items()) if index not in unfinished
        }

    def _lacks(self, index: int, point: RestorePoint) -> bool:
        """Whether this broker has records to be cut that are not sealed."""
        state = self._region.view.partition_state(TopicPartition(self._topic, index))
        if state is None or _is_of_source(state, point):
            return False
        return state.log_end_offset > self._ends.get(index, point.offset)

    def follow(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        """Seal what is to be sealed by this record, as long as more may come."""
        if version != self._version:
            self._record, self._version = record, version
            self._sealed.clear()
            self._ends.clear()
            self.because = ""
        return self._seal_all(now)

    def close(self) -> None:
        """The mirror topic is forgotten: nothing more is sealed for it."""
        self._record, self._version = None, -1

    @property
    def _points(self) -> tuple[RestorePoint, ...]:
        record = self._record
        is_wanted = record is not None and record.state is MirrorState.PENDING_SETUP_FOR_RESTORE
        return record.restore if record is not None and is_wanted else ()

    def _seal_all(self, now: Instant) -> Effects:
        effects: Effects = []
        for index, point in enumerate(self._points):
            is_sealed = index in self._sealed and not self._lacks(index, point)
            if not is_sealed and index not in self._sealing:
                effects += self._seal(index, point)
        if self._points and self._timer is None:
            self._timer = self._region.timers.set(now + RETRY_MS, self._on_time)
        return effects

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return self._seal_all(now)

    def _seal(self, index: int, point: RestorePoint) -> Effects:
        partition = TopicPartition(self._topic, index)
        state = self._region.view.partition_state(partition)
        if state is None or not state.online:
            return []  # no replica here, or not now
        if not self._lacks(index, point):
            self._sealed[index] = 0
            return []
        self._sealing.add(index)
        rest = _Piece(self._ends.get(index, point.offset))
        head = None if index in self._ends else self._head(partition, point, state)
        return self._ask(self._version, partition, (rest,) if head is None else (head, rest))

    def _head(
        self, partition: TopicPartition, point: RestorePoint, state: PartitionState
    ) -> _Piece | None:
        """What the source never had. Where it does not say what that is, all that is in front of the tail."""
        policy = self._region.view.topic_config(partition.topic, "cleanup.policy")
        if state.complete_from <= point.offset and "compact" not in policy:
            return None  # only what is in the tail is removed
        assert self._record is not None
        known = dict(enumerate(self._record.began_at))
        began_at = known.get(partition.partition, -1)
        end = min(began_at, point.offset) if began_at >= 0 else point.offset
        return _Piece(state.log_start_offset, end) if state.log_start_offset < end else None

    def _ask(
        self, version: Offset, partition: TopicPartition, pieces: tuple[_Piece, ...]
    ) -> Effects:
        """Seal the first of them, and the others after it."""
        assert self._record is not None
        link, (piece, *rest) = self._record.link, pieces
        readers = tuple(
            (one.group, one.offset)
            for one in self._record.readers
            if one.partition == partition.partition and not rest
        )
        reason = _reason(link, is_head=bool(rest))
        return [
            self._region.ask(
                lambda ticket: SealOrphans(
                    ticket, link, partition, piece.offset, reason, readers, piece.end
                ),
                partial(self._on_sealed, version, partition, tuple(rest)),
            )
        ]

    def _on_sealed(
        self,
        version: Offset,
        partition: TopicPartition,
        rest: tuple[_Piece, ...],
        answer: Placed | PlaceRefused,
        now: Instant,
    ) -> Effects:
        if isinstance(answer, Placed) and rest and version == self._version:
            return self._ask(version, partition, rest)
        self._sealing.discard(partition.partition)
        if isinstance(answer, Placed):
            self.because = ""
            if version == self._version:
                index = partition.partition
                self._sealed[index] = self._sealed.get(index, 0) + answer.size
                self._ends[index] = answer.next_offset
            what = f"orphan tail of {partition}"
            return [Changed(what, "sealed", f"up to offset {answer.next_offset}")]
        is_new, self.because = answer.because != self.because, answer.because
        return (
            [Changed(f"orphan tail of {partition}", "not sealed", answer.because)] if is_new else []
        )


def _is_of_source(state: PartitionState, point: RestorePoint) -> bool:
    return bool(state.epochs) and state.epochs[-1][0] > point.leader_epoch


def _reason(link: str, *, is_head: bool) -> str:
    what = ": the source never had it" if is_head else ""
    return f"truncate-and-restore, link {link}{what}"
