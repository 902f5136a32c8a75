"""The digest of a report, which covers its predecessor's: whoever has the last one can check the whole chain."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

UNCOVERED = ("digest", "html", "json", "parquet")
"""The digest itself, and where this run put its files."""


class ChainLink(NamedTuple):
    """One report: its digest, the moment of its cut (ms since the Unix epoch), its file."""

    digest: str
    at_ms: int
    report: str


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 over the report's JSON, keys in order, without white space."""
    covered = {name: value for name, value in document.items() if name not in UNCOVERED}
    text = json.dumps(covered, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
