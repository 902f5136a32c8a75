"""What a log lacks because of compaction, its own or that of the log that it was copied from.

Two offsets of each log say it, and checkpoints keep them over restarts:

- `complete_from`: from there on the log has every record that was written. Below, records may be missing that later
  ones below it have replaced. So a gap that ends above it is a loss; and a log that has to be cut below it must begin
  anew, as what is left would lack what the removed records had replaced. Of a copy it is what the copied log said
  (in a tag of Fetch, in a link's frames), and may be above the copy's end. A leader of an earlier release does not say
  it: where that was copied from, it is the end of the last gap.
- `markers_from`: from there on no deletion marker was removed. A copy of this log that ends below it may lack one, and
  keep for ever what was deleted by it.

Kafka knows neither: a follower that is away for longer than `delete.retention.ms` may miss a deletion marker there, and
here.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from brokers.ids import Instant, Offset
from brokers.records.batch import DELETE_HORIZON, BatchHeader


@dataclass(slots=True)
class Completeness:
    """`markers_removed_at`: when the log was opened, or a marker was last removed from it since."""

    complete_from: Offset = 0
    markers_from: Offset = 0
    markers_removed_at: Instant = -1

    def cleaned(self, complete_from: Offset, markers_from: Offset, now: Instant) -> None:
        """Segments are about to be replaced (`RecordsCompacted`)."""
        self.complete_from = max(self.complete_from, complete_from)
        if markers_from >= 0:
            self.markers_from = max(self.markers_from, markers_from)
            self.markers_removed_at = max(self.markers_removed_at + 1, now)

    def gap(self, next_offset: Offset, complete_from: Offset = -1) -> None:
        """Batches up to there were copied, and lack records. Later ones below the other log's `complete_from` have
        replaced them; -1: it has not said it."""
        self.complete_from = max(self.complete_from, next_offset, complete_from)
        self.markers_from = max(self.markers_from, next_offset)


def is_cleaned(header: BatchHeader, expected: Offset) -> bool:
    """Whether a cleaning has changed the log here: records are missing, or other bytes stand for them."""
    lacks = header.base_offset > expected or header.record_count <= header.last_offset_delta
    return lacks or header.attributes & DELETE_HORIZON != 0


def gap_end(headers: Iterable[BatchHeader], expected: Offset) -> Offset:
    """One past the last batch that a cleaning has changed, or that lies behind a gap; -1 if there is none."""
    end = -1
    for header in headers:
        if is_cleaned(header, expected):
            end = header.next_offset
        expected = header.next_offset
    return end
