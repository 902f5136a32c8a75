"""Reads a tail from one of its copies: the bytes with their checksums, then the records."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brokers.errors import KafkaError
from brokers.ids import LeaderEpoch, Offset, ProducerId
from brokers.records.batch import SEQUENCE_MODULUS, BatchError, iter_headers, verify_crc
from brokers.records.record import Record, open_batch
from federation.commands.answers import Failure
from federation.commands.orphans.stores import Tail, TailCopy
from linker.shell.administrator import Administrator, Unreachable
from linker.wire.v1 import admin_pb2 as pb


@dataclass(frozen=True, slots=True)
class OrphanRecord:
    """A record of a tail, and of which producer and leader epoch it was; a sequence of -1 is none."""

    record: Record
    leader_epoch: LeaderEpoch
    producer_id: ProducerId
    producer_epoch: int
    sequence: int
    is_control: bool
    is_transactional: bool


def files_of(tail: Tail) -> Iterator[tuple[str, bytes]]:
    """(name, content) of each file, from the first copy that is whole. Raises Failure where none is."""
    failures: list[str] = []
    for copy in tail.copies:
        try:
            yield from [(file.name, _read(copy, file)) for file in copy.orphan.files]
            return
        except (Unreachable, ValueError) as error:
            failures.append(f"broker {copy.broker}: {error}")
    raise Failure(f"no copy of {tail.name} can be read: {'; '.join(failures)}")


def _read(copy: TailCopy, file: Any) -> bytes:
    """Raises ValueError where it is not what was sealed, and Unreachable."""
    if copy.orphan.damage:
        raise ValueError(copy.orphan.damage)
    data = bytearray()
    with Administrator(copy.endpoint) as administrator:
        while len(data) < file.bytes:
            request = pb.ReadOrphanRequest(
                name=copy.orphan.name, file=file.name, position=len(data)
            )
            reply = administrator.ask("ReadOrphan", request)
            if reply.HasField("error") or not reply.data:
                raise ValueError(reply.error.message or f"{file.name} ends at byte {len(data)}")
            data += reply.data
    if len(data) != file.bytes or hashlib.sha256(data).hexdigest() != file.sha256:
        raise ValueError(f"{file.name} is not what was sealed: its checksum is another")
    return bytes(data)


def records_of(tail: Tail) -> Iterator[OrphanRecord]:
    """Every record, in the order of offsets. Raises Failure for batches that cannot be read."""
    for name, data in files_of(tail):
        try:
            yield from records_in(memoryview(data))
        except BatchError as error:
            raise Failure(f"{tail.name}: {name}: {error.because}") from error


def records_in(data: memoryview) -> Iterator[OrphanRecord]:
    """Every record of these batches. Raises BatchError."""
    for position, header in iter_headers(data):
        batch = data[position : position + header.length]
        if not verify_crc(batch, header):
            because = f"bad checksum at offset {header.base_offset}"
            raise BatchError(KafkaError.CORRUPT_MESSAGE, because)
        for record in open_batch(batch):
            yield OrphanRecord(
                record,
                header.leader_epoch,
                header.producer_id,
                header.producer_epoch,
                _sequence(header.base_sequence, record.offset - header.base_offset),
                header.is_control,
                header.is_transactional,
            )


def _sequence(base: int, delta: Offset) -> int:
    return -1 if base < 0 else (base + delta) % SEQUENCE_MODULUS
