"""The metadata log's, the group coordinator's and KRaft's records have Kafka's bytes."""

import pytest

from brokers.wire import codec
from brokers.wire.message import Message
from brokers.wire.messages import metadata_records as metadata
from brokers.wire.primitives import WireError
from tests.unit.brokers.wire.golden_groups import OTHER_RECORDS
from tests.unit.brokers.wire.golden_metadata import METADATA_RECORDS, WITH_OBSERVERS

WRITTEN_BY_KAFKA = METADATA_RECORDS + WITH_OBSERVERS + OTHER_RECORDS


@pytest.mark.parametrize(("version", "message", "written"), WRITTEN_BY_KAFKA)
def test_a_record_has_the_bytes_that_kafka_writes(
    version: int, message: Message, written: str
) -> None:
    assert codec.encode_record(message, version).hex() == written


@pytest.mark.parametrize(("version", "message", "written"), WRITTEN_BY_KAFKA)
def test_what_kafka_writes_is_read(version: int, message: Message, written: str) -> None:
    assert codec.decode_record(type(message), version, bytes.fromhex(written)) == message


def test_every_record_is_among_them() -> None:
    families = {"metadata_records", "control_records", "group_records"}
    names = {
        name
        for name, schema in codec.SCHEMAS.items()
        # What Kafka does not know has types that it will not come to.
        if schema.family in families and (schema.key or 0) < 20_000
    }
    assert names == {type(message).__name__ for _, message, _ in WRITTEN_BY_KAFKA}


def test_observers_are_none_in_a_partition_and_unchanged_in_a_change_unless_named() -> None:
    partition, change = metadata.PartitionRecord(), metadata.PartitionChangeRecord()
    for version in range(3):
        for record, observers in ((partition, []), (change, None)):
            read = codec.decode_record(type(record), version, codec.encode_record(record, version))
            assert read.observers == observers


def test_a_record_may_be_named_and_may_begin_anywhere() -> None:
    value = b"frame" + codec.encode_record(metadata.FenceBrokerRecord(id=1, epoch=2), 0)
    read = codec.decode_record("FenceBrokerRecord", 0, value, 5)
    assert read == metadata.FenceBrokerRecord(id=1, epoch=2)


def test_a_metadata_record_has_a_type_and_a_type_its_record() -> None:
    assert codec.METADATA_RECORDS[5] == "PartitionChangeRecord"
    assert codec.METADATA_RECORD_TYPES["FeatureLevelRecord"] == 12
    assert codec.record_versions("PartitionRecord") == (0, 2)


def test_an_unknown_record_or_version_is_refused() -> None:
    with pytest.raises(WireError, match="unknown"):
        codec.decode_record("NoSuchRecord", 0, b"")
    with pytest.raises(WireError, match="no version 3"):
        codec.encode_record(metadata.PartitionRecord(), 3)
