"""Producer state on disk: Kafka's `.snapshot` file, written at each roll and at a clean shutdown.

Kafka's entries have only the newest batch of each producer. The older ones follow after them, under the same checksum:
Kafka's tools do not read them, and after a restart all retries are still detected (P10).
"""

import struct
from struct import Struct

import crc32c

from brokers.ids import Buffer, ProducerId
from brokers.log.producers import Producer, ProducerStates, RememberedBatch
from brokers.records.batch import SEQUENCE_MODULUS

VERSION = 1

_PREFIX = Struct(">hI")  # version, CRC-32C of all that follows
_COUNT = Struct(">i")
_ENTRY = Struct(">qhiqiqiq")
_OLDER = Struct(">qiqi")  # producer id, last sequence, last offset, offset delta


class SnapshotError(Exception):
    """A corrupt snapshot; the state is rebuilt from an older one and the log."""


def encode_snapshot(states: ProducerStates) -> bytes:
    """The content of a `.snapshot` file."""
    body = bytearray(_COUNT.pack(len(states)))
    older = bytearray()
    for producer_id, producer in states:
        body += _entry(producer_id, producer)
        for batch in list(producer.batches)[:-1]:
            older += _OLDER.pack(
                producer_id, batch.last_sequence, batch.next_offset - 1, _delta(batch)
            )
    if older:
        body += _COUNT.pack(len(older) // _OLDER.size) + older
    return _PREFIX.pack(VERSION, crc32c.crc32c(body)) + body


def decode_snapshot(data: Buffer) -> ProducerStates:
    """The inverse of `encode_snapshot`; raises `SnapshotError` for a corrupt file or an unknown version."""
    try:
        version, crc = _PREFIX.unpack_from(data)
        body = memoryview(data)[_PREFIX.size :]
        if version != VERSION or crc32c.crc32c(body) != crc:
            raise SnapshotError("checksum or version is wrong")
        return ProducerStates(_decode(body))
    except struct.error as error:
        raise SnapshotError(f"cut short: {error}") from None


def _entry(producer_id: ProducerId, producer: Producer) -> bytes:
    newest = producer.batches[-1] if producer.batches else None
    return _ENTRY.pack(
        producer_id,
        producer.epoch,
        newest.last_sequence if newest else -1,
        newest.next_offset - 1 if newest else -1,
        _delta(newest) if newest else 0,
        producer.seen_at,
        producer.coordinator_epoch,
        producer.transaction_offset,
    )


def _delta(batch: RememberedBatch) -> int:
    return batch.next_offset - batch.base_offset - 1


def _decode(body: memoryview) -> dict[ProducerId, Producer]:
    (count,) = _COUNT.unpack_from(body)
    position = _COUNT.size
    newest: dict[ProducerId, RememberedBatch] = {}
    producers: dict[ProducerId, Producer] = {}
    for _ in range(count):
        (producer_id, epoch, sequence, offset, delta, seen_at, coordinator, transaction) = (
            _ENTRY.unpack_from(body, position)
        )
        position += _ENTRY.size
        producers[producer_id] = Producer(epoch, seen_at, coordinator, transaction)
        if offset >= 0:
            newest[producer_id] = _batch(sequence, offset, delta)
    _decode_older(body[position:], producers)
    for producer_id, batch in newest.items():
        producers[producer_id].batches.append(batch)
    return producers


def _decode_older(body: memoryview, producers: dict[ProducerId, Producer]) -> None:
    if not body:
        return  # written by Kafka, or no older batches
    (count,) = _COUNT.unpack_from(body)
    for index in range(count):
        producer_id, sequence, offset, delta = _OLDER.unpack_from(
            body, _COUNT.size + index * _OLDER.size
        )
        if producer_id in producers:
            producers[producer_id].batches.append(_batch(sequence, offset, delta))


def _batch(last_sequence: int, last_offset: int, delta: int) -> RememberedBatch:
    base_sequence = (last_sequence - delta) % SEQUENCE_MODULUS if last_sequence >= 0 else -1
    return RememberedBatch(base_sequence, last_sequence, last_offset - delta, last_offset + 1, -1)
