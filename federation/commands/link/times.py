"""Instants as people read them."""

from datetime import UTC, datetime


def instant(milliseconds: int) -> str:
    """ISO 8601 in UTC, of milliseconds since 1970."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
