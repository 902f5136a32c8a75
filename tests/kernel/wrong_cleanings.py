"""Bugs of a cleaner, for models and simulators to find: cleanings and storages that are wrong in one point each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from brokers.ids import Buffer, TopicPartition
from brokers.ports import Files
from brokers.records.batch import BatchHeader, pack_header
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_filter import BatchFilter
from brokers.storage.cleaning.batch_rebuilding import Left
from brokers.storage.cleaning.cleaning_plan import CleaningPlan
from brokers.storage.cleaning.cleanings import Cleaning, Cleanings
from brokers.storage.cleaning.left_batches import LeftBatches, Run
from brokers.storage.cleaning.log_cleaning import LogCleaning
from brokers.storage.logs.local_log import LocalLog
from brokers.storage.segments.log_segment import LogSegment
from brokers.storage.storage import Storage


class DropsMarkersEarly(LogCleaning):
    """`delete.retention.ms` is not waited for."""

    def __init__(self, files: Files, plan: CleaningPlan) -> None:
        super().__init__(files, plan._replace(delete_retention_ms=0))


class LosesSequences(LogCleaning):
    """A batch goes with its last record, whoever wrote it."""

    def __init__(self, files: Files, plan: CleaningPlan) -> None:
        super().__init__(files, plan._replace(last_batches=()))


class MovesOffsets(LogCleaning):
    """What is left of a batch moves up by one."""

    def _left(self, chunk: BatchColumns, filtered: BatchFilter) -> LeftBatches:
        left = super()._left(chunk, filtered)
        left.__class__ = _Moved
        return left


class _Moved(LeftBatches):
    def parts(self) -> Iterator[Run | Left]:
        for part in super().parts():
            is_moved = isinstance(part, Left) and part.header.record_count
            yield _moved(part) if is_moved else part  # type: ignore[arg-type]


def _moved(left: Left) -> Left:
    header = left.header._replace(base_offset=left.header.base_offset + 1)
    return left._replace(header=header, pieces=(_packed(header), *left.pieces[1:]))


def _packed(header: BatchHeader) -> Buffer:
    """Base offsets lie outside the checksum."""
    head = bytearray(61)
    pack_header(head, header)
    return head


class CleansTheActiveSegment(Storage):
    """The segment that is appended to is cleaned with the others, whatever has come meanwhile."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.cleanings.__class__ = _OfAllSegments


class _OfAllSegments(Cleanings):
    def begin(self, partition: TopicPartition) -> Cleaning:
        self.pending[partition] = replace(self.pending[partition], bound=1 << 62)
        return super().begin(partition)

    def _sealed(self, log: LocalLog) -> Sequence[LogSegment]:
        return log.segments

    def _is_unchanged(self, *_: object) -> bool:
        return True
