"""The length and the header in front of the body of a request or response.

A frame here is everything after the int32 length. Header versions follow from the API's: flexible
requests have header v2, others v1; flexible responses v1, others v0 (KIP-482). Two exceptions: the
client id keeps its old int16 length in v2, and ApiVersions answers with header v0 always (KIP-511),
since its reader does not know yet what we speak.
"""

from functools import cache
from struct import Struct, error
from typing import Any, NamedTuple

from brokers.ids import Buffer
from brokers.wire.codec import API_NAMES, VERSIONS, encode_request, encode_response, first_flexible
from brokers.wire.message import Chunk, Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.primitives import WireError, skip_tags

LENGTH_BYTES = 4

_API_VERSIONS = int(ApiKey.API_VERSIONS)
_LENGTH = Struct(">i")
_REQUEST_START = Struct(">hhih")  # key, version, correlation id, length of the client id
_CORRELATION = Struct(">i")
_START_BYTES = _REQUEST_START.size
_VERSIONS = {key: range(first, last + 1) for key, (first, last) in VERSIONS.items()}
_LAST_LENGTH = (1 << 31) - 1
_LAST_STRING = (1 << 15) - 1


class RequestHeader(NamedTuple):
    """The header of a request."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


class UnsupportedVersion(WireError):
    """A request for an API or version that the codec does not know, so that its body cannot be decoded.

    ApiVersions (key 18) is to be answered in its v0 layout with error 35 and our range (KIP-511),
    anything else by closing the connection.
    """

    def __init__(self, header: RequestHeader) -> None:
        name = API_NAMES.get(header.api_key, "unknown")
        super().__init__(f"API {header.api_key} ({name}) has no version {header.api_version}")
        self.header = header
        self.key = header.api_key
        self.version = header.api_version


def parse_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header of a request's frame, and the position of its body.

    Raises UnsupportedVersion for what VERSIONS does not list, WireError for an illegal header.
    """
    try:
        key, version, correlation_id, length = _REQUEST_START.unpack_from(frame)
        position, client_id = _client_id(frame, length)
        header = RequestHeader(key, version, correlation_id, client_id)
        if version not in _VERSIONS.get(key, ()):
            raise UnsupportedVersion(header)
        if version >= first_flexible(key):
            tags = frame[position]
            position += 1
            if tags:
                position = skip_tags(frame, position, tags, len(frame))
    except (error, IndexError, UnicodeDecodeError) as problem:
        raise WireError(f"no legal request header: {problem}") from problem
    return header, position


def _client_id(frame: Buffer, length: int) -> tuple[int, str | None]:
    """(position of the body, client id)."""
    if length == -1:
        return _START_BYTES, None
    end = _START_BYTES + length
    if length < 0 or end > len(frame):
        raise WireError(f"a client id of {length} bytes in a frame of {len(frame)}")
    return end, str(frame[_START_BYTES:end], "utf-8")


def parse_response_header(key: int, version: int, frame: Buffer) -> tuple[int, int]:
    """The correlation id of a response's frame, and the position of its body."""
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame)
        position = _CORRELATION.size
        if _has_flexible_response_header(key, version):
            position = skip_tags(frame, position + 1, frame[position], len(frame))
    except (error, IndexError) as problem:
        raise WireError(f"no legal response header: {problem}") from problem
    return correlation_id, position


def response_header(key: int, version: int, correlation_id: int) -> bytes:
    """The header of the response to a request of this API, version and correlation id."""
    return _response_header(key, version).pack(correlation_id)


@cache
def _response_header(key: int, version: int) -> Struct:
    """The bytes of a response header; a flexible version has an empty tag buffer."""
    return Struct(">ix" if _has_flexible_response_header(key, version) else ">i")


def request_header(header: RequestHeader) -> bytes:
    """The bytes of a request header."""
    client_id = b"" if header.client_id is None else header.client_id.encode()
    if len(client_id) > _LAST_STRING:
        raise WireError(f"a client id of {len(client_id)} bytes")
    length = -1 if header.client_id is None else len(client_id)
    start = _REQUEST_START.pack(header.api_key, header.api_version, header.correlation_id, length)
    is_flexible = header.api_version >= first_flexible(header.api_key)
    return start + client_id + (b"\0" if is_flexible else b"")


def frame_prefix(length: int) -> bytes:
    """The int32 in front of a frame of `length` bytes."""
    if length > _LAST_LENGTH:
        raise WireError(f"a frame of {length} bytes")
    return _LENGTH.pack(length)


def encode_request_frame(header: RequestHeader, message: Message) -> list[Buffer]:
    """A whole request to send: length, header and body, without a copy of the records."""
    body = encode_request(header.api_key, header.api_version, message)
    return _framed(request_header(header), body)


def encode_response_frame(
    key: int, version: int, correlation_id: int, message: Message
) -> list[Chunk]:
    """A whole response to send: length, header and body, without a copy or a read of the records."""
    body = encode_response(key, version, message)
    return _framed(response_header(key, version, correlation_id), body)


def _framed(header: bytes, body: list[Any]) -> list[Any]:
    """The chunks of the body; the first chunk begins with the length and the header.

    A body's first chunk is never records, so joining it copies only a few bytes.
    """
    length = len(header) + sum(map(len, body))
    first = body[0] if body else b""
    return [b"".join((frame_prefix(length), header, first)), *body[1:]]


def _has_flexible_response_header(key: int, version: int) -> bool:
    return key != _API_VERSIONS and version >= first_flexible(key)
