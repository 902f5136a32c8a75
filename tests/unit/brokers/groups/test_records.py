"""Records are Kafka's, byte for byte; what others wrote is read or left alone."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.groups.records import (
    GroupImage,
    GroupMetadataRecord,
    MemberImage,
    OffsetCommitRecord,
    RecordError,
    decode,
    decode_current_value,
    encode,
    is_current_value,
    split_offset_key,
)
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.wire.codec import encode_record
from brokers.wire.messages.group_records import GroupMetadataValue

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
INT32 = st.integers(0, 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
PARTITIONS = st.builds(TopicPartition, TEXT, INT32)
OFFSETS = st.builds(OffsetAndMetadata, INT64, st.integers(-1, 2**31 - 1), TEXT, INT64)
MEMBERS = st.builds(
    MemberImage,
    id=TEXT,
    instance_id=st.none() | TEXT,
    client_id=TEXT,
    client_host=TEXT,
    rebalance_timeout_ms=INT32,
    session_timeout_ms=INT32,
    subscription=st.binary(max_size=8),
    assignment=st.binary(max_size=8),
)
IMAGES = st.builds(
    GroupImage,
    protocol_type=TEXT,
    generation=INT32,
    protocol=st.none() | TEXT,
    leader=st.none() | TEXT,
    state_timestamp=INT64,
    members=st.lists(MEMBERS, max_size=3).map(tuple),
)


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def test_an_offset_is_kafkas_key_1_and_value_3() -> None:
    record = OffsetCommitRecord("kp", TopicPartition("t1", 7), OffsetAndMetadata(25, 3, "x", 1_000))
    key, value = encode(record)
    assert key == struct.pack(">h", 1) + text("kp") + text("t1") + struct.pack(">i", 7)
    assert value == struct.pack(">hqi", 3, 25, 3) + text("x") + struct.pack(">q", 1_000)


def test_an_offset_with_an_expiry_of_its_own_is_value_1() -> None:
    record = OffsetCommitRecord("g", TopicPartition("t", 0), OffsetAndMetadata(25, 3, "", 10), 99)
    _, value = encode(record)
    assert value == struct.pack(">hq", 1, 25) + text("") + struct.pack(">qq", 10, 99)


def test_a_group_is_kafkas_key_2_and_value_3() -> None:
    member = MemberImage(
        id="m", instance_id=None, client_id="c", client_host="/h", rebalance_timeout_ms=7,
        session_timeout_ms=8, subscription=b"ab", assignment=b"",
    )  # fmt: skip
    image = GroupImage(
        protocol_type="consumer",
        generation=4,
        protocol="range",
        leader="m",
        state_timestamp=5,
        members=(member,),
    )
    key, value = encode(GroupMetadataRecord("g", image))
    assert key == struct.pack(">h", 2) + text("g")
    assert value == b"".join(
        [
            struct.pack(">h", 3)
            + text("consumer")
            + struct.pack(">i", 4)
            + text("range")
            + text("m"),
            struct.pack(">qi", 5, 1) + text("m") + struct.pack(">h", -1) + text("c") + text("/h"),
            struct.pack(">ii", 7, 8) + struct.pack(">i", 2) + b"ab" + struct.pack(">i", 0),
        ]
    )


@given(TEXT, PARTITIONS, st.none() | OFFSETS)
def test_offsets_come_back(
    group: str, partition: TopicPartition, offset: OffsetAndMetadata | None
) -> None:
    record = OffsetCommitRecord(group, partition, offset)
    assert decode(*encode(record)) == record


@given(TEXT, PARTITIONS, OFFSETS, st.integers(0, 2**63 - 1))
def test_an_expiry_comes_back_and_costs_the_leader_epoch(
    group: str, partition: TopicPartition, offset: OffsetAndMetadata, expires_at: int
) -> None:
    record = OffsetCommitRecord(group, partition, offset, expires_at)
    read = decode(*encode(record))
    assert read == OffsetCommitRecord(
        group, partition, offset._replace(leader_epoch=-1), expires_at
    )


@given(TEXT, st.none() | IMAGES)
def test_groups_come_back(group: str, image: GroupImage | None) -> None:
    record = GroupMetadataRecord(group, image)
    assert decode(*encode(record)) == record


def test_a_tombstone_has_no_value() -> None:
    assert encode(OffsetCommitRecord("g", TopicPartition("t", 0), None))[1] is None
    assert encode(GroupMetadataRecord("g", None))[1] is None


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_an_offset_is_read(version: int) -> None:
    key = struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 0)
    body = struct.pack(">q", 25)
    body += struct.pack(">i", 3) if version >= 3 else b""
    body += (b"\x02x" if version >= 4 else text("x")) + struct.pack(">q", 10)
    body += struct.pack(">q", -1) if version == 1 else b""
    body += b"\x00" if version >= 4 else b""  # no tags
    expected = OffsetAndMetadata(25, 3 if version >= 3 else -1, "x", 10)
    record = decode(key, struct.pack(">h", version) + body)
    assert record == OffsetCommitRecord("g", TopicPartition("t", 0), expected)


def test_a_group_of_version_0_has_one_timeout_for_both() -> None:
    member = text("m") + text("c") + text("/h") + struct.pack(">i", 8) + struct.pack(">ii", 0, 0)
    value = (
        text("consumer") + struct.pack(">i", 4) + text("range") + text("m") + struct.pack(">i", 1)
    )
    record = decode(struct.pack(">h", 2) + text("g"), struct.pack(">h", 0) + value + member)
    assert isinstance(record, GroupMetadataRecord)
    assert record.image is not None
    assert record.image.state_timestamp == -1
    assert record.image.members[0].rebalance_timeout_ms == 8


def test_the_oldest_key_is_an_offset_too() -> None:
    key = struct.pack(">h", 0) + text("g") + text("t") + struct.pack(">i", 0)
    assert decode(key, None) == OffsetCommitRecord("g", TopicPartition("t", 0), None)


@pytest.mark.parametrize("length", [32_767, 32_768])
def test_a_group_that_could_not_be_written_again_is_not_read(length: int) -> None:
    """Version 4 has room for longer names than the version that is written."""
    value = GroupMetadataValue(protocol_type="x" * length, current_state_timestamp=0)
    key = struct.pack(">h", 2) + text("g")
    data = struct.pack(">h", 4) + encode_record(value, 4)
    if length < 32_768:
        assert decode(key, data) is not None
        return
    with pytest.raises(RecordError):
        decode(key, data)


@pytest.mark.parametrize("kind", [3, 4, 8, 15, 23, 99, -1])
def test_records_of_other_kinds_are_not_ours(kind: int) -> None:
    assert decode(struct.pack(">h", kind) + b"whatever", b"\x00\x00") is None


@given(st.none() | st.binary(max_size=40), st.none() | st.binary(max_size=60))
def test_no_bytes_do_harm(key: bytes | None, value: bytes | None) -> None:
    with suppress(RecordError):
        record = decode(key, value)
        assert record is None or record.group is not None


@given(st.none() | IMAGES, st.data())
def test_a_record_cut_short_is_an_error(image: GroupImage | None, data: st.DataObject) -> None:
    key, value = encode(GroupMetadataRecord("group", image))
    cut = data.draw(st.integers(0, len(key) - 1))
    with pytest.raises(RecordError):
        decode(key[:cut], value)
    if value is not None:
        cut = data.draw(st.integers(0, len(value) - 1))
        with pytest.raises(RecordError):
            decode(key, value[:cut])


@pytest.mark.parametrize("version", [-1, 5, 99])
def test_values_of_a_later_kafka_are_an_error(version: int) -> None:
    key, value = encode(OffsetCommitRecord("g", TopicPartition("t", 0), OffsetAndMetadata(1)))
    assert value is not None
    with pytest.raises(RecordError, match=str(version)):
        decode(key, struct.pack(">h", version) + value[2:])


@given(TEXT, PARTITIONS, OFFSETS, st.none() | st.integers(0, 9), st.integers(0, 1))
def test_the_short_ways_to_read_an_offset_agree_with_the_long_one(
    group: str, partition: TopicPartition, offset: OffsetAndMetadata, expiry: int | None, kind: int
) -> None:
    key, value = encode(OffsetCommitRecord(group, partition, offset, expiry))
    assert value is not None
    key = struct.pack(">h", kind) + key[2:]  # a key of version 0 has the same fields
    assert split_offset_key(key) == (group, *partition)
    long = decode(key, value)
    assert isinstance(long, OffsetCommitRecord)
    if is_current_value(value):
        assert expiry is None
        assert decode_current_value(value) == long.offset
    else:
        assert expiry is not None or not offset.metadata.isascii()


@given(TEXT, PARTITIONS, OFFSETS, st.data())
def test_what_the_long_way_refuses_the_short_ways_leave_to_it(
    group: str, partition: TopicPartition, offset: OffsetAndMetadata, data: st.DataObject
) -> None:
    key, value = encode(OffsetCommitRecord(group, partition, offset))
    assert value is not None
    damaged_key, damaged_value = (damaged(data, each) for each in (key, value))
    try:
        decoded = decode(damaged_key, value)
    except RecordError:
        decoded = None
    names = split_offset_key(damaged_key)
    if names is not None:
        assert isinstance(decoded, OffsetCommitRecord)
        assert names == (decoded.group, *decoded.partition)
    if is_current_value(damaged_value):
        long = decode(key, damaged_value)
        assert isinstance(long, OffsetCommitRecord)
        assert long.offset == decode_current_value(damaged_value)


def damaged(data: st.DataObject, whole: bytes) -> bytes:
    """Cut, lengthened, or one byte changed."""
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = whole[:at] + data.draw(st.binary(min_size=1, max_size=1)) + whole[at + 1 :]
    return data.draw(st.sampled_from([whole[:at], whole + b"\0", changed]))
