"""The digest of a sealed segment, in its own file: an audit reads it first, and batches only if digests differ.

Kafka has no such file, and its tools ignore names that end in `.digest`. A file is a header, one row for each batch,
one entry for each offset range, and a footer. Integers are big-endian.

| part | fields |
|---|---|
| header | magic `CWDG`, version int16, topic id 16 bytes, base offset int64 |
| row | base offset - segment's uint32, position uint32, length uint32, CRC-32C as in the batch's header uint32, |
| | leader epoch int32, largest timestamp int64, record count int32 |
| range | base offset - segment's uint32, next offset - segment's uint32, position uint32, bytes uint32, |
| | batches uint32, digest of its rows 16 bytes |
| footer | next offset int64, segment's bytes int64, records int64, batches uint32, ranges uint32, |
| | digest of all ranges 16 bytes, CRC-32C of rows and ranges uint32, CRC-32C of header and footer uint32 |

A digest is BLAKE2b of 128 bits (RFC 7693) over rows, or over ranges. It covers the bytes of a batch by the CRC-32C that
was verified when the batch was appended, and the header fields that this checksum does not cover. So it describes what
was written, without reading the segment again; only reading the batches shows what the disk still holds.
No digest depends on the topic id: two regions that hold the same segment have the same digests. A range ends with the
first batch that reaches `RANGE_BYTES`.
"""

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct, error
from typing import Final, NamedTuple

from crc32c import crc32c

from brokers.ids import Buffer, Instant, LeaderEpoch, Offset

MAGIC: Final = b"CWDG"
VERSION: Final = 1
RANGE_BYTES: Final = 1 << 24
DIGEST_SIZE: Final = 16

HEADER: Final = Struct(">4sh16sq")
ROW: Final = Struct(">IIIIiqi")
RANGE: Final = Struct(">IIIII16s")
_TOTALS: Final = Struct(">qqqII16sI")  # the footer without its checksum
_CRC: Final = Struct(">I")
FOOTER_SIZE: Final = _TOTALS.size + _CRC.size


class DigestError(Exception):
    """A file that is no complete digest; it is ignored."""


class DigestRow(NamedTuple):
    """One batch: `crc` is the checksum in its header, `position` that of its first byte in the segment."""

    base_offset: Offset
    position: int
    length: int
    crc: int
    leader_epoch: LeaderEpoch
    max_timestamp: Instant
    record_count: int


class DigestRange(NamedTuple):
    """Batches of [base_offset, next_offset), in `size` bytes from `position` on."""

    base_offset: Offset
    next_offset: Offset
    position: int
    size: int
    batches: int
    digest: bytes


class SegmentDigest(NamedTuple):
    """The whole segment. `next_offset` is one past the last offset of its last batch."""

    topic_id: bytes
    base_offset: Offset
    next_offset: Offset
    size: int
    batches: int
    records: int
    digest: bytes


class DigestEncoder:
    """Encodes while the segment is read: `header`, then `rows` and `end_range` alternately, then `end`."""

    def __init__(self, topic_id: bytes, base_offset: Offset) -> None:
        self._topic_id = topic_id
        self._base_offset = base_offset
        self.header = HEADER.pack(MAGIC, VERSION, topic_id, base_offset)
        self._ranges: list[bytes] = []
        self._range_digest = blake2b(digest_size=DIGEST_SIZE)
        self._range_batches = self._batches = 0
        self._range_from: tuple[Offset, int] | None = None  # its base offset - segment's, position
        self._crc = 0

    def rows(self, packed: Sequence[bytes]) -> bytes:
        """Batches of one range, each packed as a `ROW` -> the bytes to write."""
        data = b"".join(packed)
        if self._range_from is None:
            base, position, *_ = ROW.unpack_from(data)
            self._range_from = base, position
        self._range_digest.update(data)
        self._range_batches += len(packed)
        self._crc = crc32c(data, self._crc)
        return data

    def end_range(self, next_offset: Offset, position: int) -> None:
        """The range ends at `position`, one past its last batch; a range without a batch is dropped."""
        if self._range_from is None:
            return
        base, start = self._range_from
        size, end = position - start, next_offset - self._base_offset
        digest = self._range_digest.digest()
        self._ranges.append(RANGE.pack(base, end, start, size, self._range_batches, digest))
        self._batches += self._range_batches
        self._range_digest = blake2b(digest_size=DIGEST_SIZE)
        self._range_batches, self._range_from = 0, None

    def end(self, next_offset: Offset, size: int, records: int) -> tuple[bytes, SegmentDigest]:
        """(the last bytes to write, the digest of the whole segment)."""
        self.end_range(next_offset, size)
        ranges = b"".join(self._ranges)
        digest = blake2b(ranges, digest_size=DIGEST_SIZE).digest()
        crc = crc32c(ranges, self._crc)
        counts = self._batches, len(self._ranges)
        totals = _TOTALS.pack(next_offset, size, records, *counts, digest, crc)
        whole = SegmentDigest(
            self._topic_id, self._base_offset, next_offset, size, self._batches, records, digest
        )
        return ranges + totals + _CRC.pack(crc32c(totals, crc32c(self.header))), whole


def decode_ends(header: Buffer, footer: Buffer, file_size: int) -> SegmentDigest:
    """A digest from the first `HEADER.size` and the last `FOOTER_SIZE` bytes of its file; raises `DigestError`."""
    try:
        magic, version, topic_id, base_offset = HEADER.unpack(header)
        next_offset, size, records, batches, ranges, digest, _ = _TOTALS.unpack_from(footer)
        (crc,) = _CRC.unpack_from(footer, _TOTALS.size)
    except error as because:
        raise DigestError(f"cut short: {because}") from None
    if magic != MAGIC or version != VERSION:
        raise DigestError("not a digest of a known version")
    if crc32c(memoryview(footer)[: _TOTALS.size], crc32c(header)) != crc:
        raise DigestError("checksum of header and footer is wrong")
    if file_size != HEADER.size + batches * ROW.size + ranges * RANGE.size + FOOTER_SIZE:
        raise DigestError(f"{file_size} bytes for {batches} batches in {ranges} ranges")
    return SegmentDigest(topic_id, base_offset, next_offset, size, batches, records, digest)


def decode(data: Buffer) -> tuple[SegmentDigest, list[DigestRow], list[DigestRange]]:
    """(the whole segment, its batches, its ranges) of a file; raises `DigestError`."""
    view = memoryview(data)
    footer = view[max(0, len(view) - FOOTER_SIZE) :]
    whole = decode_ends(view[: HEADER.size], footer, len(view))
    body = view[HEADER.size : len(view) - FOOTER_SIZE]
    if crc32c(body) != _TOTALS.unpack_from(footer)[-1]:
        raise DigestError("checksum of rows and ranges is wrong")
    base, border = whole.base_offset, whole.batches * ROW.size
    rows = [DigestRow(base + relative, *rest) for relative, *rest in ROW.iter_unpack(body[:border])]
    ranges = [
        DigestRange(base + first, base + end, *rest)
        for first, end, *rest in RANGE.iter_unpack(body[border:])
    ]
    return whole, rows, ranges
