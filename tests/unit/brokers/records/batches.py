"""Batches as tests need them, and as other people's builders make them."""

from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder

from brokers.records.batch import renew_crc
from brokers.records.builder import NewRecord, build_batch

BATCH_BYTES_MAX = 1 << 20

blobs = st.none() | st.binary(max_size=40)
headers = st.lists(st.tuples(st.text(max_size=8).map(str.encode), blobs), max_size=3).map(tuple)
new_records = st.builds(
    NewRecord,
    key=blobs,
    value=blobs,
    headers=headers,
    timestamp=st.none() | st.integers(min_value=0, max_value=2**50),
)
record_lists = st.lists(new_records, min_size=1, max_size=12)


def one_batch(count: int = 1, *, timestamp: int = 1_000, **fields: int) -> bytearray:
    """A batch of `count` small records."""
    return build_batch(
        [NewRecord(None, b"value %d" % number) for number in range(count)],
        timestamp=timestamp,
        **fields,
    )


def foreign_batch(records: list[NewRecord], codec: int, timestamp: int = 1_000) -> bytes:
    """The same records in a batch that kafka-python builds, compressed by its own libraries."""
    builder = DefaultRecordBatchBuilder(2, codec, 0, -1, -1, -1, BATCH_BYTES_MAX)
    for offset, record in enumerate(records):
        time = timestamp if record.timestamp is None else record.timestamp
        named = [(name.decode(), value) for name, value in record.headers]
        builder.append(offset, time, record.key, record.value, named)
    return bytes(builder.build())


def with_field(batch: bytes | bytearray, position: int, data: bytes) -> bytearray:
    """The batch with other bytes in its header and a checksum that agrees with them."""
    changed = bytearray(batch)
    changed[position : position + len(data)] = data
    renew_crc(changed, 0, len(changed))
    return changed
