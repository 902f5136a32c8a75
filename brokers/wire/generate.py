"""Writes `messages/` from `schema/`: `python -m brokers.wire.generate`."""

import re
import sys
from collections.abc import Iterator

from brokers.wire import messages
from brokers.wire.defaults import default_expression
from brokers.wire.tables import FAMILIES, Family, Field, Schema, Struct, read_family

LINE_LENGTH = 100
API_KEYS = "api_keys"
API_KEYS_HEAD = '''"""Generated from schema/ by brokers.wire.generate; do not edit."""

from enum import IntEnum


class ApiKey(IntEnum):
    """The key of each API that the tables describe, under Kafka's name (`ApiKeys`)."""
'''
PYTHON_TYPES = {
    "bool": "bool",
    "int8": "int",
    "int16": "int",
    "int32": "int",
    "int64": "int",
    "uint16": "int",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "uuid": "UUID",
    "records": "Buffer",
}


def module_text(name: str) -> str:
    """The source of `messages/<name>.py`."""
    family = read_family(name)
    classes = "\n\n\n".join(
        "\n".join(_class(struct, family.schemas.get(struct.name), message))
        for message, struct in _in_reading_order(family)
    )
    return f"{_head(name, classes)}\n\n\n{classes}\n"


def api_keys_text() -> str:
    """The source of `messages/api_keys.py`."""
    schemas = (each for name in FAMILIES for each in read_family(name).schemas.values())
    keys = {each.key: each.name for each in schemas if each.name.endswith("Request")}
    members = (
        f"    {_constant(name.removesuffix('Request'))} = {key}"
        for key, name in sorted(keys.items())
    )
    return "\n".join((API_KEYS_HEAD, *members, ""))


def _constant(name: str) -> str:
    """As Kafka derives it: `OffsetForLeaderEpoch` -> `OFFSET_FOR_LEADER_EPOCH`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def _in_reading_order(family: Family) -> Iterator[tuple[str, Struct]]:
    """Messages in the order of their file, each followed by the structs that no earlier message uses."""
    seen: dict[str, tuple[str, Struct]] = {}
    for name in family.schemas:
        _visit(family, name, name, seen)
    yield from seen.values()


def _visit(family: Family, message: str, name: str, seen: dict[str, tuple[str, Struct]]) -> None:
    if name in family.structs and name not in seen:
        seen[name] = message, family.structs[name]
        for field in family.structs[name].fields:
            _visit(family, message, field.type, seen)


def _head(name: str, classes: str) -> str:
    lines = [
        f'"""Generated from schema/{name}.txt by brokers.wire.generate; do not edit."""',
        "",
        # Kafka has fields named `id`.
        *(["# ruff: noqa: A002", ""] if " id: " in classes else []),
        "from __future__ import annotations",
        "",
    ]
    if " UUID" in classes or "[UUID]" in classes:
        lines += ["from uuid import UUID", ""]
    if " Buffer |" in classes:
        lines.append("from brokers.ids import Buffer")
    names = [
        word for word in ("EMPTY", "Message", "Records") if word in re.findall(r"\w+", classes)
    ]
    lines.append(f"from brokers.wire.message import {', '.join(names)}")
    if "ZERO_UUID" in classes:
        lines.append("from brokers.wire.primitives import ZERO_UUID")
    return "\n".join(lines)


def _class(struct: Struct, schema: Schema | None, message: str) -> Iterator[str]:
    yield f"class {struct.name}(Message):"
    if schema:
        yield f'    """{_about(schema)}"""'
        yield ""
    slots = "".join(f'"{field.name}", ' for field in struct.fields)
    one_line = f"    __slots__ = ({slots.rstrip() if len(struct.fields) == 1 else slots[:-2]})"
    if len(one_line) <= LINE_LENGTH:
        yield one_line
    else:
        yield "    __slots__ = ("
        yield from (f'        "{field.name}",' for field in struct.fields)
        yield "    )"
    if struct.fields:
        yield ""
        yield from _constructor(struct, message)


def _about(schema: Schema) -> str:
    first, last = schema.versions
    versions = f"version {first}" if first == last else f"versions {first} to {last}"
    if schema.name.endswith(("Request", "Response")):
        return f"API {schema.key}, {versions}."
    return f"{versions.capitalize()}." if schema.key is None else f"Type {schema.key}, {versions}."


def _constructor(struct: Struct, message: str) -> Iterator[str]:
    yield "    def __init__("
    yield "        self,"
    yield "        *,"
    for field in struct.fields:
        default = default_expression(field)
        shown = "EMPTY" if default.endswith(("[]", "()")) else default
        yield f"        {field.name}: {_annotation(field, message)} = {shown},"
    yield "    ) -> None:"
    for field in struct.fields:
        yield from _assignment(field.name, default_expression(field))


def _assignment(name: str, default: str) -> Iterator[str]:
    if not default.endswith(("[]", "()")):
        yield f"        self.{name} = {name}"
        return
    choice = f"{default} if {name} is EMPTY else {name}"
    line = f"        self.{name} = {choice}"
    if len(line) <= LINE_LENGTH:
        yield line
    else:
        yield from (f"        self.{name} = (", f"            {choice}", "        )")


def _annotation(field: Field, message: str) -> str:
    name = PYTHON_TYPES.get(field.type, field.type)
    if field.is_array:
        name = f"list[{name}]"
    if field.type == "records" and not message.endswith("Request"):
        name = "Records"
    can_be_none = field.nullable.first <= field.nullable.last or default_expression(field) == "None"
    return f"{name} | None" if can_be_none else name


def main() -> None:
    folder = messages.__path__[0]
    for name in FAMILIES:
        with open(f"{folder}/{name}.py", "w", encoding="utf-8") as file:
            file.write(module_text(name))
        sys.stdout.write(f"{name}\n")
    with open(f"{folder}/{API_KEYS}.py", "w", encoding="utf-8") as file:
        file.write(api_keys_text())
    sys.stdout.write(f"{API_KEYS}\n")


if __name__ == "__main__":
    main()
