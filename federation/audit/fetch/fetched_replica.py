"""A replica on a live broker, as the plan sees it: offsets instead of files, sizes as the broker says them."""

from typing import NamedTuple

from federation.audit.fetch.compactions import compactions
from federation.audit.fetch.reading import batches
from federation.audit.segments.checkpoints import Key
from federation.audit.segments.compaction import Compaction
from federation.audit.segments.headers import HEADER, HEADER_BYTES, LENGTH_BYTES
from federation.audit.segments.replica import FetchRange, Position, Stretch


class FetchedReplica(NamedTuple):
    """A `ReadableReplica`; `end_offset` is the region's high watermark, above which nothing is fetched."""

    topic: str
    partition: int
    node_id: int
    address: str
    first_offset: int
    end_offset: int
    size: int
    folder: str = ""
    is_crashed: bool = False
    newest_ms: int = -1
    lost: tuple[tuple[int, int], ...] = ()
    compaction: Compaction | None = None

    @property
    def node(self) -> str:
        return f"node {self.node_id}"

    @property
    def key(self) -> Key:
        return self.topic, self.partition

    @property
    def is_empty(self) -> bool:
        return self.first_offset >= self.end_offset

    @property
    def end(self) -> Position:
        return Position(0, self.end_offset, self.end_offset)

    def compaction_now(self) -> Compaction | None:
        return compactions(self.address, [self.key]).get(self.key)

    def end_now(self) -> int:
        """The end of the audit's cut: what was committed above it is not fetched."""
        return self.end_offset

    def boundaries(self, start: int, stop: int, step: int) -> list[int]:
        """Batches at multiples of a power of two of offsets, so that an audit that is resumed finds the same."""
        offsets = max(1, step * max(1, self.end_offset - self.first_offset) // max(1, self.size))
        stride = 1 << (offsets.bit_length() - 1)
        asked = range(start - start % stride + stride, stop, stride)
        found = {self._base(offset) for offset in asked}
        return sorted(offset for offset in found if start < offset < stop)

    def first_at(self, offset: int, *, is_stop: bool = False) -> Position | None:
        if offset < self.end_offset and self._base(offset) < offset:
            return None
        return Position(0, offset, offset)

    def first_covering(self, offset: int) -> Position:
        base = self._base(offset) if offset < self.end_offset else offset
        return Position(0, offset, min(base, offset))

    def stretch(self, start: Position, stop: Position) -> Stretch:
        offsets = max(0, stop.byte - start.byte)
        size = self.size * offsets // max(1, self.end_offset - self.first_offset)
        where = self.address, self.node, *self.key
        return Stretch(fetched=FetchRange(*where, start.byte, stop.byte, start.offset, size))

    def batch_at(self, position: Position) -> bytes:
        return self._batch(position.byte)

    def newest_below(self, start: int, stop: int, before_ms: int) -> int:
        """The records travel too, for Fetch knows no headers alone."""
        for run in batches(self.address, self.key, start, stop):
            place = 0
            while place < len(run):
                header = HEADER.unpack_from(run, place)
                if header[8] >= before_ms:
                    return max(start, min(int(header[0]), stop))
                place += LENGTH_BYTES + header[1]
        return stop

    def _base(self, offset: int) -> int:
        """Base offset of the batch that holds `offset`, or of the first above it; `offset` where nothing follows."""
        batch = self._batch(offset)
        return int(HEADER.unpack_from(batch)[0]) if batch else offset

    def _batch(self, offset: int) -> bytes:
        """A broker answers with a whole batch however few bytes are asked for (KIP-74)."""
        for run in batches(self.address, self.key, offset, self.end_offset, HEADER_BYTES):
            size = LENGTH_BYTES + HEADER.unpack_from(run)[1]
            return bytes(run[:size])
        return b""
