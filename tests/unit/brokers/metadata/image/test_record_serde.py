"""Metadata records in Kafka's frame."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.metadata.image.record_serde import MetadataLogError, decode, encode
from brokers.wire.messages import metadata_records as wire


def test_the_frame_is_version_type_version() -> None:
    topic = wire.TopicRecord(name="foo", topic_id=UUID(int=5))
    assert encode(topic) == b"\x01\x02\x00" + b"\x04foo" + UUID(int=5).bytes + b"\x00"
    assert encode(wire.RegisterBrokerRecord(broker_id=1))[:3] == b"\x01\x00\x03"


def test_our_own_types_lie_far_from_kafkas() -> None:
    document = wire.DocumentRecord(kind="link", name="east", version=7, body=b"\0body")
    assert encode(document)[:4] == b"\x01\xa2\x9c\x01", "20002"
    assert decode(encode(document)) == document


@given(
    st.builds(
        wire.PartitionRecord,
        partition_id=st.integers(0, 2**31 - 1),
        topic_id=st.uuids(),
        replicas=st.lists(st.integers(0, 9)),
        leader_epoch=st.integers(-1, 2**31 - 1),
    )
    | st.builds(wire.ConfigRecord, name=st.text(), value=st.none() | st.text())
    | st.builds(wire.DocumentRecord, kind=st.text(), body=st.none() | st.binary())
)
def test_a_record_survives_its_bytes(record: object) -> None:
    assert decode(encode(record)) == record  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x01",
        b"\x01\x02",
        b"\x02\x02\x00",
        b"\x01\x63\x00",
        b"\x01\x02\x09",
        b"\x01\x02\x00\x04fo",
        b"\xff" * 9,
    ],
)
def test_what_cannot_be_read_is_refused(value: bytes) -> None:
    with pytest.raises(MetadataLogError):
        decode(value)


def test_a_tagged_field_of_a_later_release_is_read_past() -> None:
    topic = wire.TopicRecord(name="foo", topic_id=UUID(int=5))
    later = encode(topic)[:-1] + b"\x01\xf4\x4e\x05\x05next"
    assert decode(later) == topic


@pytest.mark.parametrize(
    ("value", "because"),
    [
        (b"\x01\x02\x01\x04foo", "TopicRecord has no version 1"),
        (b"\x01\x63\x00", "metadata record type 99 in frame 1 is unknown"),
        (b"\x02\x02\x00", "metadata record type 2 in frame 2 is unknown"),
    ],
)
def test_a_record_of_a_later_release_is_refused_by_its_name_and_not_misread(
    value: bytes, because: str
) -> None:
    with pytest.raises(MetadataLogError, match=because):
        decode(value + UUID(int=5).bytes + b"\x00")


@given(st.binary(max_size=40))
def test_any_bytes_are_a_record_or_refused(value: bytes) -> None:
    try:
        record = decode(b"\x01\x03\x00" + value)
    except MetadataLogError:
        return
    assert isinstance(record, wire.PartitionRecord)
