import pytest

from brokers.ids import TopicPartition
from brokers.log.log import Log
from brokers.log.retention_hold import HeldSegment, RetentionHold, held_segments, released
from brokers.log.segments import Segment
from tests.unit.brokers.storage.driver import TOPIC_ID, TP

MB = 1 << 20


def log_of(*newest: int) -> Log:
    """Segments of ten offsets and 1 MB each, whose newest records have these times; all before 40 is committed."""
    segments = [Segment(10 * index, MB, at, at) for index, at in enumerate(newest)]
    end = 10 * len(segments)
    return Log(TP, TOPIC_ID, segments=segments, log_start_offset=0, log_end_offset=end)


@pytest.mark.parametrize(
    ("hold", "kept"),
    [
        (RetentionHold(offset=-1, max_bytes=99 * MB, max_ms=10**6), [0, 10, 20]),
        (RetentionHold(offset=0, max_bytes=99 * MB, max_ms=10**6), [0, 10, 20]),
        (RetentionHold(offset=9, max_bytes=99 * MB, max_ms=10**6), [0, 10, 20]),
        (RetentionHold(offset=10, max_bytes=99 * MB, max_ms=10**6), [10, 20]),
        (RetentionHold(offset=30, max_bytes=99 * MB, max_ms=10**6), []),
        (RetentionHold(offset=0, max_bytes=2 * MB, max_ms=10**6), [10, 20]),
        (RetentionHold(offset=0, max_bytes=2 * MB - 1, max_ms=10**6), [20]),
        (RetentionHold(offset=0, max_bytes=0, max_ms=10**6), []),
        (RetentionHold(offset=0, max_bytes=99 * MB, max_ms=900), [0, 10, 20]),
        (RetentionHold(offset=0, max_bytes=99 * MB, max_ms=899), [10, 20]),
        (RetentionHold(offset=0, max_bytes=99 * MB, max_ms=0), []),
    ],
)
def test_a_hold_keeps_what_its_mirror_lacks_up_to_its_bounds(
    hold: RetentionHold, kept: list[int]
) -> None:
    held = held_segments(log_of(100, 200, 300, 400), 30, (hold,), now=1_000)
    assert [segment.base_offset for segment in held] == kept
    assert all(segment.size == MB for segment in held)


def test_of_several_mirrors_the_slowest_counts() -> None:
    fast, slow = RetentionHold(25, 99 * MB, 10**6), RetentionHold(12, 99 * MB, 10**6)
    held = held_segments(log_of(1, 2, 3, 4), 30, (fast, slow), now=10)
    assert [segment.base_offset for segment in held] == [10, 20]


def test_the_active_segment_is_held_to_the_end_of_the_log() -> None:
    held = held_segments(log_of(1, 2), 20, (RetentionHold(19, MB, 10**6),), now=10)
    assert held == [HeldSegment(10, 20, MB, 2)]


@pytest.mark.parametrize(
    ("max_bytes", "counts"),
    [(5, [0, 0]), (4, [0, 0]), (3, [1, 0]), (2, [2, 0]), (1, [2, 1]), (0, [2, 2])],
)
def test_together_they_are_bounded_and_the_oldest_go_first(
    max_bytes: int, counts: list[int]
) -> None:
    orders, views = TopicPartition("orders", 0), TopicPartition("views", 0)
    held = {
        # What lies behind a newer segment is as new as that one: a log has no gaps.
        orders: [HeldSegment(0, 1, 1, 10), HeldSegment(1, 2, 1, 5)],
        views: [HeldSegment(0, 1, 1, 20), HeldSegment(1, 2, 1, 30)],
    }
    assert released(held, max_bytes) == dict(zip((orders, views), counts, strict=True))
