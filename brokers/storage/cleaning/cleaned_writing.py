"""Writes a cleaned segment, with its indexes, beside those that it replaces.

Its files have the names of a segment's with `.cleaned` behind, as in Kafka: one that a crash leaves is removed.
"""

from collections.abc import Sequence
from typing import Final

from brokers.ids import Buffer
from brokers.ports import DiskError, Files, FileWriter
from brokers.records.batch import BatchHeader
from brokers.storage.segments.log_segment import LogSegment

CLEANED: Final = ".cleaned"


class CleanedWriting:
    """`add` batches, then `finish` or `give_up`. Raises `DiskError`."""

    def __init__(self, files: Files, segment: LogSegment, buffer_bytes: int) -> None:
        """`segment` is a new one with the base offset of the first that is replaced; it has no files yet."""
        self._files = files
        self._segment = segment
        self._buffer_bytes = buffer_bytes
        self._pieces: list[Buffer] = []
        self._waiting = 0
        self._writer: FileWriter = files.writer(segment.path + CLEANED)

    @property
    def size(self) -> int:
        return self._segment.size

    def add(self, header: BatchHeader, pieces: Sequence[Buffer]) -> None:
        """A batch, in one piece or more."""
        self._segment.index_batch(header)
        self._pieces += pieces
        self._waiting += header.length
        if self._waiting >= self._buffer_bytes:
            self._flush()

    def _flush(self) -> None:
        self._writer.write(b"".join(self._pieces))
        self._pieces.clear()
        self._waiting = 0

    def finish(self) -> None:
        """All files are synced and have their names; the log's file last, as the segment is complete with it."""
        segment = self._segment
        self._flush()
        if segment.max_timestamp >= 0:
            segment.time_index.add(segment.max_timestamp, segment.max_timestamp_offset)
        for path, data in (
            (segment.index_path, segment.index.data),
            (segment.time_index_path, segment.time_index.data),
        ):
            self._write_whole(path + CLEANED, data)
        self._writer.finish()

    def _write_whole(self, path: str, data: Buffer) -> None:
        writer = self._files.writer(path)
        try:
            writer.write(data)
            writer.finish()
        except DiskError:
            writer.give_up()
            raise

    def give_up(self) -> None:
        self._writer.give_up()
