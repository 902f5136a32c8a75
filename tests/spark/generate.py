"""Two regions' logs from a seed: real RecordBatch v2 bytes in Kafka's files, whole or damaged on purpose.

Written from KIP-98, apart from both the broker and the audit, so that neither can agree with itself.
"""

import os
import random
import struct
from dataclasses import dataclass, replace

import cramjam
import crc32c

TRANSACTIONAL, CONTROL = 0x10, 0x20
CODECS = ("none", "gzip", "snappy", "lz4", "zstd", "snappy-raw")
CODEC_BITS = {"none": 0, "gzip": 1, "snappy": 2, "snappy-raw": 2, "lz4": 3, "zstd": 4}


def zigzag(number: int) -> bytes:
    value = (number << 1) ^ (number >> 63)
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sized(data: bytes | None) -> bytes:
    return zigzag(-1) if data is None else zigzag(len(data)) + data


@dataclass(frozen=True)
class Row:
    """One record; `delta` is its offset within the batch."""

    delta: int
    key: bytes | None
    value: bytes | None
    timestamp_delta: int = 0
    headers: tuple[tuple[bytes, bytes | None], ...] = ()

    def encoded(self) -> bytes:
        body = (
            b"\x00"
            + zigzag(self.timestamp_delta)
            + zigzag(self.delta)
            + sized(self.key)
            + sized(self.value)
            + zigzag(len(self.headers))
            + b"".join(sized(key) + sized(value) for key, value in self.headers)
        )
        return zigzag(len(body)) + body


@dataclass(frozen=True)
class Made:
    """One batch to be: `encoded` gives its bytes."""

    base_offset: int
    rows: tuple[Row, ...]
    leader_epoch: int = 0
    codec: str = "none"
    first_timestamp: int = 1_700_000_000_000
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    flags: int = 0

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.rows[-1].delta + 1

    @property
    def max_timestamp(self) -> int:
        return self.first_timestamp + max(row.timestamp_delta for row in self.rows)

    def encoded(self) -> bytes:
        records = compressed(self.codec, b"".join(row.encoded() for row in self.rows))
        checked = struct.pack(
            ">hiqqqhii",
            CODEC_BITS[self.codec] | self.flags,
            self.rows[-1].delta,
            self.first_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            len(self.rows),
        )
        checked += records
        crc = crc32c.crc32c(checked)
        head = struct.pack(">qiibI", self.base_offset, 9 + len(checked), self.leader_epoch, 2, crc)
        return head + checked


def compressed(codec: str, data: bytes) -> bytes:
    if codec == "snappy-raw":
        return bytes(cramjam.snappy.compress_raw(data))
    if codec == "snappy":
        out = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
        for start in range(0, len(data), 32768):
            block = bytes(cramjam.snappy.compress_raw(data[start : start + 32768]))
            out += struct.pack(">i", len(block)) + block
        return out
    if codec == "none":
        return data
    return bytes(getattr(cramjam, codec).compress(data))


def batches(
    seed: random.Random, count: int, codec: str = "none", start: int = 0, rows_max: int = 6
) -> list[Made]:
    """A log's batches, offsets without a gap, every one with bytes of its own; every fifth ends a transaction."""
    made, offset, leader_epoch = [], start, seed.randrange(3)
    for number in range(count):
        if number % 5 == 4:
            ended = marker(offset, leader_epoch, commits=True)
            made.append(replace(ended, first_timestamp=1_700_000_000_000 + offset))
            offset += 1
            continue
        rows = tuple(
            Row(
                delta,
                seed.choice((None, b"key-%d" % seed.randrange(50))),
                seed.randbytes(seed.randrange(1, 60)) * seed.choice((1, 3)),
                timestamp_delta=delta * seed.randrange(5),
                headers=((b"trace", seed.randbytes(4)), (b"none", None))[: seed.randrange(3)],
            )
            for delta in range(seed.randrange(1, rows_max + 1))
        )
        leader_epoch += seed.random() < 0.05
        batch = Made(offset, rows, leader_epoch, codec, 1_700_000_000_000 + offset)
        if seed.random() < 0.3:
            flags = seed.choice((0, TRANSACTIONAL))
            batch = replace(
                batch, producer_id=7, producer_epoch=0, base_sequence=offset, flags=flags
            )
        made.append(batch)
        offset = batch.next_offset
    return made


