"""How much `make quick` takes of a test that repeats itself; `make test` takes all of it."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

PROFILE, EXAMPLES = "quick", 20


def some(cases: Iterable[object], *, quick: int = 2) -> list[object]:
    """Parameters of a test: the first few as they are, all others marked `slow`."""
    return [
        case if number < quick else pytest.param(case, marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def examples(number: int, **others: Any) -> settings:
    """Hypothesis' settings for a test whose number of examples isn't the usual one."""
    is_quick = settings().max_examples == EXAMPLES
    return settings(max_examples=number // 5 if is_quick else number, **others)
