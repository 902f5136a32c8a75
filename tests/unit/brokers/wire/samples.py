"""Random messages of any schema at any version, in a domain that the oracles accept too."""

from collections.abc import Sequence
from random import Random
from typing import Any
from uuid import UUID

from brokers.wire import codec
from brokers.wire.defaults import default_expression, is_struct
from brokers.wire.layout import Layout
from brokers.wire.message import Message
from brokers.wire.primitives import ZERO_UUID
from brokers.wire.tables import Field, Schema

INTEGERS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
# kio turns times into dates and durations, and error codes into an enumeration; both have bounds.
TIME_MAX = 4_000_000_000_000
ERROR_CODES = range(-1, 130)
# Lengths around the point where a varint takes another byte.
LENGTHS = (0, 0, 1, 1, 2, 3, 5, 126, 127, 128, 300)
OWN_TAGS = OWN_KEYS = 10_000
ALPHABET = "abcXYZ-._019\u00e9\u4e16\U0001f600\x00 "


def is_own(schema: Schema) -> bool:
    """Whether Kafka has no such API."""
    is_api = schema.name.endswith(("Request", "Response"))
    return is_api and schema.key is not None and schema.key >= OWN_KEYS


def all_layouts() -> list[Layout]:
    """Every message at every version."""
    return [
        codec.layout(name, version)
        for name, schema in codec.SCHEMAS.items()
        for version in range(schema.versions.first, schema.versions.last + 1)
    ]


class Sampler:
    """Makes messages at random; `lengths` are those of strings, and of arrays of primitives.

    Without `own_tags` the fields that Kafka does not have stay away.
    """

    def __init__(
        self, random: Random, lengths: Sequence[int] = LENGTHS, *, own_tags: bool = True
    ) -> None:
        self.random = random
        self.lengths = lengths
        self.own_tags = own_tags

    def message(self, layout: Layout) -> Message:
        """A message whose fields are random where the version has them, defaults elsewhere."""
        return self._struct(layout, layout.schema.name, depth=0)

    def _struct(self, layout: Layout, name: str, depth: int) -> Message:
        struct = layout.struct(name)
        values: dict[str, Any] = {}
        for field in layout.inline(struct):
            values[field.name] = self._value(layout, field, depth)
        for field in layout.tagged(struct):
            if field.tag is not None and field.tag >= OWN_TAGS and not self.own_tags:
                continue
            value = self._value(layout, field, depth)
            # A tagged struct of defaults isn't written, so it would come back as None.
            if self.random.random() < 0.5 and not (is_struct(field) and value == type(value)()):
                values[field.name] = value
        message: Message = layout.python_class(name)(**values)
        return message

    def _value(self, layout: Layout, field: Field, depth: int) -> Any:
        if layout.is_nullable(field) and self.random.random() < 0.25:
            return None
        if field.is_array:
            count = self._count(field, depth)
            return [self._value(layout, field.element(), depth + 1) for _ in range(count)]
        if is_struct(field):
            return self._struct(layout, field.type, depth + 1)
        if self.random.random() < 0.1 and field.default not in (None, "null"):
            return eval(default_expression(field))
        return self._primitive(field)

    def _count(self, field: Field, depth: int) -> int:
        if is_struct(field) or depth:
            return self.random.randrange(4 if depth < 3 else 3)
        return self.random.choice(self.lengths)

    def _primitive(self, field: Field) -> Any:
        match field.type:
            case "bool":
                return self.random.random() < 0.5
            case "string":
                return "".join(self.random.choices(ALPHABET, k=self.random.choice(self.lengths)))
            case "bytes" | "records":
                return self.random.randbytes(self.random.choice(self.lengths))
            case "uuid":
                return self.random.choice((ZERO_UUID, UUID(int=self.random.getrandbits(128))))
            case "float64":
                return self.random.uniform(-1e9, 1e9)
        return self._integer(field)

    def _integer(self, field: Field) -> int:
        first, last = INTEGERS[field.type]
        if field.name.endswith("error_code"):
            return self.random.choice(ERROR_CODES)
        if field.name.endswith("_ms") or "timestamp" in field.name:
            return self.random.randrange(min(last, TIME_MAX))
        anything = self.random.randint(first, last)
        return self.random.choice((first, last, 0, -1 if first else 1, anything))
