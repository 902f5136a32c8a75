"""Replica keys and snapshot ids."""

from typing import NamedTuple
from uuid import UUID

from brokers.ids import METADATA_PARTITION, BrokerId, LeaderEpoch, Offset

NO_DIRECTORY = UUID(int=0)  # unknown
NO_NODE: BrokerId = -1
# Elections never reach this epoch. A request with a later one is refused: no epoch would be left for elections.
LEADER_EPOCH_MAX: LeaderEpoch = 2**31 - 1 - (1 << 20)
METADATA_TOPIC_ID = UUID(int=1)  # Kafka's


class ReplicaKey(NamedTuple):
    """A node id and the id of its directory: a node with another directory is another replica."""

    id: BrokerId
    directory: UUID = NO_DIRECTORY

    def __str__(self) -> str:
        return f"{self.id}" if self.directory == NO_DIRECTORY else f"{self.id} ({self.directory})"


class SnapshotId(NamedTuple):
    """A snapshot holds everything below `end_offset`; `leader_epoch` is the epoch of the record before it."""

    end_offset: Offset
    leader_epoch: LeaderEpoch

    @property
    def file_name(self) -> str:
        """Relative to the metadata log directory (KIP-630)."""
        return f"{METADATA_PARTITION}/{self.end_offset:020}-{self.leader_epoch:010}.checkpoint"


def snapshot_id(file_name: str) -> SnapshotId | None:
    """The inverse of `file_name`; None for other names."""
    stem = file_name.removeprefix(f"{METADATA_PARTITION}/").removesuffix(".checkpoint")
    end_offset, _, leader_epoch = stem.partition("-")
    if not (end_offset.isdigit() and leader_epoch.isdigit()):
        return None
    found = SnapshotId(int(end_offset), int(leader_epoch))
    return found if found.file_name == file_name else None
