"""Lag as people read it."""

from typing import Any

UNKNOWN = "unknown"
NOTHING = "-"


def lag_text(found: Any) -> str:
    """Of a mirror topic, or of all of a link."""
    return _text(found.lag, found.lag_bytes, found.lag_ms, is_bound=found.lag_is_lower_bound)


def origin_lag_text(found: Any) -> str:
    """Of a mirror topic, behind the region in which its records begin."""
    numbers = (found.origin_lag, found.origin_lag_bytes, found.origin_lag_ms)
    return _text(*numbers, is_bound=found.origin_lag_is_lower_bound)


def link_lag_cells(link: Any) -> tuple[str, str]:
    """Records and milliseconds of all of a link, for a list; "-" where nothing is mirrored here."""
    if not any(count for name, count in link.category_counts.items() if name != "NOT_APPLICABLE"):
        return NOTHING, NOTHING
    return at_least(link.lag, link.lag_is_lower_bound), at_least(link.lag_ms, False)


def mirror_lag_cells(mirror: Any) -> tuple[str, str]:
    """The most records and milliseconds of a partition, for a list; "-" where it is STOPPED, and behind nobody."""
    if mirror.mirror_status == "STOPPED":
        return NOTHING, NOTHING
    lag = max((each.lag for each in mirror.mirror_lags), default=-1)
    is_bound = any(each.lag_is_lower_bound for each in mirror.mirror_lags)
    lag_ms = max((each.lag_ms for each in mirror.mirror_lags), default=-1)
    return at_least(lag, is_bound), at_least(lag_ms, False)


def _text(records: int, size: int, milliseconds: int, *, is_bound: bool) -> str:
    records_text, size_text = at_least(records, is_bound), at_least(size, is_bound)
    return f"{records_text} records, {size_text} bytes, {at_least(milliseconds, False)} ms"


def at_least(number: int, is_bound: bool) -> str:
    """`is_bound`: there may be more, as where nothing is heard of the source now. -1 is unknown."""
    if number < 0:
        return UNKNOWN
    return f"at least {number}" if is_bound else str(number)
