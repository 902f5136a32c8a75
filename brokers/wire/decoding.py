"""Generates the Python function that decodes one message at one version.

The function is straight-line code: a run of fixed-size fields is read by one `struct.Struct`, and
with it the length in front of the next string or array. Strings are copied, records are slices of
the frame. Every length is held against the bytes that are left before it is used, every count also
against the elements that a message may have; what reads beyond the end raises struct.error or
IndexError, which `codec` turns into WireError.
"""

from collections.abc import Callable
from struct import Struct as Packing
from struct import unpack_from
from uuid import UUID

from brokers.ids import Buffer
from brokers.wire.defaults import default_expression, is_struct
from brokers.wire.layout import CODES, SIZES, Layout
from brokers.wire.message import Message
from brokers.wire.primitives import (
    TAGS_MAX,
    ZERO_UUID,
    WireError,
    open_tag,
    read_varint_rest,
    skip_tags,
)
from brokers.wire.source import SourceWriter
from brokers.wire.tables import Field, Struct

# (buffer, position, limit) -> (message, next position)
Decode = Callable[[Buffer, int, int], tuple[Message, int]]

NAMES = {
    "UUID": UUID,
    "WireError": WireError,
    "ZERO_UUID": ZERO_UUID,
    "new": object.__new__,
    "open_tag": open_tag,
    "read_varint_rest": read_varint_rest,
    "skip_tags": skip_tags,
    "unpack_from": unpack_from,
}


def compile_decoder(layout: Layout) -> Decode:
    """The decoder of one message at one version."""
    source = decoder_source(layout)
    return source.function("decode", f"decode {layout.title}")


def decoder_source(layout: Layout) -> SourceWriter:
    """The decoder's source."""
    writer = DecoderWriter(layout)
    with writer.source.block("def decode(buffer, position, limit):"):
        writer.source.line(f"elements = {layout.elements_max}")
        message = writer.struct(layout.struct(layout.schema.name))
        writer.flush()
        writer.source.line(f"return {message}, position")
    return writer.source


