"""The default value of a field, as a Python expression."""

from brokers.wire.tables import Field

ZEROS = {
    "bool": "False",
    "int8": "0",
    "int16": "0",
    "int32": "0",
    "int64": "0",
    "uint16": "0",
    "float64": "0.0",
    "string": '""',
    "bytes": 'b""',
    "uuid": "ZERO_UUID",
    "records": "None",
}
WORDS = {"null": "None", "true": "True", "false": "False"}


def default_expression(field: Field) -> str:
    """For constructors, decoders and encoders; `[]` and `Struct()` create a new value each time.

    A tagged struct is None rather than a struct of defaults: the two are equal on the wire, and a Fetch response would
    otherwise create three structs for each partition.
    """
    if field.default is not None:
        return WORDS.get(field.default, field.default)
    if field.is_array:
        return "[]"
    if is_struct(field):
        return "None" if field.tag is not None else f"{field.type}()"
    return ZEROS[field.type]


def is_struct(field: Field) -> bool:
    """Whether the field, or each element of it, is a struct."""
    return field.type not in ZEROS
