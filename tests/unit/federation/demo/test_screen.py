"""What the demo shows while it runs."""

import io

import pytest
from rich.console import Console

from federation.demo.screen import Row, Screen


def _screen() -> tuple[Screen, Console]:
    console = Console(width=120, record=True, file=io.StringIO())
    return Screen(console), console


def test_a_step_says_what_it_is_and_that_it_is_done() -> None:
    screen, console = _screen()
    with screen.step("Two regions"):
        screen.note("west and east")
    said = console.export_text().splitlines()
    assert said[:2] == ["Two regions", "  west and east"]
    assert said[2].startswith("  done in ")


def test_a_step_that_fails_is_not_done() -> None:
    screen, console = _screen()
    with pytest.raises(ZeroDivisionError), screen.step("Two regions"):
        _ = 1 // 0
    assert "done" not in console.export_text()


@pytest.mark.parametrize(
    ("count", "filled"), [(0, 0), (1, 0), (50, 15), (99, 29), (100, 30), (120, 30)]
)
def test_a_bar_is_full_when_the_count_is(count: int, filled: int) -> None:
    screen, console = _screen()
    screen.watch(lambda: [Row("mirrored", count, 100, "lag 3 records")], lambda: True)
    bar = console.export_text(styles=True)
    assert bar.count("━") == 30
    assert f"{'━' * filled}\x1b" in bar or filled == 0
    assert "lag 3 records" in bar


def test_an_empty_total_divides_nothing() -> None:
    screen, console = _screen()
    screen.watch(lambda: [Row("mirrored", 0, 0)], lambda: True)
    assert "mirrored" in console.export_text()
