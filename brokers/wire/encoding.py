"""Generates the Python function that encodes one message at one version.

The function appends small pieces to `parts`; records go uncopied into `chunks`, the parts before
them joined to one chunk. A run of fixed-size fields is packed by one `struct.Struct`, and with it an
empty tag buffer and the length that follows.
"""

from collections.abc import Callable
from struct import Struct as Packing
from struct import pack

from brokers.wire.defaults import default_expression, is_struct
from brokers.wire.layout import CODES, Layout
from brokers.wire.message import Chunk, Message, Records
from brokers.wire.primitives import ZERO_UUID, WireError, write_unsigned_varint
from brokers.wire.source import SourceWriter
from brokers.wire.tables import Field, Struct

# message -> chunks
Encode = Callable[[Message], list[Chunk]]

NAMES: dict[str, object] = {
    "ONE_BYTE": tuple(bytes([value]) for value in range(128)),
    "WireError": WireError,
    "ZERO_UUID": ZERO_UUID,
    "pack": pack,
    "varint": write_unsigned_varint,
}


def compile_encoder(layout: Layout) -> Encode:
    """The encoder of one message at one version."""
    return encoder_source(layout).function("encode", f"encode {layout.title}")


def encoder_source(layout: Layout) -> SourceWriter:
    """The encoder's source."""
    writer = EncoderWriter(layout)
    source = writer.source
    with source.block("def encode(m):"):
        source.line("chunks = []")
        source.line("parts = []")
        source.line("write = parts.append")
        writer.struct("m", layout.struct(layout.schema.name))
        writer.flush()
        with source.block("if parts:"):
            source.line('chunks.append(b"".join(parts))')
        source.line("return chunks")
    return source


def append_records(records: Records, parts: list[bytes], chunks: list[Chunk]) -> None:
    """Ends the current chunk and adds the buffers of the records."""
    chunks.append(b"".join(parts))
    parts.clear()
    if isinstance(records, list | tuple):
        chunks.extend(records)
    else:
        chunks.append(records)


def records_size(records: Records) -> int:
    """Bytes in one buffer or file range, or in several buffers."""
    return sum(map(len, records)) if isinstance(records, list | tuple) else len(records)


