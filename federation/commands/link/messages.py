"""Converts protobuf replies to the JSON of `--json`: every field by its name, numbers as numbers.

Protobuf's own JSON has 64-bit integers as text.
"""

from typing import Any

from google.protobuf.message import Message


def as_dict(message: Message) -> dict[str, Any]:
    """All fields; absent messages, and absent values of optional fields, are left out."""
    return {
        field.name: _value(getattr(message, field.name))
        for field in message.DESCRIPTOR.fields
        if field.is_repeated or not field.has_presence or message.HasField(field.name)
    }


def _value(value: Any) -> Any:
    if isinstance(value, Message):
        return as_dict(value)
    if isinstance(value, str | bool | int):
        return value
    if hasattr(value, "items"):
        return {key: _value(one) for key, one in sorted(value.items())}
    return [_value(one) for one in value]
