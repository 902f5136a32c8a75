"""Lag as people read it."""

from typing import Any


def lag_text(found: Any) -> str:
    """Of a mirror topic, or of all of a link."""
    records = f"{found.lag} records" if found.lag >= 0 else "unknown records"
    size = f"{found.lag_bytes} bytes" if found.lag_bytes >= 0 else "unknown bytes"
    return f"{records}, {size}, {milliseconds(found.lag_ms)}"


def milliseconds(number: int) -> str:
    """-1 is unknown."""
    return f"{number} ms" if number >= 0 else "unknown ms"
