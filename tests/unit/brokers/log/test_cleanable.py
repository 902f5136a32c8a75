"""What of a log may be cleaned, and when it is due."""

from dataclasses import replace

import pytest

from brokers.compaction import LastBatch
from brokers.ids import TopicPartition
from brokers.log.cleanable import LogToClean, last_batches, log_to_clean
from brokers.log.config import LogConfig
from brokers.log.log import Log
from brokers.log.producers import ProducerStates
from brokers.log.segments import Segment
from brokers.records.batch import parse_header
from tests.unit.brokers.storage.driver import NOW, batch_at

CONFIG = LogConfig(compact=True)


def log(*, cleaner_offset: int = 0, start: int = 0, sealed: int = 3, newest: int = NOW) -> Log:
    """Three sealed segments of ten offsets and 100 bytes each, and an active one."""
    segments = [
        Segment(base, 100, newest - 30 + base, newest - 30 + base, base < 10 * sealed)
        for base in (0, 10, 20, 30)
    ]
    return Log(
        TopicPartition("t", 0), bytes(16), segments=segments, log_start_offset=start,
        log_end_offset=35, cleaner_offset=cleaner_offset,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "config", "stable", "expected"),
    [
        (log(), CONFIG, 35, LogToClean(0, 30, 0, 300, 0)),
        (log(cleaner_offset=10), CONFIG, 35, LogToClean(10, 30, 100, 200, 0)),
        # The last cleaning ended within a segment.
        (log(cleaner_offset=15), CONFIG, 35, LogToClean(15, 30, 100, 200, 0)),
        (log(cleaner_offset=29), CONFIG, 35, LogToClean(29, 30, 200, 100, 0)),
        (log(cleaner_offset=10), CONFIG, 25, LogToClean(10, 20, 100, 100, 0)),
        (log(cleaner_offset=30), CONFIG, 35, LogToClean(30, 30, 300, 0, 0)),
        # The checkpoint of a log that begins later, or ends earlier, is of another log.
        (log(cleaner_offset=5, start=10), CONFIG, 35, LogToClean(10, 30, 100, 200, 0)),
        (log(cleaner_offset=99), CONFIG, 35, LogToClean(0, 30, 0, 300, 0)),
        # Not all is on the disk.
        (log(sealed=1), CONFIG, 35, LogToClean(0, 10, 0, 100, 0)),
        # What was cleaned need not be sealed again.
        (log(sealed=0, cleaner_offset=10), CONFIG, 35, LogToClean(10, 10, 100, 0, 0)),
        (log(), replace(CONFIG, min_compaction_lag_ms=15), 35, LogToClean(0, 20, 0, 200, 0)),
        (log(), replace(CONFIG, max_compaction_lag_ms=12), 35, LogToClean(0, 30, 0, 300, 18)),
        (
            log(cleaner_offset=20),
            replace(CONFIG, max_compaction_lag_ms=12),
            35,
            LogToClean(20, 30, 200, 100, 0),
        ),
    ],
)
def test_what_may_be_cleaned(
    made: Log, config: LogConfig, stable: int, expected: LogToClean
) -> None:
    assert log_to_clean(made, config, stable, NOW) == expected


@pytest.mark.parametrize(
    ("found", "is_due"),
    [
        (LogToClean(0, 1, 100, 100, 0), False),  # not above the ratio
        (LogToClean(0, 1, 99, 101, 0), True),
        (LogToClean(0, 1, 9_999, 1, 1), True),  # a record has waited too long
        (LogToClean(0, 1, 9_999, 0, 1), False),  # but nothing of it can be cleaned
        (LogToClean(0, 1, 0, 0, 0), False),
    ],
)
def test_when_a_log_is_due(found: LogToClean, is_due: bool) -> None:
    assert found.is_due(CONFIG) is is_due


@pytest.mark.parametrize(
    ("found", "ratio", "expected"),
    [
        (LogToClean(0, 1, 76, 24, 0), 0.5, False),
        (LogToClean(0, 1, 75, 25, 0), 0.5, True),
        (LogToClean(0, 1, 0, 100, 0), 1.0, True),  # which no log is above
        (LogToClean(0, 1, 100, 0, 0), 0.0, False),  # nothing is dirty
    ],
)
def test_when_a_log_may_soon_be_due(found: LogToClean, ratio: float, expected: bool) -> None:
    config = replace(CONFIG, min_cleanable_dirty_ratio=ratio)
    assert found.may_soon_be_due(config) is expected


def test_a_segment_is_rolled_before_a_record_waits_too_long() -> None:
    config = LogConfig(segment_ms=1_000, max_compaction_lag_ms=50)
    assert config.roll_ms == 1_000
    assert replace(config, compact=True).roll_ms == 50


def test_the_last_batch_of_each_producer_with_and_without_data() -> None:
    states = ProducerStates()
    for offset, sequence in ((0, 0), (5, 2)):
        header = parse_header(
            batch_at(offset, 2, producer_id=7, producer_epoch=1, base_sequence=sequence)
        )
        states.update(header, NOW)
    marker = batch_at(9, producer_id=8, producer_epoch=4, is_control=True)
    states.update(parse_header(marker), NOW)
    assert last_batches(states) == (LastBatch(7, 6, 1), LastBatch(8, -1, 4))


def test_cleaned_segments_replace_those_that_are_still_there() -> None:
    made = log()
    made.on_cleaned(0, 20, 70, NOW)
    assert [(each.base_offset, each.size) for each in made.segments] == [
        (0, 70),
        (20, 100),
        (30, 100),
    ]
    made = log()
    del made.segments[0]  # the log start has passed it meanwhile
    made.on_cleaned(0, 20, 70, NOW)
    assert [each.base_offset for each in made.segments] == [0, 20, 30]
    made = log()
    del made.segments[:2]
    made.on_cleaned(0, 20, 70, NOW)
    assert [each.base_offset for each in made.segments] == [20, 30]
