"""An image with which a region goes on although decisions that followed are lost.

Their traces are not lost: logs with later leader epochs, producers with later ids, nodes with a longer metadata log.
Every number that must never be given out twice is raised above what these can have reached.
"""

from collections.abc import Iterator
from typing import Final

from brokers.ids import LeaderEpoch
from brokers.metadata.image.image import Image
from brokers.metadata.image.replay import replay
from brokers.metadata.image.snapshot import records_of
from brokers.wire.message import Message
from brokers.wire.messages.metadata_records import PartitionRecord, ProducerIdsRecord

# Of the metadata log: other nodes' logs end below, so that they take the snapshot instead of going on with their own.
OFFSETS: Final = 1_000_000
LEADER_EPOCHS: Final[LeaderEpoch] = 1_000  # of the metadata log and of every partition
PRODUCER_IDS: Final = 1_000_000


def continuation(image: Image, log_end_offset: int) -> Image:
    """`log_end_offset`: of a metadata log that it replaces."""
    after = Image(image.cluster_id)
    next_offset = max(image.next_offset, log_end_offset) + OFFSETS
    replay(after, list(_raised(image)), next_offset)
    return after


def _raised(image: Image) -> Iterator[Message]:
    for record in records_of(image):
        if isinstance(record, PartitionRecord):
            record.leader_epoch += LEADER_EPOCHS
            record.partition_epoch += LEADER_EPOCHS
        elif isinstance(record, ProducerIdsRecord):
            record.next_producer_id += PRODUCER_IDS
        yield record
