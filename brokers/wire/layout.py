"""The layout of a message at one version: its fields, their struct codes and their minimum sizes."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from brokers.wire.defaults import is_struct
from brokers.wire.tables import Family, Field, Schema, Struct

# struct module codes of the types whose size is fixed
CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "float64": "d",
    "uuid": "16s",
}
# An element may take 3 bytes in a frame and 150 in memory, so a frame of 100 MiB could fill the memory and block the
# event loop for half a minute. No client needs a million partitions in a request; responses come from trusted servers.
REQUEST_ELEMENTS_MAX = 1 << 20
OTHER_ELEMENTS_MAX = 1 << 24

SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "i": 4, "q": 8, "H": 2, "d": 8, "16s": 16, "x": 1}


@dataclass(frozen=True, slots=True)
class Layout:
    """A message at a version."""

    schema: Schema
    family: Family
    classes: ModuleType
    version: int

    @property
    def is_flexible(self) -> bool:
        """Compact lengths and tag buffers (KIP-482)."""
        return self.version >= self.schema.first_flexible

    @property
    def title(self) -> str:
        return f"{self.schema.name} v{self.version}"

    @property
    def elements_max(self) -> int:
        """The limit of the elements and tags of a whole message, when it is decoded."""
        is_request = self.schema.name.endswith("Request")
        return REQUEST_ELEMENTS_MAX if is_request else OTHER_ELEMENTS_MAX

    def struct(self, name: str) -> Struct:
        return self.family.structs[name]

    def python_class(self, name: str) -> type[Any]:
        found: type[Any] = getattr(self.classes, name)
        return found

    def inline(self, struct: Struct) -> list[Field]:
        """The fields outside the tag buffer, in order."""
        return [f for f in struct.fields if self.version in f.versions and f.tag is None]

    def tagged(self, struct: Struct) -> list[Field]:
        """The fields of the tag buffer, by tag."""
        tagged = [f for f in struct.fields if self.version in f.versions and f.tag is not None]
        return sorted(tagged, key=lambda field: field.tag or 0)

    def absent(self, struct: Struct) -> list[Field]:
        """The fields that this version does not have."""
        return [f for f in struct.fields if self.version not in f.versions]

    def is_nullable(self, field: Field) -> bool:
        return self.version in field.nullable

    def length_code(self, field: Field) -> str:
        """The struct code of the length or count in front of an array, string or bytes.

        In flexible versions the first byte of a varint, which is nearly always the only one.
        """
        if self.is_flexible:
            return "B"
        return "h" if field.type == "string" and not field.is_array else "i"

    def size_min(self, field: Field) -> int:
        """The minimum size in bytes of the field, alone or as an element of an array."""
        if field.type in CODES:
            return SIZES[CODES[field.type]]
        if not is_struct(field):
            return 1 if self.is_flexible else 2 if field.type == "string" else 4
        return self.struct_size_min(self.struct(field.type))

    def struct_size_min(self, struct: Struct) -> int:
        """The minimum size in bytes of a struct, with its tag buffer."""
        size = 1 if self.is_flexible else 0
        for field in self.inline(struct):
            if field.is_array:
                size += 1 if self.is_flexible else 4
            else:
                # A null struct takes one byte.
                size += 1 if is_struct(field) and self.is_nullable(field) else self.size_min(field)
        return size
