"""Versions, nulls, fields that a version lacks, and record bytes that nobody copies."""

import struct
from uuid import UUID

import pytest

from brokers.wire import codec
from brokers.wire.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)
from brokers.wire.messages.groups import JoinGroupRequest
from brokers.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from brokers.wire.messages.produce import (
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from brokers.wire.primitives import WireError

PRODUCE, FETCH, METADATA, JOIN_GROUP, SASL_HANDSHAKE, OFFSET_DELETE = 0, 1, 3, 11, 17, 47


def test_each_api_is_flexible_from_its_own_version_on() -> None:
    assert [codec.first_flexible(key) for key in (PRODUCE, FETCH, METADATA)] == [9, 12, 9]
    assert codec.first_flexible(SASL_HANDSHAKE) > 32_767
    assert codec.first_flexible(OFFSET_DELETE) > 32_767


def produce(records: bytes | bytearray | memoryview | None) -> ProduceRequest:
    partition = PartitionProduceData(index=3, records=records)
    topic = TopicProduceData(name="flights", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic])


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_records_of_a_request_are_a_slice_of_its_frame(
    version: int, kind: type[bytes | bytearray | memoryview]
) -> None:
    frame = bytearray(b"".join(codec.encode_request(PRODUCE, version, produce(b"abcdef"))))
    decoded = codec.decode_request(PRODUCE, version, memoryview(frame), 0)
    assert isinstance(decoded, ProduceRequest)
    records = decoded.topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    at = frame.index(b"abcdef")
    frame[at] = ord("A")
    assert bytes(records) == b"Abcdef"
    assert codec.decode_request(PRODUCE, version, kind(frame), 0) == produce(b"Abcdef")


def fetched(records: object) -> FetchResponse:
    partition = PartitionData(partition_index=1, high_watermark=9, records=records)  # type: ignore[arg-type]
    return FetchResponse(
        responses=[FetchableTopicResponse(topic="flights", partitions=[partition])]
    )


@pytest.mark.parametrize("version", [4, 11, 12])
def test_records_are_sent_uncopied_as_one_buffer_or_several(version: int) -> None:
    one, two = memoryview(b"a" * 200), bytearray(b"b" * 300)
    chunks = codec.encode_response(FETCH, version, fetched([one, two]))
    assert any(chunk is one for chunk in chunks)
    assert any(chunk is two for chunk in chunks)
    whole = b"a" * 200 + b"b" * 300
    single = codec.encode_response(FETCH, version, fetched(whole))
    assert any(chunk is whole for chunk in single)
    assert b"".join(chunks) == b"".join(single)
    decoded = codec.decode_response(FETCH, version, b"".join(chunks), 0)
    assert decoded == fetched(whole)


@pytest.mark.parametrize("nothing", [b"", [], (), [b"", b""]])
def test_no_records_are_not_null_records(nothing: object) -> None:
    encoded = b"".join(codec.encode_response(FETCH, 12, fetched(nothing)))
    assert codec.decode_response(FETCH, 12, encoded, 0) == fetched(b"")
    assert encoded != b"".join(codec.encode_response(FETCH, 12, fetched(None)))


def test_the_chunk_before_records_holds_all_that_comes_before_them() -> None:
    records = b"r" * 10
    chunks = codec.encode_request(PRODUCE, 9, produce(records))
    assert [chunk is records for chunk in chunks] == [False, True, False]


def test_a_field_that_the_version_lacks_may_be_set_only_if_it_is_ignorable() -> None:
    ignorable = JoinGroupRequest(group_id="g", rebalance_timeout_ms=5)
    assert codec.encode_request(JOIN_GROUP, 0, ignorable)
    static = JoinGroupRequest(group_id="g", group_instance_id="i")
    with pytest.raises(WireError, match="JoinGroupRequest v4 has no group_instance_id"):
        codec.encode_request(JOIN_GROUP, 4, static)
    assert codec.encode_request(JOIN_GROUP, 5, static)


