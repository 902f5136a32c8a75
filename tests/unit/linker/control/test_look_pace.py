"""How often the link coordinator looks at mirrors that something is pending for."""

import pytest

from linker.control.look_pace import LOOKS_PER_MS, PARTITIONS_A_LOOK, WINDOW_MS, LookPace

SHORTEST_MS = 20


def looked(pace: LookPace, count: int, now: int, partitions: int = 1) -> None:
    for number in range(count):
        pace.looked(f"topic-{number}", partitions, now)


@pytest.mark.parametrize("count", [0, 1, SHORTEST_MS * LOOKS_PER_MS])
def test_few_mirrors_are_looked_at_as_often_as_asked(count: int) -> None:
    pace = LookPace()
    looked(pace, count, 1_000)
    assert pace.pause(SHORTEST_MS) == SHORTEST_MS


def test_many_mirrors_are_looked_at_so_many_times_a_millisecond_all_in_all() -> None:
    pace = LookPace()
    looked(pace, 1_000, 1_000)
    assert pace.pause(SHORTEST_MS) == 1_000 // LOOKS_PER_MS


def test_a_mirror_that_is_looked_at_twice_counts_once() -> None:
    pace = LookPace()
    looked(pace, 1_000, 1_000)
    looked(pace, 1_000, 1_000 + WINDOW_MS - 1)
    assert pace.pause(SHORTEST_MS) == 1_000 // LOOKS_PER_MS


def test_the_many_of_a_moment_ago_count_until_a_window_has_passed_without_them() -> None:
    pace = LookPace()
    looked(pace, 1_000, 1_000)
    looked(pace, 1, 1_000 + WINDOW_MS)
    assert pace.pause(SHORTEST_MS) == 1_000 // LOOKS_PER_MS
    looked(pace, 1, 1_000 + 2 * WINDOW_MS)
    assert pace.pause(SHORTEST_MS) == SHORTEST_MS


def test_after_a_long_rest_nothing_counts() -> None:
    pace = LookPace()
    looked(pace, 1_000, 1_000)
    looked(pace, 1, 1_000 + 10 * WINDOW_MS)
    assert pace.pause(SHORTEST_MS) == SHORTEST_MS


def test_mirrors_of_many_partitions_are_looked_at_less_often() -> None:
    pace = LookPace()
    looked(pace, 1_000, 1_000, partitions=1 + 3 * PARTITIONS_A_LOOK)
    assert pace.pause(SHORTEST_MS) == 4 * 1_000 // LOOKS_PER_MS
