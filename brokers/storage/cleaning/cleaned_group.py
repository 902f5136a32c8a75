"""One cleaned segment in the making, and the neighbouring segments whose place it takes.

Its size is that of what is left, so whole runs of segments without a live record become one. Kafka adds up what the
segments had before; clients of librdkafka give up after a dozen answers without a record, which a dozen segments of
one kept header each would be.
"""

from typing import Final

from brokers.ports import Files
from brokers.records.batch import BatchHeader
from brokers.storage.cleaning.batch_rebuilding import emptied
from brokers.storage.cleaning.cleaned_writing import CleanedWriting
from brokers.storage.cleaning.cleaning_plan import CleanedSegment, CleaningPlan, PlannedSegment
from brokers.storage.cleaning.left_batches import LeftBatches
from brokers.storage.segments.log_segment import LogSegment

_OFFSETS_MAX: Final = 2**31 - 1  # of one segment: its indexes hold relative offsets as int32
_HEADERS_BYTES: Final = 4096  # of batches without records, by which a segment may be larger
SEGMENTS_MAX: Final = 100  # whose files the node renames in one go


class CleanedGroup:
    """`begin` a segment and `add` what is left of it, as long as there `has_room`; then `finish` or `give_up`."""

    def __init__(self, files: Files, plan: CleaningPlan, first: PlannedSegment) -> None:
        self._segment_bytes = plan.segment_bytes
        self._base_offset = first.base_offset
        segment = LogSegment(files, plan.directory, first.base_offset, plan.index_interval_bytes)
        self._writing = CleanedWriting(files, segment)
        self._segments = 0
        self._next_offset = first.base_offset
        self._records = 0
        self._is_changed = False
        self._markers_from = -1
        self._dropped: BatchHeader | None = None  # the last batch, where nothing of it is left

    @property
    def size(self) -> int:
        return self._writing.size

    def has_room(self, segment: PlannedSegment) -> bool:
        """Whether the segment may be a part of it, whatever is left of that."""
        is_near = segment.next_offset - self._base_offset <= _OFFSETS_MAX
        is_bare = self._records == 0 and self.size <= _HEADERS_BYTES
        fits = is_bare or self.size + segment.size <= self._segment_bytes
        return is_near and fits and self._segments < SEGMENTS_MAX

    def begin(self, segment: PlannedSegment) -> None:
        self._segments += 1
        self._next_offset = segment.next_offset

    def add(self, left: LeftBatches) -> None:
        """What is left of the next chunk."""
        self._is_changed = self._is_changed or left.is_changed
        self._records += left.records
        self._markers_from = max(self._markers_from, left.markers_from)
        self._dropped = None if left.keeps_last else left.chunk.header(-1)
        self._writing.add(left)

    def finish(self) -> CleanedSegment | None:
        """None where one segment stays as it is.

        The last batch is kept at least as a header: so the new segment covers the offsets of the old ones.
        """
        if self._dropped is not None:
            self._writing.add_batch(emptied(self._dropped))
        if self.size == 0 or (self._segments == 1 and not self._is_changed):
            self.give_up()
            return None
        try:
            self._writing.finish()
        except BaseException:
            self.give_up()
            raise
        return CleanedSegment(self._base_offset, self._next_offset, self.size, self._markers_from)

    def give_up(self) -> None:
        self._writing.give_up()
