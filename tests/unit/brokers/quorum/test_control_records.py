"""Control records and the batches they are in."""

import pytest

from brokers.quorum.control_records import (
    MetadataLogError,
    checked_batches,
    control_batch,
    control_messages,
)
from brokers.quorum.ids import SnapshotId, snapshot_id
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.control_records import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    Voter,
    VotersRecord,
)

ALL = [
    LeaderChangeMessage(version=0, leader_id=1, voters=[Voter(voter_id=1)]),
    LeaderChangeMessage(version=1, leader_id=1, voters=[Voter(voter_id=1)]),
    SnapshotHeaderRecord(version=0, last_contained_log_timestamp=9),
    KRaftVersionRecord(version=0, kraft_version=1),
    VotersRecord(version=0),
    SnapshotFooterRecord(version=0),
]


def test_control_records_are_read_as_they_were_written() -> None:
    batch = control_batch(ALL, base_offset=7, leader_epoch=3, now=5)
    ((header, data),) = checked_batches(bytes(batch))
    assert (header.base_offset, header.next_offset, header.leader_epoch) == (7, 13, 3)
    assert header.is_control and control_messages(data) == ALL


def test_types_of_later_releases_are_passed_over() -> None:
    records = [NewRecord(b"\0\0\0\x63", b"?"), NewRecord(b"\0\0\0\x04", b"\0\0\0")]
    batch = build_batch(records, timestamp=5, is_control=True)
    assert control_messages(batch) == [SnapshotFooterRecord(version=0)]


@pytest.mark.parametrize(
    "record", [NewRecord(None, b""), NewRecord(b"\0", b""), NewRecord(b"\0\0\0\2", b"?")]
)
def test_damage_is_refused(record: NewRecord) -> None:
    with pytest.raises(MetadataLogError):
        control_messages(build_batch([record], timestamp=5, is_control=True))


def test_every_changed_byte_behind_the_checksum_is_noticed() -> None:
    whole = bytes(control_batch(ALL, base_offset=7, leader_epoch=3, now=5))
    for position in range(17, len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        with pytest.raises(MetadataLogError):
            list(checked_batches(damaged))
    with pytest.raises(MetadataLogError):
        list(checked_batches(whole + whole[:70]))


@pytest.mark.parametrize(
    "name",
    ["", "x", "12-3", "a-b.checkpoint", "__cluster_metadata-0/.checkpoint", "1-2.checkpoint"],
)
def test_a_snapshots_name_says_where_it_ends(name: str) -> None:
    found = SnapshotId(1234, 56)
    assert found.file_name == "__cluster_metadata-0/00000000000000001234-0000000056.checkpoint"
    assert snapshot_id(found.file_name) == found
    assert snapshot_id(name) is None
