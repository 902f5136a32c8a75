"""Parses the tables in `schema/`, whose docstring defines the language, into `Schema` values."""

import importlib.resources
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

_SCHEMA = importlib.resources.files("brokers.wire.schema")
# The files of `schema/`, without their suffix.
FAMILIES = tuple(
    sorted(
        file.name.removesuffix(".txt") for file in _SCHEMA.iterdir() if file.name.endswith(".txt")
    )
)
NEVER_FLEXIBLE = 1 << 15  # beyond every int16 version
LAST_VERSION = NEVER_FLEXIBLE - 1


class Versions(NamedTuple):
    """Versions `first` to `last`, both included."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


ALL = Versions(0, LAST_VERSION)
NO_VERSION = Versions(1, 0)


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `type` names a primitive or struct; `default` is text, None for the type's own."""

    name: str
    type: str
    is_array: bool
    versions: Versions
    nullable: Versions
    tag: int | None
    default: str | None
    ignorable: bool

    def element(self) -> "Field":
        """The field of an array's element, which is never null."""
        return replace(self, is_array=False, nullable=NO_VERSION, tag=None, default=None)


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct: one class of the generated code."""

    name: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """A message: a request or response of an API, or a record.

    `key` is the API key, or the type of a metadata record.
    """

    name: str
    family: str
    key: int | None
    versions: Versions
    first_flexible: int


@dataclass(slots=True)
class Family:
    """The messages of one file of `schema/`."""

    schemas: dict[str, Schema] = field(default_factory=dict)
    structs: dict[str, Struct] = field(default_factory=dict)


class SchemaLine(NamedTuple):
    depth: int
    words: list[str]


def read_family(name: str) -> Family:
    """The tables of `schema/<name>.txt`."""
    return parse(name, (_SCHEMA / f"{name}.txt").read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Family:
    """Parses the text of one file."""
    family, lines, api = Family(), list(_lines(text)), None
    while lines:
        line = lines.pop(0)
        match line.words:
            case ["api", key, title, versions, "flexible", flexible]:
                api = _schema(title, name, key, versions, flexible)
            case ["request" | "response" as side] if api is not None:
                schema = replace(api, name=api.name + side.capitalize())
                _add_message(family, schema, lines)
            case ["record", title, "type", key, versions, "flexible", flexible]:
                _add_message(family, _schema(title, name, key, versions, flexible), lines)
            case ["record", title, versions, "flexible", flexible]:
                _add_message(family, _schema(title, name, None, versions, flexible), lines)
            case ["struct", title]:
                _add_struct(family, title, lines, 0, ALL)
            case words:
                raise ValueError(f"{name}: cannot read {' '.join(words)!r}")
    return family


def _lines(text: str) -> Iterator[SchemaLine]:
    for line in text.splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield SchemaLine(len(line) - len(line.lstrip()), words)


def _schema(name: str, family: str, key: str | None, versions: str, flexible: str) -> Schema:
    first_flexible = NEVER_FLEXIBLE if flexible == "never" else int(flexible)
    number = None if key is None else int(key)
    return Schema(name, family, number, _versions(versions, ALL), first_flexible)


def _add_message(family: Family, schema: Schema, lines: list[SchemaLine]) -> None:
    family.schemas[schema.name] = schema
    _add_struct(family, schema.name, lines, 0, schema.versions)


def _add_struct(
    family: Family, name: str, lines: list[SchemaLine], depth: int, versions: Versions
) -> None:
    """Consumes the lines deeper than `depth` as the fields of struct `name`, and deeper ones as fields of a field."""
    if name in family.structs:
        raise ValueError(f"struct {name} is described twice")
    fields: list[Field] = []
    while lines and lines[0].depth > depth:
        line = lines.pop(0)
        fields.append(_field(line.words, versions))
        if lines and lines[0].depth > line.depth:
            _add_struct(family, fields[-1].type, lines, line.depth, fields[-1].versions)
    family.structs[name] = Struct(name, tuple(fields))


def _field(words: list[str], outer: Versions) -> Field:
    name, kind, *attributes = words
    plain, mark, nullable_from = kind.partition("?")
    versions, tag, default, ignorable = outer, None, None, False
    while attributes:
        match attributes.pop(0):
            case "tag":
                tag = int(attributes.pop(0))
            case "=":
                default = attributes.pop(0)
            case "ignorable":
                ignorable = True
            case text:
                versions = _versions(text, outer)
    nullable = _versions(nullable_from, versions) if nullable_from else versions
    return Field(
        name=name,
        type=plain.removeprefix("[]"),
        is_array=plain.startswith("[]"),
        versions=versions,
        nullable=nullable if mark else NO_VERSION,
        tag=tag,
        default=default,
        ignorable=ignorable,
    )


def _versions(text: str, outer: Versions) -> Versions:
    """`4`, `4-7` or `4+` (to the last of `outer`)."""
    if text.endswith("+"):
        return Versions(int(text[:-1]), outer.last)
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))
