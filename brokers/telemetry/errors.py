"""The error codes of a response: every `error_code` in it, at any depth (Kafka counts all of them, NONE too)."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from brokers.wire.codec import SCHEMAS
from brokers.wire.message import Message
from brokers.wire.tables import Struct, read_family

Codes: TypeAlias = Callable[[Any], Iterable[int]]


def error_codes(message: Message) -> Iterable[int]:
    kind: type = type(message)
    return _codes_of(kind)(message)


@cache
def _codes_of(kind: type) -> Codes:
    name = kind.__name__
    structs = read_family(SCHEMAS[name].family).structs
    return _finder(structs, structs[name]) or (lambda message: ())


def _finder(structs: dict[str, Struct], struct: Struct) -> Codes | None:
    """None where neither the struct nor its elements have an error code."""
    has_own = any(field.name == "error_code" for field in struct.fields)
    lists = [
        (field.name, inner)
        for field in struct.fields
        if field.is_array and field.type in structs
        if (inner := _finder(structs, structs[field.type])) is not None
    ]
    if not has_own and not lists:
        return None
    if not lists:
        return lambda value: (value.error_code,)

    def find(value: Any) -> Iterator[int]:
        if has_own:
            yield value.error_code
        for name, inner in lists:
            for element in getattr(value, name) or ():
                yield from inner(element)

    return find
