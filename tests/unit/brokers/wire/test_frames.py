"""Headers and lengths, against both oracles and by hand."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.metadata.api_versions import ApiVersionsRequest as KafkaPythonApiVersions
from kio.schema.request_header.v1.header import RequestHeader as KioHeaderV1
from kio.schema.request_header.v2.header import RequestHeader as KioHeaderV2
from kio.serial import entity_reader

from brokers.wire import codec
from brokers.wire.frames import (
    LENGTH_BYTES,
    RequestHeader,
    UnsupportedVersion,
    encode_request_frame,
    encode_response_frame,
    frame_prefix,
    parse_request_header,
    parse_response_header,
    request_header,
    response_header,
)
from brokers.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from brokers.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from brokers.wire.messages.metadata_records import NoOpRecord
from brokers.wire.primitives import WireError

FETCH, METADATA, SASL_HANDSHAKE, API_VERSIONS = 1, 3, 17, 18
CLIENT_IDS = st.none() | st.text(max_size=20)


def known_versions() -> list[tuple[int, int]]:
    return [
        (key, version)
        for key, (first, last) in codec.VERSIONS.items()
        for version in range(first, last + 1)
    ]


@given(st.sampled_from(known_versions()), st.integers(-(2**31), 2**31 - 1), CLIENT_IDS)
def test_a_request_header_is_read_as_written_and_as_kio_reads_it(
    api: tuple[int, int], correlation_id: int, client_id: str | None
) -> None:
    header = RequestHeader(*api, correlation_id, client_id)
    encoded = request_header(header)
    assert parse_request_header(encoded + b"body") == (header, len(encoded))
    is_flexible = header.api_version >= codec.first_flexible(header.api_key)
    oracle: Any = KioHeaderV2 if is_flexible else KioHeaderV1
    read, size = entity_reader(oracle)(encoded, 0)
    assert size == len(encoded)
    assert (read.request_api_key, read.request_api_version) == api
    assert (read.correlation_id, read.client_id) == (correlation_id, client_id)


@pytest.mark.parametrize("version", range(5))
def test_a_whole_request_is_what_kafka_python_sends(version: int) -> None:
    theirs = KafkaPythonApiVersions(client_software_name="a", client_software_version="1")
    theirs.API_VERSION = version
    theirs.with_header(correlation_id=7, client_id="me")
    ours = encode_request_frame(
        RequestHeader(API_VERSIONS, version, 7, "me"),
        ApiVersionsRequest(client_software_name="a", client_software_version="1"),
    )
    assert b"".join(ours) == bytes(theirs.encode(header=True, framed=True))


def test_tags_of_a_flexible_header_are_skipped() -> None:
    header = RequestHeader(API_VERSIONS, 3, 1, None)
    tagged = request_header(header)[:-1] + b"\1\0\2xy"
    assert parse_request_header(tagged) == (header, len(tagged))


@pytest.mark.parametrize(
    ("key", "version"), [(0, 2), (FETCH, 3), (FETCH, 19), (4, 0), (999, 1), (-1, 0)]
)
def test_what_the_codec_does_not_know_is_told_with_its_header(key: int, version: int) -> None:
    header = struct.pack(">hhih", key, version, 42, 2) + b"me" + b"whatever follows"
    with pytest.raises(UnsupportedVersion) as caught:
        parse_request_header(header)
    assert (caught.value.key, caught.value.version) == (key, version)
    assert caught.value.header == RequestHeader(key, version, 42, "me")


def test_an_unknown_version_of_api_versions_is_told_too() -> None:
    with pytest.raises(UnsupportedVersion, match="ApiVersions") as caught:
        parse_request_header(struct.pack(">hhih", API_VERSIONS, 99, 5, -1) + b"\0\1\2")
    assert caught.value.header.correlation_id == 5


@pytest.mark.parametrize(
    "header",
    [
        b"",
        struct.pack(">hhi", METADATA, 1, 1),
        struct.pack(">hhih", METADATA, 1, 1, 3) + b"me",
        struct.pack(">hhih", METADATA, 1, 1, -2),
        struct.pack(">hhih", METADATA, 1, 1, 1) + b"\xff",
        struct.pack(">hhih", METADATA, 9, 1, -1),
        struct.pack(">hhih", METADATA, 9, 1, -1) + b"\x80",
        struct.pack(">hhih", METADATA, 9, 1, -1) + b"\1\0\5",
    ],
)
def test_an_illegal_request_header_is_refused(header: bytes) -> None:
    for frame in (header, memoryview(header)):
        with pytest.raises(WireError):
            parse_request_header(frame)


def test_a_response_header_is_flexible_when_its_api_is() -> None:
    assert response_header(METADATA, 8, 7) == b"\0\0\0\7"
    assert response_header(METADATA, 9, 7) == b"\0\0\0\7\0"
    assert response_header(SASL_HANDSHAKE, 1, 7) == b"\0\0\0\7"


@pytest.mark.parametrize("version", range(5))
def test_the_response_header_of_api_versions_is_never_flexible(version: int) -> None:
    assert response_header(API_VERSIONS, version, 7) == b"\0\0\0\7"
    assert parse_response_header(API_VERSIONS, version, b"\0\0\0\7\0\0") == (7, 4)


@given(st.sampled_from(known_versions()), st.integers(-(2**31), 2**31 - 1))
def test_a_response_header_is_read_as_written(api: tuple[int, int], correlation_id: int) -> None:
    encoded = response_header(*api, correlation_id)
    assert parse_response_header(*api, encoded + b"body") == (correlation_id, len(encoded))


@pytest.mark.parametrize("header", [b"", b"\0\0\0", b"\0\0\0\7", b"\0\0\0\7\1\0\5"])
def test_an_illegal_response_header_is_refused(header: bytes) -> None:
    with pytest.raises(WireError):
        parse_response_header(METADATA, 9, header)


def test_a_response_frame_begins_with_its_length_and_leaves_records_alone() -> None:
    records = bytes(1000)
    partition = PartitionData(records=records)
    topic = FetchableTopicResponse(topic="t", partitions=[partition])
    chunks = encode_response_frame(FETCH, 12, 9, FetchResponse(responses=[topic]))
    assert any(chunk is records for chunk in chunks)
    frame = b"".join(chunks)
    assert frame[:LENGTH_BYTES] == frame_prefix(len(frame) - LENGTH_BYTES)
    correlation_id, position = parse_response_header(FETCH, 12, frame[LENGTH_BYTES:])
    assert correlation_id == 9
    decoded = codec.decode_response(FETCH, 12, frame[LENGTH_BYTES:], position)
    assert decoded == FetchResponse(responses=[topic])


def test_a_message_without_any_bytes_has_a_frame_all_the_same() -> None:
    header = RequestHeader(API_VERSIONS, 0, 1, None)
    assert b"".join(encode_request_frame(header, ApiVersionsRequest())) == (
        b"\0\0\0\x0a" + request_header(header)
    )
    assert codec.encode_record(NoOpRecord(), 0) == b"\0"
    assert encode_response_frame(API_VERSIONS, 0, 1, ApiVersionsResponse())[0][:4] == b"\0\0\0\x0a"


def test_lengths_that_their_field_cannot_hold_are_refused() -> None:
    with pytest.raises(WireError, match="client id"):
        request_header(RequestHeader(METADATA, 1, 1, "m" * 32_768))
    with pytest.raises(WireError, match="a frame of"):
        frame_prefix(1 << 31)