def test_a_list_or_struct_that_the_version_lacks_is_refused_unless_empty() -> None:
    with pytest.raises(WireError, match="no replica_state"):
        codec.encode_request(FETCH, 14, FetchRequest(replica_state=ReplicaState(replica_id=1)))
    assert codec.encode_request(FETCH, 14, FetchRequest(replica_state=ReplicaState()))
    leader = LeaderIdAndEpoch(leader_id=1, leader_epoch=2)
    partition = PartitionProduceResponse(current_leader=leader)
    response = ProduceResponse(responses=[TopicProduceResponse(partition_responses=[partition])])
    with pytest.raises(WireError, match="no current_leader"):
        codec.encode_response(PRODUCE, 9, response)
    assert codec.encode_response(PRODUCE, 10, response)


def test_null_is_refused_where_the_version_has_none() -> None:
    assert codec.encode_request(METADATA, 1, MetadataRequest(topics=None))
    with pytest.raises(WireError, match="cannot be encoded"):
        codec.encode_request(METADATA, 0, MetadataRequest(topics=None))
    nameless = MetadataRequest(topics=[MetadataRequestTopic(topic_id=UUID(int=1), name=None)])
    assert codec.encode_request(METADATA, 12, nameless)
    with pytest.raises(WireError, match="cannot be encoded"):
        codec.encode_request(METADATA, 9, nameless)


@pytest.mark.parametrize(
    "request_",
    [
        FetchRequest(max_wait_ms=1 << 31),
        FetchRequest(max_bytes=-(1 << 31) - 1),
        FetchRequest(rack_id="\ud800"),
        FetchRequest(rack_id=7),  # type: ignore[arg-type]
        FetchRequest(topics=7),  # type: ignore[arg-type]
        FetchRequest(forgotten_topics_data=[None]),  # type: ignore[list-item]
        MetadataResponse(),
    ],
)
def test_a_value_that_has_no_bytes_is_refused(request_: FetchRequest) -> None:
    with pytest.raises(WireError):
        codec.encode_request(FETCH, 11, request_)


def test_a_string_longer_than_int16_counts_is_refused_only_in_old_versions() -> None:
    long = MetadataRequest(topics=[MetadataRequestTopic(name="t" * 40_000)])
    with pytest.raises(WireError):
        codec.encode_request(METADATA, 8, long)
    encoded = b"".join(codec.encode_request(METADATA, 9, long))
    assert codec.decode_request(METADATA, 9, encoded, 0) == long


def test_a_tagged_struct_of_defaults_is_left_out() -> None:
    plain, explicit = fetched(None), fetched(None)
    explicit.responses[0].partitions[0].diverging_epoch = EpochEndOffset()
    assert codec.encode_response(FETCH, 12, plain) == codec.encode_response(FETCH, 12, explicit)


def test_a_tagged_struct_of_defaults_reads_as_absent() -> None:
    request = b"".join(codec.encode_request(FETCH, 15, FetchRequest()))
    replica_state = b"\1\1\x0d" + b"\xff" * 12 + b"\0"
    decoded = codec.decode_request(FETCH, 15, request[:-1] + replica_state, 0)
    assert decoded == FetchRequest(replica_state=None)
    follower = replica_state.replace(b"\xff" * 4, b"\0\0\0\7", 1)
    assert codec.decode_request(FETCH, 15, request[:-1] + follower, 0) == FetchRequest(
        replica_state=ReplicaState(replica_id=7)
    )


def test_a_body_may_begin_anywhere_in_its_frame() -> None:
    body = struct.pack(">i", -1)
    decoded = codec.decode_request(METADATA, 1, b"header" + body, 6)
    assert decoded == MetadataRequest(topics=None)


@pytest.mark.parametrize(("key", "version"), [(PRODUCE, 2), (PRODUCE, 14), (4, 0), (-1, 0)])
def test_an_unknown_api_or_version_is_refused(key: int, version: int) -> None:
    for act in (codec.decode_request, codec.decode_response):
        with pytest.raises(WireError):
            act(key, version, b"", 0)
    for encode in (codec.encode_request, codec.encode_response):
        with pytest.raises(WireError):
            encode(key, version, ProduceRequest())
