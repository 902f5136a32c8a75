"""Decodes and encodes every message that `schema/` describes, at every version.

The function for a message and version is generated and compiled at its first use (one or two milliseconds), so only the
versions that clients use cost time.
"""

import struct
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from brokers.ids import Buffer
from brokers.wire.decoding import Decode, compile_decoder
from brokers.wire.encoding import Encode, compile_encoder
from brokers.wire.layout import Layout
from brokers.wire.message import Chunk, Message
from brokers.wire.primitives import WireError
from brokers.wire.tables import FAMILIES, Schema, read_family

_FAMILIES = {name: read_family(name) for name in FAMILIES}
# name of a message's class -> its schema
SCHEMAS: Mapping[str, Schema] = MappingProxyType(
    {name: schema for family in _FAMILIES.values() for name, schema in family.schemas.items()}
)
_REQUESTS = {
    schema.key: schema
    for name, schema in sorted(SCHEMAS.items())
    if name.endswith("Request") and schema.key is not None
}

# API key -> first and last version known to the codec
VERSIONS: Mapping[int, tuple[int, int]] = MappingProxyType(
    {
        key: (_REQUESTS[key].versions.first, _REQUESTS[key].versions.last)
        for key in sorted(_REQUESTS)
    }
)
# API key -> its name, without "Request"
API_NAMES: Mapping[int, str] = MappingProxyType(
    {key: _REQUESTS[key].name.removesuffix("Request") for key in sorted(_REQUESTS)}
)
# type of a metadata record (the number in its frame) -> name of its class, and back
METADATA_RECORDS: Mapping[int, str] = MappingProxyType(
    {
        schema.key: name
        for name, schema in _FAMILIES["metadata_records"].schemas.items()
        if schema.key is not None
    }
)
METADATA_RECORD_TYPES: Mapping[str, int] = MappingProxyType(
    {name: key for key, name in METADATA_RECORDS.items()}
)

# Raised by compiled functions for bytes that end too early, or a field's value that its type cannot hold.
_MALFORMED = (struct.error, IndexError, UnicodeDecodeError)
_UNENCODABLE = (struct.error, AttributeError, TypeError, UnicodeEncodeError)


def first_flexible(key: int) -> int:
    """The first flexible version of an API (KIP-482: compact lengths and tags); 32768 if it has none."""
    return _REQUESTS[key].first_flexible


def record_versions(name: str) -> tuple[int, int]:
    """The first and last version of a message that is no request or response, by the name of its class."""
    versions = SCHEMAS[name].versions
    return versions.first, versions.last


def decode_request(key: int, version: int, frame: Buffer, position: int) -> Message:
    """The body of a request, which begins at `position` of the frame and ends with the frame.

    Records are slices of the frame. Raises WireError, and nothing else, for invalid bytes.
    """
    # librdkafka's Metadata v9+ for all topics has three extra bytes at its end, which Kafka ignores.
    return _run_decode(_request_decoder(key, version), frame, position, is_whole=False)


def decode_response(key: int, version: int, frame: Buffer, position: int) -> Message:
    """The body of a response; as `decode_request`."""
    return _run_decode(_response_decoder(key, version), frame, position)


def encode_request(key: int, version: int, message: Message) -> list[Buffer]:
    """The body of a request in chunks, of which records are some, uncopied.

    Raises WireError for a value out of its type's range, null where there is none, and a field that
    is set and not ignorable where the version has no such field.
    """
    return _run_encode(_request_encoder(key, version), message)


def encode_response(key: int, version: int, message: Message) -> list[Chunk]:
    """The body of a response; as `encode_request`, but records may be ranges of files."""
    return _run_encode(_response_encoder(key, version), message)


def decode_record(
    record: str | type[Message], version: int, buffer: Buffer, position: int = 0
) -> Message:
    """A message of a `*_records` module, to the buffer's end; as `decode_request`."""
    name = record if isinstance(record, str) else record.__name__
    return _run_decode(_record_decoder(name, version), buffer, position)


def encode_record(message: Message, version: int) -> bytes:
    """The bytes of a message that is no request or response; as `encode_request`."""
    return b"".join(_run_encode(_record_encoder(type(message).__name__, version), message))


def _run_decode(decode: Decode, buffer: Buffer, position: int, *, is_whole: bool = True) -> Message:
    limit = len(buffer)
    try:
        message, end = decode(buffer, position, limit)
    except _MALFORMED as error:
        raise WireError(f"no legal message: {error}") from error
    if is_whole and end != limit:
        raise WireError(f"the message ends at byte {end}, the frame at {limit}")
    return message


def _run_encode(encode: Encode, message: Message) -> list[Any]:
    try:
        return encode(message)
    except _UNENCODABLE as error:
        raise WireError(f"{type(message).__name__} cannot be encoded: {error}") from error


def layout(name: str, version: int) -> Layout:
    """A message, by the name of its class, at a version. Raises WireError for an unknown one."""
    schema = SCHEMAS.get(name)
    if schema is None:
        raise WireError(f"message {name} is unknown")
    if version not in schema.versions:
        raise WireError(f"{name} has no version {version}")
    classes = import_module(f"brokers.wire.messages.{schema.family}")
    return Layout(schema, _FAMILIES[schema.family], classes, version)


@cache
def _request_decoder(key: int, version: int) -> Decode:
    return compile_decoder(layout(f"{_api_name(key)}Request", version))


@cache
def _response_decoder(key: int, version: int) -> Decode:
    return compile_decoder(layout(f"{_api_name(key)}Response", version))


@cache
def _request_encoder(key: int, version: int) -> Encode:
    return compile_encoder(layout(f"{_api_name(key)}Request", version))


@cache
def _response_encoder(key: int, version: int) -> Encode:
    return compile_encoder(layout(f"{_api_name(key)}Response", version))


@cache
def _record_decoder(name: str, version: int) -> Decode:
    return compile_decoder(layout(name, version))


@cache
def _record_encoder(name: str, version: int) -> Encode:
    return compile_encoder(layout(name, version))


def _api_name(key: int) -> str:
    if key not in API_NAMES:
        raise WireError(f"API {key} is unknown")
    return API_NAMES[key]
