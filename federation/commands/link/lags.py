"""Lag as people read it."""

from typing import Any

UNKNOWN = "unknown"


def lag_text(found: Any) -> str:
    """Of a mirror topic, or of all of a link."""
    return _text(found.lag, found.lag_bytes, found.lag_ms, is_bound=found.lag_is_lower_bound)


def origin_lag_text(found: Any) -> str:
    """Of a mirror topic, behind the region in which its records begin."""
    numbers = (found.origin_lag, found.origin_lag_bytes, found.origin_lag_ms)
    return _text(*numbers, is_bound=found.origin_lag_is_lower_bound)


def _text(records: int, size: int, milliseconds: int, *, is_bound: bool) -> str:
    records_text, size_text = at_least(records, is_bound), at_least(size, is_bound)
    return f"{records_text} records, {size_text} bytes, {at_least(milliseconds, False)} ms"


def at_least(number: int, is_bound: bool) -> str:
    """`is_bound`: there may be more, as where nothing is heard of the source now. -1 is unknown."""
    if number < 0:
        return UNKNOWN
    return f"at least {number}" if is_bound else str(number)
