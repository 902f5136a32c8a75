from hypothesis import given
from kafka.record.default_records import DefaultRecordBatch

from brokers.records.batch import parse_header, verify_crc
from brokers.records.builder import NewRecord, build_batch
from tests.unit.brokers.records.batches import foreign_batch, record_lists


@given(record_lists)
def test_a_batch_is_byte_for_byte_what_kafka_python_builds(records: list[NewRecord]) -> None:
    ours = build_batch(records, timestamp=1_000, leader_epoch=0)
    assert bytes(ours) == foreign_batch(records, 0)


@given(record_lists)
def test_kafka_python_reads_the_records_back(records: list[NewRecord]) -> None:
    batch = DefaultRecordBatch(bytes(build_batch(records, timestamp=9, base_offset=100)))
    assert batch.validate_crc()
    found = [(record.offset, record.timestamp, record.key, record.value) for record in batch]
    assert found == [
        (
            100 + number,
            9 if record.timestamp is None else record.timestamp,
            record.key,
            record.value,
        )
        for number, record in enumerate(records)
    ]


def test_every_field_is_where_it_was_asked_for() -> None:
    batch = build_batch(
        [NewRecord(b"k", None, (), 5), NewRecord(None, b"v", (), 2)],
        timestamp=0,
        base_offset=2**40,
        leader_epoch=3,
        producer_id=2**33,
        producer_epoch=4,
        base_sequence=6,
        is_control=True,
        transactional=True,
    )
    header = parse_header(batch)
    assert verify_crc(batch, header)
    assert header == header._replace(
        base_offset=2**40,
        length=len(batch),
        leader_epoch=3,
        attributes=0b11_0000,
        last_offset_delta=1,
        base_timestamp=5,
        max_timestamp=5,
        producer_id=2**33,
        producer_epoch=4,
        base_sequence=6,
        record_count=2,
    )
