"""Requests and responses inside an Envelope arrive as they were sent; nothing else arrives at all."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.default_principal_data.v0.data import DefaultPrincipalData
from kio.serial import entity_writer

from brokers.errors import KafkaError
from brokers.events import Listener, Request
from brokers.membership.envelopes import (
    disclose,
    disclose_response,
    enclose,
    enclose_response,
    principal_from_bytes,
    principal_to_bytes,
)
from brokers.security.principal import ANONYMOUS, KafkaPrincipal
from brokers.wire import codec
from brokers.wire.messages.forwarding import EnvelopeRequest, EnvelopeResponse
from brokers.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from brokers.wire.primitives import WireError

CREATE_TOPICS, ENVELOPE = 19, 58
SERVED = {CREATE_TOPICS: (2, 7)}
MESSAGE = CreateTopicsRequest(topics=[CreatableTopic(name="a", num_partitions=3)], timeout_ms=9)
TICKET = 5
REQUEST = Request(
    TICKET, CREATE_TOPICS, 7, "admin", "10.1.2.3", MESSAGE,
    Listener.CONTROLLER, KafkaPrincipal("User", "ann"),
)  # fmt: skip


def arrived(envelope: EnvelopeRequest) -> Request | EnvelopeResponse:
    """What the controller makes of it."""
    data = b"".join(codec.encode_request(ENVELOPE, 0, envelope))
    read = codec.decode_request(ENVELOPE, 0, data, 0)
    outer = Request(TICKET, ENVELOPE, 0, "broker-2", "10.9.9.9", read, Listener.CONTROLLER)
    return disclose(outer, SERVED)


@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize("client_id", [None, "", "admin"])
@pytest.mark.parametrize("host", ["", "127.0.0.1", "::1", "2001:db8::7"])
def test_a_request_arrives_with_its_version_and_its_client(
    version: int, client_id: str | None, host: str
) -> None:
    request = replace(REQUEST, api_version=version, client_id=client_id, client_host=host)
    assert arrived(enclose(request)) == request


def test_a_host_that_is_no_address_is_left_out() -> None:
    request = arrived(enclose(replace(REQUEST, client_host="unknown")))
    assert isinstance(request, Request) and request.client_host == ""


@pytest.mark.parametrize("version", range(2, 8))
def test_a_response_arrives_with_the_offset_to_wait_for(version: int) -> None:
    request = replace(REQUEST, api_version=version)
    results = [CreatableTopicResult(name="a", error_code=KafkaError.TOPIC_ALREADY_EXISTS)]
    response = CreateTopicsResponse(topics=results)
    envelope = enclose_response(request, response, 77)
    data = b"".join(map(bytes, codec.encode_response(ENVELOPE, 0, envelope)))
    read = codec.decode_response(ENVELOPE, 0, data, 0)
    assert isinstance(read, EnvelopeResponse)
    assert (read.error_code, read.metadata_offset) == (0, 77)
    assert disclose_response(request, read) == response


def test_what_another_implementation_answers_names_no_offset() -> None:
    """Kafka's controller has no such field: there is nothing to wait for."""
    plain = EnvelopeResponse(response_data=b"\0" * 4)
    data = b"".join(map(bytes, codec.encode_response(ENVELOPE, 0, plain)))
    assert data == b"\5" + b"\0" * 4 + b"\0\0" + b"\0"
    read = codec.decode_response(ENVELOPE, 0, data, 0)
    assert isinstance(read, EnvelopeResponse) and read.metadata_offset == -1


@given(st.text(max_size=200), st.text(max_size=200), st.booleans())
def test_a_principal_has_the_bytes_that_kafka_gives_it(kind: str, name: str, token: bool) -> None:
    principal = KafkaPrincipal(kind, name, token)
    data = principal_to_bytes(principal)
    buffer = io.BytesIO()
    theirs = DefaultPrincipalData(type_=kind, name=name, token_authenticated=token)
    entity_writer(DefaultPrincipalData)(buffer, theirs)
    assert data == b"\0\0" + buffer.getvalue()
    assert principal_from_bytes(data) == principal


def test_the_principal_of_a_plaintext_listener_is_anonymous() -> None:
    assert str(ANONYMOUS) == "User:ANONYMOUS"
    assert principal_to_bytes(ANONYMOUS) == b"\0\0\5User\12ANONYMOUS\0\0"


def refusal(envelope: EnvelopeRequest) -> tuple[int, int]:
    refused = arrived(envelope)
    assert isinstance(refused, EnvelopeResponse) and refused.response_data is None
    return refused.error_code, refused.highest_version


def changed(**fields: object) -> EnvelopeRequest:
    envelope = enclose(REQUEST)
    for name, field in fields.items():
        setattr(envelope, name, field)
    return envelope


@pytest.mark.parametrize("data", [None, b"", b"\0", b"\0\1\5User\2a\0\0", b"\0\0\5User", b"\0\0\0"])
def test_what_is_no_principal_is_refused(data: bytes | None) -> None:
    error, _ = refusal(changed(request_principal=data))
    assert error == KafkaError.PRINCIPAL_DESERIALIZATION_FAILURE


@pytest.mark.parametrize("address", [b"\1", b"\1" * 5, b"\1" * 17])
def test_what_is_no_address_is_refused(address: bytes) -> None:
    assert refusal(changed(client_host_address=address)) == (KafkaError.INVALID_REQUEST, -1)


def test_a_version_that_is_not_served_is_refused_with_the_highest_that_is() -> None:
    data = enclose(REQUEST).request_data
    later = data[:2] + (8).to_bytes(2, "big") + data[4:]
    assert refusal(changed(request_data=later)) == (KafkaError.UNSUPPORTED_VERSION, 7)


@pytest.mark.parametrize("key", [0, ENVELOPE, 10_000, 12_345, -1])
def test_an_api_that_is_not_for_envelopes_is_refused(key: int) -> None:
    data = enclose(REQUEST).request_data
    other = key.to_bytes(2, "big", signed=True) + b"\0\0" + data[4:]
    assert refusal(changed(request_data=other)) == (KafkaError.UNSUPPORTED_VERSION, -1)


@given(st.binary(max_size=40), st.integers(0, 60))
def test_damaged_requests_are_refused_or_read_and_nothing_worse(noise: bytes, cut: int) -> None:
    data = enclose(REQUEST).request_data
    for damaged in (noise, data[:4] + noise, data[:cut], data[:cut] + noise):
        result = arrived(EnvelopeRequest(request_data=damaged, request_principal=b""))
        assert isinstance(result, EnvelopeResponse)
        assert result.error_code in (
            KafkaError.INVALID_REQUEST,
            KafkaError.UNSUPPORTED_VERSION,
            KafkaError.PRINCIPAL_DESERIALIZATION_FAILURE,
        )


@pytest.mark.parametrize("data", [None, b"", b"\0" * 3, b"\0" * 7])
def test_what_is_no_response_is_not_read_as_one(data: bytes | None) -> None:
    with pytest.raises(WireError):
        disclose_response(REQUEST, EnvelopeResponse(response_data=data))
