"""How much memory is touched before a trial."""

import pytest

from tests.bench.memory import GIB, available, sized


@pytest.mark.parametrize(
    ("there", "room", "touched"),
    [
        (64 * GIB, 64 * GIB, 6 * GIB),
        (8 * GIB, 64 * GIB, 4 * GIB),
        (8 * GIB, GIB, GIB),
        (0, 64 * GIB, 0),
    ],
)
def test_half_of_what_is_available_is_touched_up_to_six_gigabytes(
    there: int, room: int, touched: int
) -> None:
    assert sized(there, room) == touched


def test_what_is_available_is_read_from_the_kernel() -> None:
    text = "MemTotal:       16384 kB\nMemFree:         1024 kB\nMemAvailable:    8192 kB\n"
    assert available(text) == 8192 * 1024


def test_a_kernel_that_does_not_say_has_nothing_available() -> None:
    assert available("MemTotal:       16384 kB\n") == 0
