"""The model is tested: each bug of a cleaner that is planted is found within a few seeds."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

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
from tests.unit.brokers.storage.cleaning.test_cleaning_model import Story, told

SEEDS = range(12)


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


def finding(**made: Callable[..., Any]) -> str:
    """What is found first, and by whom; nothing if the bug survives all seeds."""
    for seed in SEEDS:
        try:
            told(Story(random.Random(seed), **made))
        except AssertionError as error:
            return str(error) or "an assertion of the broker's"
    return ""


def test_without_a_bug_nothing_is_found() -> None:
    assert finding() == ""


@pytest.mark.parametrize(
    ("bug", "said"),
    [
        (DropsMarkersEarly, "went too early"),
        (LosesSequences, "the last sequence of a producer"),
        (MovesOffsets, "never written at these offsets"),
    ],
)
def test_a_wrong_cleaning_is_found(bug: type[LogCleaning], said: str) -> None:
    assert said in finding(make_cleaning=bug)


def test_a_cleaning_of_the_active_segment_is_found() -> None:
    assert "went too early" in finding(make_storage=CleansTheActiveSegment)
