"""Parts of snapshots as a leader sends them."""

from brokers.ids import METADATA_PARTITION
from brokers.wire.messages.quorum_snapshots import (
    FetchSnapshotResponse,
    FetchSnapshotResponsePartition,
    FetchSnapshotResponseTopic,
)


def part(data: bytes, *, position: int, size: int, error: int = 0) -> FetchSnapshotResponse:
    partition = FetchSnapshotResponsePartition(
        error_code=error, size=size, position=position, unaligned_records=data
    )
    topic = FetchSnapshotResponseTopic(name=METADATA_PARTITION.topic, partitions=[partition])
    return FetchSnapshotResponse(topics=[topic])