class EncoderWriter:
    """Collects the pending run of fixed-size values, whose packing has not been generated yet."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.source = SourceWriter(NAMES)
        self._values: list[str] = []
        self._codes: list[str] = []

    def struct(self, message: str, struct: Struct) -> None:
        """Writes the struct in variable `message`."""
        for field in self.layout.absent(struct):
            if not field.ignorable:
                self._refuse_if_set(f"{message}.{field.name}", field)
        for field in self.layout.inline(struct):
            self._field(f"{message}.{field.name}", field)
        if self.layout.is_flexible:
            self._tags(message, struct)

    def flush(self) -> None:
        """Packs the pending run."""
        if self._codes and not self._values:
            self.source.line(f"write({bytes(len(self._codes))!r})")
        elif self._codes == ["B"]:
            self.source.line(f"write(ONE_BYTE[{self._values[0]}])")
        elif self._codes:
            packing = self.source.constant("pack", Packing(">" + "".join(self._codes)).pack)
            self.source.line(f"write({packing}({', '.join(self._values)}))")
        self._values, self._codes = [], []

    def _write_fixed(self, value: str, code: str) -> None:
        self._values.append(value)
        self._codes.append(code)

    def _differs(self, value: str, field: Field) -> str:
        """The condition under which a field's value is not its default."""
        if is_struct(field) and not field.is_array:
            cls = self.layout.python_class(field.type)
            default = self.source.constant(f"{field.type}_default", cls())
            return f"{value} is not None and {value} != {default}"
        default = default_expression(field)
        return f"{value} is not None" if default == "None" else f"{value} != {default}"

    def _refuse_if_set(self, value: str, field: Field) -> None:
        with self.source.block(f"if {self._differs(value, field)}:"):
            self.source.line(f'raise WireError("{self.layout.title} has no {field.name}")')

    def _field(self, value: str, field: Field) -> None:
        if field.is_array:
            self._array(value, field)
        elif field.type == "uuid":
            self._write_fixed(f"{value}.bytes", CODES["uuid"])
        elif field.type in CODES:
            self._write_fixed(value, CODES[field.type])
        elif is_struct(field):
            self._nested(value, field)
        else:
            self._sized(value, field)

    def _nested(self, value: str, field: Field) -> None:
        message = self.source.fresh("m")
        struct = self.layout.struct(field.type)
        self.source.line(f"{message} = {value}")
        if not self.layout.is_nullable(field):
            self.struct(message, struct)
            return
        self.flush()
        with self.source.block(f"if {message} is None:"):
            self.source.line('write(b"\\xff")')
        with self.source.block("else:"):
            self._write_fixed("1", "b")
            self.struct(message, struct)
            self.flush()

    def _length(self, length: str, field: Field) -> None:
        """Writes a length or count, together with the pending run."""
        if self.layout.is_flexible:
            self._compact_length(length)
        else:
            self._write_fixed(length, self.layout.length_code(field))
            self.flush()

    def _compact_length(self, length: str) -> None:
        """A varint of one byte in the pending run where that is enough, else the run and a longer varint."""
        values, codes = self._values, self._codes
        self._values, self._codes = [*values, f"{length} + 1"], [*codes, "B"]
        with self.source.block(f"if {length} < 127:"):
            self.flush()
        self._values, self._codes = values, codes
        with self.source.block("else:"):
            self.flush()
            self.source.line(f"write(varint({length} + 1))")

    def _null(self, value: str, field: Field) -> None:
        """The branch for null; like the caller's `else` that follows, it begins with the pending run."""
        values, codes = list(self._values), list(self._codes)
        with self.source.block(f"if {value} is None:"):
            if self.layout.is_flexible:
                self._codes.append("x")
            else:
                self._write_fixed("-1", self.layout.length_code(field))
            self.flush()
        self._values, self._codes = values, codes

    def _sized(self, value: str, field: Field) -> None:
        item = self.source.fresh("s")
        self.source.line(f"{item} = {value}")
        if self.layout.is_nullable(field):
            self._null(item, field)
            with self.source.block("else:"):
                self._sized_body(item, field)
        else:
            self._sized_body(item, field)

    def _sized_body(self, item: str, field: Field) -> None:
        length = self.source.fresh("n")
        if field.type == "string":
            self.source.line(f"{item} = {item}.encode()")
        size = "len"
        if field.type == "records":
            size = self.source.constant("records_size", records_size)
        self.source.line(f"{length} = {size}({item})")
        self._length(length, field)
        if field.type == "records":
            append = self.source.constant("append_records", append_records)
            self.source.line(f"{append}({item}, parts, chunks)")
        else:
            self.source.line(f"write({item})")

    def _array(self, value: str, field: Field) -> None:
        items = self.source.fresh("items")
        self.source.line(f"{items} = {value}")
        if self.layout.is_nullable(field):
            self._null(items, field)
            with self.source.block("else:"):
                self._array_body(items, field)
        else:
            self._array_body(items, field)

    def _array_body(self, items: str, field: Field) -> None:
        count = self.source.fresh("n")
        self.source.line(f"{count} = len({items})")
        self._length(count, field)
        if field.type in CODES and field.type != "uuid":
            self.source.line(f'write(pack(f">{{{count}}}{CODES[field.type]}", *{items}))')
            return
        element = self.source.fresh("e")
        with self.source.block(f"for {element} in {items}:"):
            if is_struct(field):
                self.struct(element, self.layout.struct(field.type))
            else:
                self._field(element, field.element())
            self.flush()

    def _tags(self, message: str, struct: Struct) -> None:
        tagged = self.layout.tagged(struct)
        if not tagged:
            self._codes.append("x")
            return
        values = {f"{message}.{field.name}": field for field in tagged}
        run, codes = self._values, self._codes
        anything = " or ".join(f"({self._differs(*item)})" for item in values.items())
        with self.source.block(f"if {anything}:"):
            self.flush()
            self._tag_buffer(values)
        self._values, self._codes = run, [*codes, "x"]
        with self.source.block("else:"):
            self.flush()

    def _tag_buffer(self, values: dict[str, Field]) -> None:
        tags, mark, body = (self.source.fresh(stem) for stem in ("tags", "mark", "body"))
        self.source.line(f"{tags} = []")
        self.source.line(f"{mark} = len(parts)")
        for value, field in values.items():
            with self.source.block(f"if {self._differs(value, field)}:"):
                self._field(value, field)
                self.flush()
                self.source.line(f'{body} = b"".join(parts[{mark}:])')
                self.source.line(f"del parts[{mark}:]")
                self.source.line(f"{tags} += varint({field.tag}), varint(len({body})), {body}")
        self.source.line(f"write(varint(len({tags}) // 3))")
        self.source.line(f"parts.extend({tags})")
