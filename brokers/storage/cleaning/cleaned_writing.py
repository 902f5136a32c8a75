"""Writes a cleaned segment, with its indexes, beside those that it replaces.

Its files have the names of a segment's with `.cleaned` behind, as in Kafka: one that a crash leaves is removed.
"""

import numpy as np

from brokers.ids import Buffer
from brokers.ports import DiskError, Files, FileWriter
from brokers.storage.cleaning.batch_columns import BatchColumns
from brokers.storage.cleaning.batch_rebuilding import Left
from brokers.storage.cleaning.left_batches import LeftBatches
from brokers.storage.segments.file_names import CLEANED
from brokers.storage.segments.log_segment import LogSegment


class CleanedWriting:
    """`add` batches, then `finish` or `give_up`. Raises `DiskError`."""

    def __init__(self, files: Files, segment: LogSegment) -> None:
        """`segment` is a new one with the base offset of the first that is replaced; it has no files yet."""
        self._files = files
        self._segment = segment
        self._writer: FileWriter = files.writer(segment.path + CLEANED)

    @property
    def size(self) -> int:
        return self._segment.size

    def add(self, left: LeftBatches) -> None:
        """What is left of a chunk is written at once: nothing refers to the chunk any more."""
        chunk, segment, pieces = left.chunk, self._segment, list[Buffer]()
        view, starts, ends = memoryview(chunk.data), chunk.starts, chunk.ends
        columns = _index_columns(chunk)
        for part in left.parts():
            if isinstance(part, Left):
                segment.index_batch(part.header)
                pieces += part.pieces
            else:
                first, end = part
                segment.index_batches(*(each[first:end] for each in columns))
                pieces.append(view[starts[first] : ends[end - 1]])
        if pieces:
            self._writer.write(b"".join(pieces))

    def add_batch(self, batch: Left) -> None:
        self._segment.index_batch(batch.header)
        self._writer.write(b"".join(batch.pieces))

    def finish(self) -> None:
        """All files are synced and have their names; the log's file last, as the segment is complete with it."""
        segment = self._segment
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


def _index_columns(chunk: BatchColumns) -> tuple[list[int], list[int], list[int]]:
    """Last offsets, lengths, and largest timestamps, -1 where a batch has no record."""
    timestamps = np.where(chunk.record_counts > 0, chunk.column("max_timestamp"), -1)
    return (chunk.next_offsets - 1).tolist(), chunk.lengths.tolist(), timestamps.tolist()
