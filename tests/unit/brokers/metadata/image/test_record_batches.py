"""Metadata in batches."""

import pytest

from brokers.metadata.image.record_batches import data_batch, read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.quorum.control_records import control_batch
from brokers.records.builder import NewRecord, build_batch
from brokers.wire.messages.control_records import LeaderChangeMessage
from brokers.wire.messages.metadata_records import FeatureLevelRecord, NoOpRecord


def log() -> bytes:
    change = LeaderChangeMessage(version=0, leader_id=1)
    records = [FeatureLevelRecord(name="f", feature_level=3), NoOpRecord()]
    return bytes(
        control_batch([change], base_offset=7, leader_epoch=2, now=5)
        + data_batch(records, base_offset=8, leader_epoch=2, now=6)
    )


def test_batches_are_read_as_they_were_made() -> None:
    (control, changes), (data, records) = read_batches(log())
    assert (control.base_offset, control.next_offset, control.leader_epoch) == (7, 8, 2)
    assert changes == [LeaderChangeMessage(version=0, leader_id=1)]
    assert control.is_control and not data.is_control
    assert (data.base_offset, data.next_offset, data.max_timestamp) == (8, 10, 6)
    assert records == [FeatureLevelRecord(name="f", feature_level=3), NoOpRecord()]
    assert list(read_batches(b"")) == []


@pytest.mark.parametrize("cut", [1, 30, 60, 62, len(log()) - 1])
def test_a_cut_batch_is_refused(cut: int) -> None:
    with pytest.raises(MetadataLogError):
        list(read_batches(log()[:cut]))


def test_every_changed_byte_is_noticed_or_outside_the_checksum() -> None:
    whole = log()
    first = next(read_batches(whole))[0].length
    for position in range(first + 12 + 4, len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        with pytest.raises(MetadataLogError):
            list(read_batches(damaged))


def test_a_control_record_needs_a_type() -> None:
    batch = build_batch([NewRecord(b"\0", b"")], timestamp=1, is_control=True)
    with pytest.raises(MetadataLogError, match="without a type"):
        list(read_batches(batch))


def test_a_data_record_needs_a_value() -> None:
    with pytest.raises(MetadataLogError):
        list(read_batches(build_batch([NewRecord(None, None)], timestamp=1)))