Segments = dict[int, list[tuple[Made, bytes]]]


def stored(made: list[Made]) -> list[tuple[Made, bytes]]:
    return [(batch, batch.encoded()) for batch in made]


def cut_in_segments(log: list[tuple[Made, bytes]], bases: set[int]) -> Segments:
    """Batches by segment; a segment starts at the first batch and at every base offset in `bases`."""
    segments: Segments = {}
    current: list[tuple[Made, bytes]] = []
    for number, (batch, data) in enumerate(log):
        if number == 0 or (batch.base_offset in bases and batch.base_offset not in segments):
            current = segments[batch.base_offset] = []
        current.append((batch, data))
    return segments


def write_partition(
    data_dir: str, topic: str, partition: int, segments: Segments, every: int = 3
) -> str:
    """Kafka's files for one partition; an index entry for every few batches. Returns the folder.

    As in Kafka neither index takes an offset below its last one's (`TimeIndex.maybeAppend` raises). Without that the
    time index of a log that is out of order would fall, and an audit is right to call such an index damaged.
    """
    folder = os.path.join(data_dir, f"{topic}-{partition}")
    os.makedirs(folder, exist_ok=True)
    for base, raw in segments.items():
        index, times, position, indexed = b"", b"", 0, base - 1
        newest, timed = (-1, base), base
        with open(os.path.join(folder, f"{base:020}.log"), "wb") as file:
            for number, (batch, data) in enumerate(raw):
                newest = max(newest, (batch.max_timestamp, batch.next_offset - 1))
                if number and number % every == 0 and batch.next_offset - 1 > indexed:
                    indexed = batch.next_offset - 1
                    index += struct.pack(">ii", batch.next_offset - 1 - base, position)
                    if newest[1] >= timed:
                        timed = newest[1]
                        times += struct.pack(">qi", newest[0], timed - base)
                file.write(data)
                position += len(data)
        with open(os.path.join(folder, f"{base:020}.index"), "wb") as file:
            file.write(index + bytes(16))
        with open(os.path.join(folder, f"{base:020}.timeindex"), "wb") as file:
            file.write(times + bytes(24))
    epochs: dict[int, int] = {}
    for batch, _ in (one for raw in segments.values() for one in raw):
        if batch.leader_epoch > max(epochs, default=-1):
            epochs[batch.leader_epoch] = batch.base_offset
    write_epochs(folder, epochs)
    return folder


def write_epochs(folder: str, epochs: dict[int, int]) -> None:
    """First offsets by leader epoch."""
    with open(os.path.join(folder, "leader-epoch-checkpoint"), "w") as file:
        file.write(f"0\n{len(epochs)}\n")
        file.writelines(f"{epoch} {offset}\n" for epoch, offset in epochs.items())


def write_checkpoint(data_dir: str, name: str, offsets: dict[tuple[str, int], int]) -> None:
    os.makedirs(data_dir, exist_ok=True)
    with open(os.path.join(data_dir, name), "w") as file:
        file.write(f"0\n{len(offsets)}\n")
        for (topic, partition), offset in sorted(offsets.items()):
            file.write(f"{topic} {partition} {offset}\n")


def marker(base_offset: int, leader_epoch: int, *, commits: bool) -> Made:
    """A control batch that ends a transaction (KIP-98)."""
    row = Row(0, struct.pack(">hh", 0, commits), struct.pack(">hi", 0, 1))
    return Made(
        base_offset,
        (row,),
        leader_epoch,
        producer_id=7,
        producer_epoch=0,
        flags=TRANSACTIONAL | CONTROL,
    )


def recomputed(data: bytes) -> bytes:
    """The batch with a checksum that fits what it holds now."""
    return data[:17] + struct.pack(">I", crc32c.crc32c(data[21:])) + data[21:]


def flipped(data: bytes, byte: int, bit: int = 0) -> bytes:
    return data[:byte] + bytes([data[byte] ^ (1 << bit)]) + data[byte + 1 :]


def middle_batch(log: bytes) -> tuple[int, int]:
    """Where the batch in the middle of a log begins and ends (KIP-98: its length stands after its base offset)."""
    start = end = 0
    while end <= len(log) // 2:
        start, end = end, end + 12 + int.from_bytes(log[end + 8 : end + 12])
    return start, end
