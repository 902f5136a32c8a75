"""Applies committed records to the image, as they are read from the log below the high watermark."""

from collections.abc import Callable

from brokers.effects import ReadRange, StorageEffect
from brokers.events import RangeRead
from brokers.ids import METADATA_PARTITION, Instant, Offset, Ticket
from brokers.metadata.image.difference import difference
from brokers.metadata.image.image import Image, ImageDelta
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.metadata.log.effects import MetadataReady, MetadataUpdated

READ_BYTES = 4 << 20
# Not among the quorum's tickets, nor among those that a node counts down from -1.
FIRST_TICKET: Ticket = -(1 << 61)


class MetadataLoader:
    """Kafka's MetadataLoader: `image` holds the committed records that have been read. At most one read is in flight.

    `on_read_bytes` is called with the size in bytes of each read.
    """

    def __init__(self, image: Image, on_read_bytes: Callable[[int], None]) -> None:
        self.image = image
        self._on_read_bytes = on_read_bytes
        self._ticket = FIRST_TICKET
        self._bound: Offset | None = None  # of the read in flight
        self.written_at: Instant | None = None  # when the last batch read was written
        self.is_published = False

    def read_to(self, bound: Offset) -> list[StorageEffect]:
        """Starts a read if the image lacks records below `bound` and no read is in flight."""
        position = self.image.next_offset
        if self._bound is not None or position >= bound:
            return []
        self._ticket, self._bound = self._ticket + 1, bound
        return [
            ReadRange(
                self._ticket, METADATA_PARTITION, position, bound, READ_BYTES, at_least_one=True
            )
        ]

    def on_read(self, read: RangeRead) -> list[MetadataUpdated]:
        """Applies the records of a read. Raises MetadataLogError for damage, and for a read without a batch."""
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
        return [update for delta in deltas for update in self.updated(delta)]

    def is_read(self, read: RangeRead) -> bool:
        """Whether this is the read in flight."""
        return self._bound is not None and read.ticket == self._ticket

    def replace(self, image: Image) -> list[MetadataUpdated]:
        """Installs another image, from a snapshot or from the disk."""
        before, self.image = self.image, image
        return self.updated(difference(before, image)) if self.is_published else []

    def publish(self) -> list[MetadataUpdated | MetadataReady]:
        """Publishes the image, which is complete for the first time."""
        self.is_published = True
        return [MetadataUpdated(self.image.everything()), MetadataReady()]

    def updated(self, delta: ImageDelta) -> list[MetadataUpdated]:
        """Deltas are published only after the first complete image."""
        return [MetadataUpdated(delta)] if self.is_published and delta != ImageDelta() else []

    def cancel_read(self) -> None:
        """The result of the read in flight will be ignored."""
        self._bound = None


def unreadable(read: RangeRead) -> str:
    """The reason to report for a read error of the metadata log."""
    return f"the metadata log cannot be read: {read.error.name}"
