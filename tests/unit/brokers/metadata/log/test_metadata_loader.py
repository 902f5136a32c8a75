"""What was read of the metadata log, onto the image: and when it was written."""

from brokers.events import RangeRead
from brokers.ids import METADATA_PARTITION
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_batches import data_batch
from brokers.metadata.log.metadata_loader import MetadataLoader
from brokers.wire.messages.metadata_records import FeatureLevelRecord

RECORDS = [FeatureLevelRecord(name="f", feature_level=1)]


def test_the_age_of_what_was_read_last_is_known() -> None:
    read: list[int] = []
    loader = MetadataLoader(Image("region"), read.append)
    assert loader.written_at is None
    batches = [
        data_batch(RECORDS, base_offset=offset, leader_epoch=1, now=now)
        for offset, now in ((0, 500), (1, 700), (2, 900))
    ]
    (wanted,) = loader.read_to(2)
    data = b"".join(map(bytes, batches))
    loader.on_read(RangeRead(wanted.ticket, METADATA_PARTITION, data, 3))  # type: ignore[union-attr]
    assert (loader.image.next_offset, loader.written_at) == (2, 700)
    assert read == [len(data)]
