"""Where a reset moves an offset to."""

import pytest

from brokers.ids import TopicPartition
from federation.commands.group import strategies
from federation.commands.group.strategies import KnownOffsets, ResetError, Strategy

HERE, NEW = TopicPartition("orders", 0), TopicPartition("orders", 1)
FOUND = KnownOffsets(
    earliest={HERE: 10, NEW: 0},
    latest={HERE: 100, NEW: 7},
    committed={HERE: 50},
    at_time={HERE: 70, NEW: -1},
)


@pytest.mark.parametrize(
    ("strategy", "here", "new"),
    [
        (strategies.to_earliest(), 10, 0),
        (strategies.to_latest(), 100, 7),
        (strategies.to_current(), 50, 7),
        (strategies.to_offset(3), 10, 3),
        (strategies.to_offset(500), 100, 7),
        (strategies.to_time(1), 70, 7),
        (strategies.to_planned({HERE: 0, NEW: 5}), 10, 5),
    ],
)
def test_offsets_are_moved_within_what_the_log_has(strategy: Strategy, here: int, new: int) -> None:
    assert (strategy.target(HERE, FOUND), strategy.target(NEW, FOUND)) == (here, new)


def test_a_shift_begins_at_the_committed_offset() -> None:
    assert [strategies.shift_by(each).target(HERE, FOUND) for each in (5, -5, 99, -99)] == [
        55,
        45,
        100,
        10,
    ]
    with pytest.raises(ResetError, match="orders-1 has no committed offset"):
        strategies.shift_by(1).target(NEW, FOUND)


def test_a_committed_offset_that_the_log_lost_is_moved_to_the_nearest() -> None:
    found = FOUND._replace(committed={HERE: 3})
    assert strategies.to_current().target(HERE, found) == 10


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("PT1H", 3600), ("P1D", 86_400), ("P1DT2H3M4.5S", 93_784.5), ("-PT5M", -300), ("pt1s", 1)],
)
def test_durations_are_those_of_iso_8601(text: str, seconds: float) -> None:
    assert strategies.parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "P", "PT", "1H", "P1H", "PT1D", "P1Y"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        strategies.parse_duration(text)


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert strategies.parse_time("1970-01-01T00:00:01.500") == 1_500
    assert strategies.parse_time("1970-01-01T01:00:01+01:00") == 1_000
