"""Requests inside an Envelope (KIP-590), as bytes: what a broker puts in, and what the active controller takes out.

The enclosed request and response are what a client's connection would carry, without the length in front. The principal
is in the format of Kafka's DefaultKafkaPrincipalBuilder: an int16 version, then DefaultPrincipalData.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from struct import Struct, error

from brokers.errors import KafkaError
from brokers.events import Request
from brokers.ids import Offset
from brokers.security.principal import KafkaPrincipal
from brokers.wire.codec import (
    decode_record,
    decode_request,
    decode_response,
    encode_record,
    encode_request,
    encode_response,
)
from brokers.wire.frames import (
    RequestHeader,
    UnsupportedVersion,
    parse_request_header,
    parse_response_header,
    request_header,
    response_header,
)
from brokers.wire.message import Message
from brokers.wire.messages.forwarding import (
    DefaultPrincipalData,
    EnvelopeRequest,
    EnvelopeResponse,
)
from brokers.wire.primitives import WireError

NO_CORRELATION = 0  # an Envelope has one request, and its own correlation id
NO_VERSION = -1
_PRINCIPAL_VERSION = 0
_VERSION = Struct(">h")


def enclose(request: Request) -> EnvelopeRequest:
    """Raises WireError where the message has something that the version has no place for."""
    key, version = request.api_key, request.api_version
    header = RequestHeader(key, version, NO_CORRELATION, request.client_id)
    assert isinstance(request.message, Message)
    body = encode_request(key, version, request.message)
    return EnvelopeRequest(
        request_data=b"".join((request_header(header), *body)),
        request_principal=principal_to_bytes(request.principal),
        client_host_address=_address(request.client_host),
    )


def disclose(request: Request, served: Mapping[int, tuple[int, int]]) -> Request | EnvelopeResponse:
    """The request that an Envelope request encloses, with the ticket of that; or the response that refuses it.

    `served`: API key -> first and last version of requests that may be enclosed.
    """
    envelope = request.message
    assert isinstance(envelope, EnvelopeRequest)
    try:
        header, position = parse_request_header(envelope.request_data)
        key, version, _, client_id = header
        first, last = served.get(key, (0, NO_VERSION))
        if not first <= version <= last:
            raise UnsupportedVersion(header)
        message = decode_request(key, version, envelope.request_data, position)
    except UnsupportedVersion as unsupported:
        _, last = served.get(unsupported.key, (0, NO_VERSION))
        return EnvelopeResponse(error_code=KafkaError.UNSUPPORTED_VERSION, highest_version=last)
    except WireError:
        return EnvelopeResponse(error_code=KafkaError.INVALID_REQUEST)
    try:
        principal = principal_from_bytes(envelope.request_principal)
    except WireError:
        return EnvelopeResponse(error_code=KafkaError.PRINCIPAL_DESERIALIZATION_FAILURE)
    try:
        host = _host(envelope.client_host_address)
    except ValueError:
        return EnvelopeResponse(error_code=KafkaError.INVALID_REQUEST)
    return Request(
        request.ticket, key, version, client_id, host, message, request.listener, principal
    )


def enclose_response(
    request: Request, response: Message, metadata_offset: Offset
) -> EnvelopeResponse:
    """`metadata_offset`: the broker answers its client once its image has everything below it."""
    key, version = request.api_key, request.api_version
    body = map(bytes, encode_response(key, version, response))
    data = b"".join((response_header(key, version, NO_CORRELATION), *body))
    return EnvelopeResponse(response_data=data, metadata_offset=metadata_offset)


def disclose_response(request: Request, envelope: EnvelopeResponse) -> Message:
    """Raises WireError where there is no response to this request in it."""
    if envelope.response_data is None:
        raise WireError("an envelope without a response")
    key, version, data = request.api_key, request.api_version, envelope.response_data
    _, position = parse_response_header(key, version, data)
    return decode_response(key, version, data, position)


def principal_to_bytes(principal: KafkaPrincipal) -> bytes:
    kind, name, token_authenticated = principal
    data = DefaultPrincipalData(
        principal_type=kind, name=name, token_authenticated=token_authenticated
    )
    return _VERSION.pack(_PRINCIPAL_VERSION) + encode_record(data, _PRINCIPAL_VERSION)


def principal_from_bytes(data: bytes | None) -> KafkaPrincipal:
    """Raises WireError; Kafka has no principal but in versions that this release knows."""
    if data is None:
        raise WireError("an envelope without a principal")
    try:
        (version,) = _VERSION.unpack_from(data)
    except error as problem:
        raise WireError(f"no principal: {problem}") from problem
    read = decode_record(DefaultPrincipalData, version, data, _VERSION.size)
    assert isinstance(read, DefaultPrincipalData)
    return KafkaPrincipal(read.principal_type, read.name, read.token_authenticated)


def _address(host: str) -> bytes:
    try:
        return ip_address(host.partition("%")[0]).packed
    except ValueError:
        return b""  # a node's own request, or a client of a transport without addresses


def _host(address: bytes) -> str:
    return str(ip_address(address)) if address else ""
