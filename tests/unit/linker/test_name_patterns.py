"""What an operator hears of a pattern that is none."""

import pytest

from linker.name_patterns import matching


def test_a_pattern_that_is_none_is_said_by_the_error_alone(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """RE2 writes to the process's own stderr, where an operator would take it for an accident."""
    with pytest.raises(ValueError, match="is none of RE2: missing"):
        matching("o(", ["orders"])
    assert capfd.readouterr().err == ""


def test_a_name_matches_whole() -> None:
    assert matching("o.*", ["orders", "old-orders", "no-orders"]) == ["orders", "old-orders"]
