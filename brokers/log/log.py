"""One partition's log in the core: offsets, segments, leader epochs, producers.

Its methods return effects, which `storage` performs. Always: log start <= written <= log end, segments ascend by base
offset, and the last one is active. Created when the log is opened (`LogOpened`).
"""

from collections import deque
from collections.abc import Sequence
from zlib import crc32

from brokers.effects import (
    Append,
    FlushLog,
    KeepProducers,
    NoteGap,
    Roll,
    SaveEpochs,
    StorageEffect,
    TrimLog,
    TruncateLog,
)
from brokers.ids import NO_PRODUCER, Buffers, Instant, LeaderEpoch, Offset, TopicPartition
from brokers.log.completeness import Completeness, is_cleaned
from brokers.log.config import LogConfig
from brokers.log.epochs import EpochHistory
from brokers.log.producers import ProducerStates
from brokers.log.recovered import RecoveredLog
from brokers.log.segments import Segment
from brokers.log.snapshots import encode_snapshot
from brokers.records.batch import BatchHeader

DELETED_MAX = 1_000  # segments whose sizes are remembered until the log is closed
TIME_ENTRY_BYTES = 12
INT32_MAX = 2**31 - 1  # indexes hold positions and relative offsets as int32


class Log:
    """`log_end_offset` is the end of the appends, `written_offset` that of the writes (synced, where `sync` is set)."""

    __slots__ = (
        "_records_deleted",
        "_sealed_sizes",
        "_segment_bases",
        "cleaner_offset",
        "completeness",
        "deleted",
        "epochs",
        "high_watermark_checkpoint",
        "log_end_offset",
        "log_start_offset",
        "partition",
        "producers",
        "segments",
        "topic_id",
        "unflushed",
        "unflushed_since",
        "written_offset",
    )

    def __init__(
        self,
        partition: TopicPartition,
        topic_id: bytes,
        *,
        segments: Sequence[Segment],
        log_start_offset: Offset,
        log_end_offset: Offset,
        high_watermark_checkpoint: Offset = 0,
        epochs: EpochHistory | None = None,
        producers: ProducerStates | None = None,
        cleaner_offset: Offset = 0,
        completeness: Completeness | None = None,
    ) -> None:
        """Everything below `cleaner_offset` is clean, if the topic is compacted."""
        assert segments and log_start_offset <= log_end_offset, (log_start_offset, log_end_offset)
        self.partition = partition
        self.topic_id = topic_id
        self.segments = list(segments)
        self._segment_bases: tuple[Offset, ...] = ()  # of `segments`, once somebody asked for it
        self._sealed_sizes: tuple[int, ...] = ()
        self.deleted: deque[tuple[Offset, int]] = deque(maxlen=DELETED_MAX)  # base offset and size
        self._records_deleted = (0, 0)  # by DeleteRecords since the log was opened
        self.log_start_offset = log_start_offset
        self.log_end_offset = log_end_offset
        self.written_offset = log_end_offset
        self.high_watermark_checkpoint = high_watermark_checkpoint
        self.epochs = epochs or EpochHistory()
        self.producers = producers or ProducerStates()
        self.cleaner_offset = cleaner_offset
        self.completeness = completeness or Completeness()
        self.unflushed = (
            0  # records since the last flush, counted where flush.messages or flush.ms is set
        )
        self.unflushed_since: Instant = -1

    @classmethod
    def of(cls, partition: TopicPartition, recovered: RecoveredLog) -> "Log":
        """The log of a `LogOpened`."""
        return cls(
            partition,
            recovered.topic_id,
            segments=[Segment(*each) for each in recovered.segments],
            log_start_offset=recovered.log_start_offset,
            log_end_offset=recovered.log_end_offset,
            high_watermark_checkpoint=recovered.high_watermark_checkpoint,
            epochs=EpochHistory(recovered.epochs),
            producers=ProducerStates.of(recovered.producers),
            cleaner_offset=recovered.cleaner_offset,
            completeness=Completeness(recovered.complete_from, recovered.markers_from),
        )

    @property
    def size(self) -> int:
        """Bytes of record batches in the log."""
        return sum(segment.size for segment in self.segments)

    @property
    def segment_bases(self) -> tuple[Offset, ...]:
        """The base offsets of its segments; asked for with each chunk of a link."""
        if not self._segment_bases:
            self._segment_bases = tuple(segment.base_offset for segment in self.segments)
            self._sealed_sizes = tuple(segment.size for segment in self.segments[:-1])
        return self._segment_bases

    @property
    def segment_sizes(self) -> tuple[int, ...]:
        """Bytes of record batches in each of its segments."""
        return (*self._sealed_sizes, self.segments[-1].size) if self.segment_bases else ()

    def bytes_between(self, base_offset: Offset, next_offset: Offset) -> int:
        """Of whole segments, also of some that were deleted; -1 where one is unknown, or none begins there."""
        known = [*self.deleted, *((one.base_offset, one.size) for one in self.segments)]
        within = [one for one in known if base_offset <= one[0] < next_offset]
        ends = {self.log_end_offset, *(base for base, _ in known)}
        if not within or within[0][0] != base_offset or next_offset not in ends:
            return -1
        return sum(size for _, size in within)

    @property
    def is_empty(self) -> bool:
        return self.size == 0 and self.log_start_offset == self.log_end_offset

    def append(
        self,
        headers: Sequence[BatchHeader],
        buffers: Buffers,
        now: Instant,
        *,
        config: LogConfig,
        sync: bool,
        behind: bool = False,
        roll_first: bool | None = None,
        complete_from: Offset = -1,
    ) -> list[StorageEffect]:
        """Append stamped batches (`headers` with final offsets, `buffers` their bytes); add their epochs and producers.

        Offsets may have gaps (a mirror's source has some) but never decrease. `roll_first` None rolls as configured; a
        mirror passes True or False, so that its segments have its source's base offsets. `complete_from` is that of the
        log that they were copied from, where it is known.
        """
        size = sum(map(len, buffers))
        effects: list[StorageEffect] = []
        last = headers[-1]
        if self._rolls(last.next_offset, size, now, config, roll_first):
            effects.append(self._roll(headers[0].base_offset, config.index_interval_bytes))
        if last.leader_epoch > self.epochs.latest:
            self._assign_epochs(headers)
            effects.append(SaveEpochs(self.partition, self.epochs.entries))
        end, gap, max_timestamp = self.log_end_offset, -1, -1
        for header in headers:
            assert header.base_offset >= end, (header, end)
            was_cleaned = is_cleaned(header, end)
            end = header.next_offset
            if was_cleaned:
                gap = end
            max_timestamp = max(max_timestamp, header.max_timestamp)
            if header.producer_id != NO_PRODUCER:
                self.producers.update(header, now)
        self.log_end_offset = end
        self.segments[-1].grow(size, max_timestamp, now)
        self.segments[-1].count_index(headers, config.index_interval_bytes)
        if gap >= 0:
            self.completeness.gap(gap, complete_from)
            effects.append(NoteGap(self.partition, gap, complete_from))
        effects.append(Append(self.partition, tuple(headers), buffers, sync, behind))
        return effects

    def syncs(self, config: LogConfig, records: int, now: Instant) -> bool:
        """Whether an append of so many records is to be synced before it is acknowledged (`flush.messages`)."""
        if not config.counts_unflushed:
            return False
        if self.unflushed + records >= config.flush_messages:
            self.unflushed, self.unflushed_since = 0, -1
            return True
        self.unflushed += records
        self.unflushed_since = now if self.unflushed_since < 0 else self.unflushed_since
        return False

    def flush(self, config: LogConfig, now: Instant) -> list[StorageEffect]:
        """Sync what was appended `flush.ms` ago or before."""
        if self.unflushed_since < 0 or now - self.unflushed_since < config.flush_ms:
            return []
        self.unflushed, self.unflushed_since = 0, -1
        return [FlushLog(self.partition)]

    def on_written(self, next_offset: Offset) -> None:
        """Everything below `next_offset` is written (`Written`)."""
        if next_offset > self.written_offset:
            self.written_offset = next_offset

    def on_sealed(self, base_offset: Offset, size: int) -> None:
        """A sealed segment and its digest are synced (`SegmentSealed`)."""
        for segment in self.segments[:-1]:
            if (segment.base_offset, segment.size) == (base_offset, size):
                segment.is_sealed = True

    def on_cleaned(
        self, base_offset: Offset, next_offset: Offset, size: int, max_timestamp: Instant
    ) -> None:
        """A cleaned segment has replaced those that begin in [base_offset, next_offset) (`SegmentsCleaned`)."""
        sealed = self.segments[:-1]
        replaced = [each for each in sealed if base_offset <= each.base_offset < next_offset]
        if replaced:  # else the log start has passed them meanwhile
            cleaned = Segment(base_offset, size, replaced[-1].created_at, max_timestamp)
            first = self.segments.index(replaced[0])
            self.segments[first : first + len(replaced)] = [cleaned]
            self._segment_bases = ()

    def begin_epoch(self, leader_epoch: LeaderEpoch) -> list[StorageEffect]:
        """Begin a leader epoch at the log end, even without data: followers' divergence is found by it."""
        if not self.epochs.assign(leader_epoch, self.log_end_offset):
            return []
        return [SaveEpochs(self.partition, self.epochs.entries)]

    def retention(self, now: Instant, config: LogConfig, high_watermark: Offset) -> Offset | None:
        """The log start offset after retention by time and size, for `trim`; None if nothing expires.

        Only whole segments below the high watermark expire, the oldest first, the active one too.
        """
        if not config.delete_expired:
            return None
        expired = self.log_start_offset
        excess = self.size - config.retention_bytes
        for index, segment in enumerate(self.segments):
            is_active = index + 1 == len(self.segments)
            end = self.log_end_offset if is_active else self.segments[index + 1].base_offset
            too_old = 0 <= config.retention_ms < now - segment.newest
            too_much = config.retention_bytes >= 0 and excess >= segment.size
            if segment.size == 0 or end > high_watermark or not (too_old or too_much):
                break
            excess -= segment.size
            expired = end
        return expired if expired > self.log_start_offset else None

    def trim(self, log_start_offset: Offset) -> list[StorageEffect]:
        """Advance the log start offset; delete whole segments below it.

        A log that is trimmed to its end starts a new segment, so that the old one is deleted.
        """
        assert log_start_offset <= self.log_end_offset, (log_start_offset, self.log_end_offset)
        if log_start_offset <= self.log_start_offset:
            return []
        effects: list[StorageEffect] = []
        if log_start_offset == self.log_end_offset and self.segments[-1].size > 0:
            effects.append(self._roll(self.log_end_offset))
        return effects + self._start_at(log_start_offset)

    def delete_records(self, offset: Offset) -> list[StorageEffect]:
        """Advance the log start offset as a client asked (DeleteRecords)."""
        before, (start, end) = self.log_start_offset, self._records_deleted
        effects = self.trim(offset)
        if effects:
            self._records_deleted = (start if before == end else before, offset)
        return effects

    def records_were_deleted(self, base: Offset, log_start_offset: Offset) -> bool:
        """Whether DeleteRecords has deleted all between these offsets, since the log was opened and on this node."""
        start, end = self._records_deleted
        return start <= base < log_start_offset == end

    def restart_at(self, offset: Offset) -> list[StorageEffect]:
        """Delete everything and continue at `offset`: the source lost a range, or the leader's log starts there.

        `offset` is at or above the log end, or any while the log is empty.
        """
        is_empty = self.log_start_offset == self.log_end_offset
        assert offset >= self.log_end_offset or is_empty, (offset, self.log_end_offset)
        if offset == self.log_end_offset:
            return self.trim(offset)
        roll = self._roll(offset)
        is_later_known = self.epochs.drop_from(offset) if offset < self.log_end_offset else False
        self.log_end_offset = self.written_offset = offset
        effects = [roll, *self._start_at(offset)]
        return (
            [*effects, SaveEpochs(self.partition, self.epochs.entries)]
            if is_later_known
            else effects
        )

    def step_back(self, offset: Offset) -> list[StorageEffect]:
        """Begin an empty log's segment at `offset`, below the log start offset, which lies inside the next batch, as
        after a DeleteRecords to the middle of a batch (KIP-107)."""
        assert self.is_empty and offset < self.log_end_offset, (offset, self.log_end_offset)
        roll = self._roll(offset)
        self.log_end_offset = offset
        return [roll, *self._start_at(self.log_start_offset)]

    def truncate(self, offset: Offset) -> list[StorageEffect]:
        """Remove the batches from `offset` on: this log is then invalid, and `LogOpened` brings the remaining one.

        At or above the log end only an epoch without data is removed: the leader of a later epoch may not know it, and
        this log would diverge from its log for ever. A log that lacks what the removed batches had replaced is removed
        as a whole, and begins anew where it began; or at `offset`, if it began above that, as Kafka's does. So is one
        that is cut at its start, with the deleted records below, where the next batch may begin.
        """
        if offset < self.log_end_offset:
            below_start = self.segments[0].base_offset < offset == self.log_start_offset
            complete_from = max(self.log_start_offset, self.completeness.complete_from)
            begins_anew = below_start or offset < complete_from
            kept = max(0, min(offset, self.log_start_offset)) if begins_anew else offset
            return [self.cut(kept, begins_anew=begins_anew)]
        if self.epochs.drop_from(self.log_end_offset):
            return [SaveEpochs(self.partition, self.epochs.entries)]
        return []

    def cut(self, offset: Offset, *, begins_anew: bool = False) -> TruncateLog:
        """Remove the batches that hold `offset` or lie above it."""
        return TruncateLog(self.partition, offset, self.epochs.entries, begins_anew)

    def snapshot(self) -> bytes:
        """The content of a `.snapshot` file at the log end."""
        return encode_snapshot(self.producers)

    def on_stop(self) -> list[StorageEffect]:
        """What a clean shutdown writes."""
        return [KeepProducers(self.partition, self.log_end_offset, self.snapshot())]

    def _rolls(
        self,
        next_offset: Offset,
        size: int,
        now: Instant,
        config: LogConfig,
        roll_first: bool | None,
    ) -> bool:
        """Whether `size` more bytes, up to `next_offset`, need a new segment."""
        active = self.segments[-1]
        if next_offset - active.base_offset > INT32_MAX:
            return True  # also an empty segment needs a new base offset
        if active.size == 0:
            return False
        size += active.size
        if size > INT32_MAX:
            return True
        if roll_first is not None:
            return roll_first
        if (active.index_entries + 2) * TIME_ENTRY_BYTES > config.segment_index_bytes:
            return True  # the larger of the two indexes is full
        return size > config.segment_bytes or now - active.created_at > self._segment_ms(config)

    def _segment_ms(self, config: LogConfig) -> int:
        """`segment.ms` less this segment's jitter: it differs from log to log and from segment to segment."""
        at_most = min(config.segment_jitter_ms, config.roll_ms)
        if at_most == 0:
            return config.roll_ms
        seed = f"{self.topic_id.hex()} {self.partition} {self.segments[-1].base_offset}"
        return config.roll_ms - crc32(seed.encode()) % at_most

    def _roll(self, base_offset: Offset, interval: int | None = None) -> StorageEffect:
        self.segments.append(Segment(base_offset))
        self._segment_bases = ()
        return Roll(self.partition, base_offset, self.snapshot(), interval)

    def _start_at(self, offset: Offset) -> list[StorageEffect]:
        self.log_start_offset = offset
        while len(self.segments) > 1 and self.segments[1].base_offset <= offset:
            segment = self.segments.pop(0)
            self._segment_bases = ()
            self.deleted.append((segment.base_offset, segment.size))
        effects: list[StorageEffect] = [TrimLog(self.partition, offset)]
        if self.epochs.truncate_from_start(offset):
            effects.append(SaveEpochs(self.partition, self.epochs.entries))
        return effects

    def _assign_epochs(self, headers: Sequence[BatchHeader]) -> None:
        for header in headers:
            self.epochs.assign(header.leader_epoch, max(header.base_offset, self.log_start_offset))
