"""The encoding of links, mirrors and holes in the region's metadata log: JSON with a format number."""

import json
from collections.abc import Mapping
from typing import Any, Final

FORMAT: Final = 1


def encode(fields: Mapping[str, Any]) -> bytes:
    """Keys sorted, so that equal values are equal bytes."""
    return json.dumps({"format": FORMAT, **fields}, sort_keys=True, separators=(",", ":")).encode()


def decode(body: bytes) -> Mapping[str, Any]:
    """Reads what `encode` wrote. Raises AssertionError for another format, which a later release has written."""
    fields = json.loads(body)
    assert isinstance(fields, dict) and fields.get("format") == FORMAT, body
    return fields


def text_map(value: Any) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()}
