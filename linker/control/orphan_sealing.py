"""The orphan tails of a topic that is restored are sealed, by each broker for the replicas that it holds (P5).

Each replica in sync seals its tail before anything is removed, and not before it has all that its leader has of it: a
follower may get the last records of producers a while after its leader. Whoever leads when the tail is cut makes sure
of its own once more: it may be a replica that came into sync later.

A log that may be compacted beyond its cut is emptied and copied anew (`Log.truncate`). What it holds below where its
source's log began comes back from nowhere, so this head of the log is sealed, too, before its tail.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

from brokers.effects import Changed
from brokers.errors import KafkaError, Refusal
from brokers.ids import Instant, Offset, TopicPartition
from brokers.region import PartitionState, Placed, PlaceRefused, SealOrphans
from linker.data.lineage import agreed_offset
from linker.frames import EpochStarts
from linker.records.mirror_record import MirrorRecord, RestorePoint
from linker.records.mirror_state import MirrorState
from linker.region_client import Done, Effects, RegionClient

RETRY_MS: Final = 500


class _Piece(NamedTuple):
    """Of a log, from `offset` up to `end`."""

    offset: Offset
    end: Offset


class _Sealed(NamedTuple):
    """What is sealed of a log: its tail up to `end`, with the leader epochs that it had, and the bytes."""

    end: Offset
    epochs: EpochStarts
    size: int


class OrphanSealing:
    """Of one mirror topic. `sealed`: the partitions whose tail this broker has sealed, or does not have; its bytes."""

    def __init__(self, region: RegionClient, topic: str) -> None:
        self.because = ""  # the last reason why a tail was not sealed
        self._region = region
        self._topic = topic
        self._record: MirrorRecord | None = None
        self._version: Offset = -1
        self._sealed: dict[int, _Sealed] = {}
        self._sealing: set[int] = set()
        self._waiting: dict[int, Done] = {}
        self._timer: int | None = None

    @property
    def sealed(self) -> Mapping[int, int]:
        return {
            index: self._sealed[index].size if index in self._sealed else 0
            for index, point in enumerate(self._points)
            if self._is_sealed(index, point)
        }

    def _is_sealed(self, index: int, point: RestorePoint) -> bool:
        state = self._state(index)
        if state is None or not state.online:
            return False
        return not (_awaits(state, point) or self._lacks(index, point, state))

    def _lacks(self, index: int, point: RestorePoint, state: PartitionState) -> bool:
        """Whether this log has records to be cut that are not sealed."""
        if _is_of_source(state, point):
            return False
        return state.log_end_offset > self._sealed_up_to(index, point, state)

    def _sealed_up_to(self, index: int, point: RestorePoint, state: PartitionState) -> Offset:
        """By lineage: what was cut from a log and filled again since it was sealed is not sealed."""
        if index not in self._sealed:
            return point.offset
        end, epochs, _ = self._sealed[index]
        same = agreed_offset(epochs, end, state.epochs, state.log_end_offset)
        return max(point.offset, same)

    def _state(self, index: int) -> PartitionState | None:
        return self._region.view.partition_state(TopicPartition(self._topic, index))

    def follow(self, record: MirrorRecord, version: Offset, now: Instant) -> Effects:
        """Seal what is to be sealed by this record, as long as more may come."""
        if version != self._version:
            self._record, self._version = record, version
            self._sealed.clear()
            self.because = ""
        return self._seal_all(now)

    def before_cut(self, index: int, done: Done, now: Instant) -> Effects:
        """Seal what this broker's log has beyond the restore point, where it is not sealed; then `done`."""
        state = self._state(index)
        points = self._record.restore if self._record is not None else ()
        if state is None or not state.online or index >= len(points):
            because = "its log is not open" if points else "it is not restored any more"
            return done(Refusal(KafkaError.KAFKA_STORAGE_ERROR, because), now)
        if not self._lacks(index, points[index], state):
            return done(None, now)
        self._waiting[index] = done
        return [] if index in self._sealing else self._seal(index, points[index], state)

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
            state = self._state(index)
            if index in self._sealing or state is None or not state.online:
                continue  # no replica here, or not now
            if not _awaits(state, point) and self._lacks(index, point, state):
                effects += self._seal(index, point, state)
        if self._points and self._timer is None:
            self._timer = self._region.timers.set(now + RETRY_MS, self._on_time)
        return effects

    def _on_time(self, now: Instant) -> Effects:
        self._timer = None
        return self._seal_all(now)

    def _seal(self, index: int, point: RestorePoint, state: PartitionState) -> Effects:
        partition = TopicPartition(self._topic, index)
        self._sealing.add(index)
        rest = _Piece(self._sealed_up_to(index, point, state), state.log_end_offset)
        head = None if index in self._sealed else self._head(partition, point, state)
        pieces = (rest,) if head is None else (head, rest)
        return self._ask(self._version, partition, state, pieces)

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
        self,
        version: Offset,
        partition: TopicPartition,
        asked: PartitionState,
        pieces: tuple[_Piece, ...],
    ) -> Effects:
        """Seal the first of them, and the others after it. `asked`: what the log was when this began."""
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
                partial(self._on_sealed, version, partition, asked, tuple(rest)),
            )
        ]

    def _on_sealed(
        self,
        version: Offset,
        partition: TopicPartition,
        asked: PartitionState,
        rest: tuple[_Piece, ...],
        answer: Placed | PlaceRefused,
        now: Instant,
    ) -> Effects:
        is_current = version == self._version
        if isinstance(answer, Placed) and rest and is_current:
            return self._ask(version, partition, asked, rest)
        index = partition.partition
        self._sealing.discard(index)
        if isinstance(answer, PlaceRefused):
            return self._on_refused(partition, answer) + self._go_on(index, answer.because, now)
        self.because = ""
        if is_current:
            self._note(index, asked, answer)
        changed = Changed(
            f"orphan tail of {partition}", "sealed", f"up to offset {answer.next_offset}"
        )
        return [changed, *self._go_on(index, "", now)]

    def _note(self, index: int, asked: PartitionState, answer: Placed) -> None:
        """It is sealed, unless the log was cut meanwhile: then it is sealed anew."""
        state, end = self._state(index), asked.log_end_offset
        if state is None or end > agreed_offset(
            asked.epochs, end, state.epochs, state.log_end_offset
        ):
            return
        before = self._sealed[index].size if index in self._sealed else 0
        self._sealed[index] = _Sealed(answer.next_offset, asked.epochs, before + answer.size)

    def _on_refused(self, partition: TopicPartition, answer: PlaceRefused) -> Effects:
        is_new, self.because = answer.because != self.because, answer.because
        what = f"orphan tail of {partition}"
        return [Changed(what, "not sealed", answer.because)] if is_new else []

    def _go_on(self, index: int, because: str, now: Instant) -> Effects:
        """Whoever waits to cut it hears whether it may."""
        done = self._waiting.pop(index, None)
        if done is None:
            return []
        if because:
            return done(Refusal(KafkaError.KAFKA_STORAGE_ERROR, because), now)
        return self.before_cut(index, done, now)


def _awaits(state: PartitionState, point: RestorePoint) -> bool:
    """Whether this replica gets more of the tail from its leader, which had all of it when the point was found."""
    has_tail = point.offset < point.end and not _is_of_source(state, point)
    return has_tail and state.log_end_offset < point.end


def _is_of_source(state: PartitionState, point: RestorePoint) -> bool:
    return bool(state.epochs) and state.epochs[-1][0] > point.leader_epoch


def _reason(link: str, *, is_head: bool) -> str:
    what = ": the source never had it" if is_head else ""
    return f"truncate-and-restore, link {link}{what}"
