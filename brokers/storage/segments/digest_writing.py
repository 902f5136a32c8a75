"""Writes the digest of one sealed segment, in any thread, in small steps.

Only headers are read: of batches from 8 KB on one by one, of smaller ones in chunks. The file is renamed to its name
once it is synced: a crash leaves none or all of it, and perhaps a temporary file.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from brokers.ids import Offset
from brokers.ports import DiskError, FileReader, Files, FileWriter
from brokers.records.batch import HEADER_SIZE, LENGTH_FROM
from brokers.storage.segments.log_segment import LogSegment
from brokers.storage.segments.segment_digest import RANGE_BYTES, ROW, DigestEncoder, SegmentDigest

STEP_BATCHES: Final = 256
_MAGIC: Final = 2
_LENGTH_MIN: Final = HEADER_SIZE - LENGTH_FROM
_RELATIVE_MAX: Final = 2**31  # one past the last offset, as the indexes hold it
_CHUNK_BYTES: Final = 1 << 16
_LARGE_BATCH_BYTES: Final = 1 << 13
# Base offset, length, leader epoch, magic, checksum, last offset delta, largest timestamp, record count.
_FIELDS: Final = Struct(">qiibI2xi8xq14xi")


class DigestWriting:
    """Run `steps` to their end, in any thread. Then `digest` is None if none could be written."""

    def __init__(
        self,
        files: Files,
        topic_id: bytes,
        segment: LogSegment,
        *,
        range_bytes: int = RANGE_BYTES,
    ) -> None:
        self.segment = segment
        self.digest: SegmentDigest | None = None
        self._files = files
        self._encoder = DigestEncoder(topic_id, segment.base_offset)
        self._size = segment.size
        self._position = self._records = 0
        self._next_offset: Offset = segment.base_offset
        self._range_bytes = self._range_end = range_bytes
        self._chunk, self._chunk_from, self._chunk_bytes = b"", 0, HEADER_SIZE
        self.is_given_up = False

    def give_up(self) -> None:
        """Cancel: the next step is the last."""
        self.is_given_up = True

    def steps(self) -> Iterator[None]:
        """Each takes well below a millisecond of CPU time. A `DiskError` leaves no digest."""
        try:
            reader = self._files.reader(self.segment.path)
        except DiskError:
            return
        try:
            yield from self._write(reader)
        except DiskError:
            return
        finally:
            reader.close()

    def _write(self, reader: FileReader) -> Iterator[None]:
        writer = self._files.writer(self.segment.digest_path)
        try:
            writer.write(self._encoder.header)
            while self._position < self._size:
                if self.is_given_up or not self._step(reader, writer):
                    writer.give_up()
                    return
                yield
            if not reader.read(self._size - 1, 1):
                writer.give_up()  # truncated meanwhile
                return
            rest, digest = self._encoder.end(self._next_offset, self._size, self._records)
            writer.write(rest)
            writer.finish()
        except DiskError:
            writer.give_up()
            raise
        self.digest = digest

    def _step(self, reader: FileReader, writer: FileWriter) -> bool:
        """Read further batches of one range -> False at an invalid batch.

        One flat loop, for speed: it runs once for each batch that the node stores.
        """
        rows: list[bytes] = []
        position, expected, records = self._position, self._next_offset, self._records
        base, limit = self.segment.base_offset, min(self._range_end, self._size)
        unpack, pack, read, take = _FIELDS.unpack_from, ROW.pack, reader.read, rows.append
        chunk, start, wanted = self._chunk, self._chunk_from, self._chunk_bytes
        border = start + len(chunk) - HEADER_SIZE  # the last position of a complete header
        for _ in range(STEP_BATCHES):
            if position > border:
                chunk, start = read(position, wanted), position
                border = start + len(chunk) - HEADER_SIZE
                if border < start:
                    return False
            offset, length, epoch, magic, crc, delta, newest, count = unpack(
                chunk, position - start
            )
            if magic != _MAGIC or offset < expected or delta < 0 or length < _LENGTH_MIN:
                return False
            expected = offset + delta + 1
            if expected - base > _RELATIVE_MAX:
                return False
            length += LENGTH_FROM
            take(pack(offset - base, position, length, crc, epoch, newest, count))
            records += count
            position += length
            wanted = HEADER_SIZE if length >= _LARGE_BATCH_BYTES else _CHUNK_BYTES
            if position >= limit:
                break
        if position > self._size:
            return False
        self._chunk, self._chunk_from, self._chunk_bytes = chunk, start, wanted
        self._position, self._next_offset, self._records = position, expected, records
        writer.write(self._encoder.rows(rows))
        if position >= self._range_end:
            self._encoder.end_range(expected, position)
            self._range_end = position + self._range_bytes
        return True