class DecoderWriter:
    """Collects the pending run of fixed-size values, whose read has not been generated yet."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.source = SourceWriter(NAMES)
        self._targets: list[str] = []
        self._codes: list[str] = []
        self._afterwards: list[str] = []

    def struct(self, struct: Struct) -> str:
        """Reads a struct -> the name of its variable."""
        message = self.source.fresh("m")
        cls = self.source.constant(struct.name, self.layout.python_class(struct.name))
        self.source.line(f"{message} = new({cls})")
        for field in self.layout.absent(struct) + self.layout.tagged(struct):
            self._set_default(message, field)
        for field in self.layout.inline(struct):
            self._field(f"{message}.{field.name}", field)
        if self.layout.is_flexible:
            self._tags(message, struct)
        return message

    def flush(self) -> None:
        """Reads the pending run."""
        if self._codes == ["B"]:
            self.source.line(f"{self._targets[0]} = buffer[position]")
            self.source.line("position += 1")
        elif self._codes:
            packing = Packing(">" + "".join(self._codes))
            unpack = self.source.constant("unpack", packing.unpack_from)
            comma = "," if len(self._targets) == 1 else ""
            self.source.line(f"{', '.join(self._targets)}{comma} = {unpack}(buffer, position)")
            self.source.line(f"position += {packing.size}")
        for line in self._afterwards:
            self.source.line(line)
        self._targets, self._codes, self._afterwards = [], [], []

    def _read_fixed(self, target: str, code: str) -> None:
        self._targets.append(target)
        self._codes.append(code)

    def _set_default(self, message: str, field: Field) -> None:
        default = default_expression(field)
        if default.endswith("()"):
            self.source.constant(field.type, self.layout.python_class(field.type))
        self.source.line(f"{message}.{field.name} = {default}")

    def _field(self, target: str, field: Field) -> None:
        if field.is_array:
            self._array(target, field)
        elif field.type == "uuid":
            self._read_fixed(target, CODES["uuid"])
            self._afterwards.append(f"{target} = UUID(bytes={target})")
        elif field.type in CODES:
            self._read_fixed(target, CODES[field.type])
        elif is_struct(field):
            self._nested(target, field)
        else:
            self._sized(target, field)

    def _nested(self, target: str, field: Field) -> None:
        if not self.layout.is_nullable(field):
            message = self.struct(self.layout.struct(field.type))
            self.source.line(f"{target} = {message}")
            return
        present = self.source.fresh("n")
        self._read_fixed(present, "b")
        self.flush()
        with self.source.block(f"if {present} == 1:"):
            self.source.line(f"{target} = {self.struct(self.layout.struct(field.type))}")
            self.flush()
        with self.source.block(f"elif {present} == -1:"):
            self.source.line(f"{target} = None")
        with self.source.block("else:"):
            self._refuse(field, f"neither null nor present: {{{present}}}")

    def _length(self, field: Field) -> str:
        """Reads a length or count -> the name of its variable, whose value is -1 for null."""
        length = self.source.fresh("n")
        self._read_fixed(length, self.layout.length_code(field))
        self.flush()
        if self.layout.is_flexible:
            self._rest_of_varint(length)
            self.source.line(f"{length} -= 1")
        return length

    def _rest_of_varint(self, name: str) -> None:
        with self.source.block(f"if {name} > 127:"):
            self.source.line(f"{name}, position = read_varint_rest(buffer, position, {name})")

    def _spend(self, count: str, what: str) -> None:
        """Counts `count` elements against the limit of the whole message."""
        self.source.line(f"elements -= {count}")
        with self.source.block("if elements < 0:"):
            self.source.line(f'raise WireError(f"{self.layout.title}: too long with {what}")')

    def _refuse(self, field: Field, reason: str) -> None:
        self.source.line(f'raise WireError(f"{self.layout.title}: {field.name} {reason}")')

    def _null_or_negative(self, target: str, field: Field, length: str) -> None:
        """Branches for lengths below zero; the caller's `else` follows."""
        if self.layout.is_nullable(field):
            with self.source.block(f"if {length} == -1:"):
                self.source.line(f"{target} = None")
            head = f"elif {length} < 0:"
        else:
            head = f"if {length} < 0:"
        with self.source.block(head):
            self._refuse(field, f"has length {{{length}}}")

    def _sized(self, target: str, field: Field) -> None:
        length = self._length(field)
        end = self.source.fresh("end")
        self._null_or_negative(target, field, length)
        with self.source.block("else:"):
            self.source.line(f"{end} = position + {length}")
            with self.source.block(f"if {end} > limit:"):
                self._refuse(field, f"announces {{{length}}} bytes, {{limit - position}} are left")
            self.source.line(f"{target} = {self._slice(field, end)}")
            self.source.line(f"position = {end}")

    def _slice(self, field: Field, end: str) -> str:
        piece = f"buffer[position:{end}]"
        if field.type == "string":
            return f'str({piece}, "utf-8")'
        if field.type == "records":
            return f"{piece} if type(buffer) is memoryview else memoryview(buffer)[position:{end}]"
        return f"bytes({piece})"

    def _array(self, target: str, field: Field) -> None:
        count = self._length(field)
        size = self.layout.size_min(field)
        self._null_or_negative(target, field, count)
        with self.source.block(f"elif {count} * {max(size, 1)} > limit - position:"):
            self._refuse(field, f"announces {{{count}}} elements in {{limit - position}} bytes")
        with self.source.block("else:"):
            self._spend(count, f"{field.name} of {{{count}}}")
            if field.type in CODES and field.type != "uuid":
                code = CODES[field.type]
                self.source.line(
                    f'{target} = list(unpack_from(f">{{{count}}}{code}", buffer, position))'
                )
                self.source.line(f"position += {SIZES[code]} * {count}")
            else:
                self._elements(target, field, count)

    def _elements(self, target: str, field: Field, count: str) -> None:
        items, element = self.source.fresh("items"), self.source.fresh("e")
        self.source.line(f"{items} = {target} = []")
        with self.source.block(f"for _ in range({count}):"):
            if is_struct(field):
                element = self.struct(self.layout.struct(field.type))
            else:
                self._field(element, field.element())
            self.flush()
            self.source.line(f"{items}.append({element})")

    def _tags(self, message: str, struct: Struct) -> None:
        count = self.source.fresh("tags")
        self._read_fixed(count, "B")
        self.flush()
        with self.source.block(f"if {count}:"):
            self._spend(count, f"a tag buffer of {{{count}}}")
            if self.layout.tagged(struct):
                self._known_tags(message, struct, count)
            else:
                self.source.line(f"position = skip_tags(buffer, position, {count}, limit)")

    def _tagged(self, target: str, field: Field) -> None:
        self._field(target, field)
        self.flush()
        if is_struct(field) and not field.is_array:
            # A struct of defaults is equivalent to an absent one, and need not have been written.
            default = self.source.constant("default", self.layout.python_class(field.type)())
            with self.source.block(f"if {target} == {default}:"):
                self.source.line(f"{target} = None")

    def _known_tags(self, message: str, struct: Struct, count: str) -> None:
        tag, end = self.source.fresh("tag"), self.source.fresh("end")
        with self.source.block(f"if {count} > {TAGS_MAX}:"):
            self.source.line(f'raise WireError(f"{self.layout.title}: {{{count}}} tags or more")')
        self.source.line(f"{tag} = -1")
        with self.source.block(f"for _ in range({count}):"):
            self.source.line(f"{tag}, position, {end} = open_tag(buffer, position, {tag}, limit)")
            for field in self.layout.tagged(struct):
                with self.source.block(f"if {tag} == {field.tag}:"):
                    self._tagged(f"{message}.{field.name}", field)
                    with self.source.block(f"if position != {end}:"):
                        self._refuse(field, f"ends at {{position}}, not at {{{end}}}")
            self.source.line(f"position = {end}")
