"""Committed records onto the image, as they are read from the log below the high watermark."""

from collections.abc import Callable

from brokers.effects import ReadRange, StorageEffect
from brokers.events import RangeRead
from brokers.ids import METADATA_PARTITION, Instant, Offset, Ticket
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay

READ_BYTES = 4 << 20
FIRST_TICKET: Ticket = -(
    1 << 61
)  # apart from the quorum's own, and from those that a node counts down from -1


class MetadataLoader:
    """`image` holds what is committed, as far as it has been read. One read at a time.

    `on_read_bytes` hears how much of the log was read.
    """

    def __init__(self, image: Image, on_read_bytes: Callable[[int], None]) -> None:
        self.image = image
        self._on_read_bytes = on_read_bytes
        self._ticket = FIRST_TICKET
        self._bound: Offset | None = None  # of the read under way
        self.written_at: Instant | None = None  # when the last batch read was written

    def read_to(self, bound: Offset) -> list[StorageEffect]:
        """Read on, if anything below `bound` is missing and no read is under way."""
        position = self.image.next_offset
        if self._bound is not None or position >= bound:
            return []
        self._ticket, self._bound = self._ticket + 1, bound
        return [
            ReadRange(
                self._ticket, METADATA_PARTITION, position, bound, READ_BYTES, at_least_one=True
            )
        ]

    def on_read(self, read: RangeRead) -> list[ImageDelta]:
        """What a read changed. Raises `MetadataLogError` where there is nothing to read, or damage."""
        bound, self._bound = self._bound, None
        position = self.image.next_offset
        assert bound is not None
        deltas: list[ImageDelta] = []
        for header, messages in read_batches(read.data):
            if position < header.next_offset <= bound:
                records = () if header.is_control else messages
                self.written_at = header.max_timestamp
                deltas.append(replay(self.image, records, header.next_offset))
        if self.image.next_offset == position:
            raise MetadataLogError(f"the metadata log has nothing at {position}")
        self._on_read_bytes(len(read.data))
        return [delta for delta in deltas if delta != ImageDelta()]

    def is_read(self, read: RangeRead) -> bool:
        """Whether this is the read under way."""
        return self._bound is not None and read.ticket == self._ticket

    def cancel_read(self) -> None:
        """The read under way is of no use any more."""
        self._bound = None


def unreadable(read: RangeRead) -> str:
    """What is told of a metadata log that the disk does not give back."""
    return f"the metadata log cannot be read: {read.error.name}"
