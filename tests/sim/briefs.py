"""Events as a trace shows them."""

from functools import cache
from typing import Any


def brief(event: Any) -> str:
    """Type and what identifies it; no bytes, and nothing that has an address in memory."""
    kind = type(event)
    found = [f"{name}={getattr(event, name)}" for name in _identifying(kind)]
    frame = getattr(event, "frame", None)
    if frame is not None:
        found.append(type(frame).__name__)
    return f"{kind.__name__} {' '.join(found)}"


@cache
def _identifying(kind: type) -> tuple[str, ...]:
    """Which of its fields an event is known by."""
    names = ("ticket", "api_key", "partition", "stream", "next_offset", "command")
    fields = getattr(kind, "__dataclass_fields__", {})
    return tuple(name for name in names if name in fields or hasattr(kind, name))
