"""Random messages of any schema at any version, in a domain that the oracles accept too."""

from random import Random
from typing import Any
from uuid import UUID

from brokers.wire import codec
from brokers.wire.defaults import default_expression, is_struct
from brokers.wire.layout import Layout
from brokers.wire.message import Message
from brokers.wire.primitives import ZERO_UUID
from brokers.wire.tables import Field

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


def all_layouts() -> list[Layout]:
    """Every message at every version."""
    return [
        codec.layout(name, version)
        for name, schema in codec.SCHEMAS.items()
        for version in range(schema.versions.first, schema.versions.last + 1)
    ]


def sample(layout: Layout, random: Random) -> Message:
    """A message whose fields are random where the version has them, defaults elsewhere."""
    return _struct(layout, layout.schema.name, random, depth=0)


def _struct(layout: Layout, name: str, random: Random, depth: int) -> Message:
    struct = layout.struct(name)
    values: dict[str, Any] = {}
    for field in layout.inline(struct):
        values[field.name] = _value(layout, field, random, depth)
    for field in layout.tagged(struct):
        value = _value(layout, field, random, depth)
        # A tagged struct of defaults isn't written, so it would come back as None.
        if random.random() < 0.5 and not (is_struct(field) and value == type(value)()):
            values[field.name] = value
    message: Message = layout.python_class(name)(**values)
    return message


def _value(layout: Layout, field: Field, random: Random, depth: int) -> Any:
    if layout.is_nullable(field) and random.random() < 0.25:
        return None
    if field.is_array:
        lengths = (0, 1, 2, 3) if is_struct(field) or depth else LENGTHS
        count = random.choice(lengths) if depth < 3 else random.choice((0, 1, 2))
        return [_value(layout, field.element(), random, depth + 1) for _ in range(count)]
    if is_struct(field):
        return _struct(layout, field.type, random, depth + 1)
    if random.random() < 0.1 and field.default is not None and field.default != "null":
        return eval(default_expression(field))
    return _primitive(field, random)


def _primitive(field: Field, random: Random) -> Any:
    match field.type:
        case "bool":
            return random.random() < 0.5
        case "string":
            return _text(random)
        case "bytes" | "records":
            return random.randbytes(random.choice(LENGTHS))
        case "uuid":
            return random.choice((ZERO_UUID, UUID(int=random.getrandbits(128))))
        case "float64":
            return random.uniform(-1e9, 1e9)
    first, last = INTEGERS[field.type]
    if field.name.endswith("error_code"):
        return random.choice(ERROR_CODES)
    if field.name.endswith("_ms") or "timestamp" in field.name:
        return random.randrange(min(last, TIME_MAX))
    return random.choice((first, last, 0, -1 if first else 1, random.randint(first, last)))


def _text(random: Random) -> str:
    length = random.choice(LENGTHS)
    return "".join(random.choices("abcXYZ-._019\u00e9\u4e16\U0001f600\x00 ", k=length))
