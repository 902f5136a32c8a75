"""Names of members and of snapshots."""

from typing import NamedTuple
from uuid import UUID

from brokers.ids import METADATA_PARTITION, BrokerId, LeaderEpoch, Offset

NO_DIRECTORY = UUID(int=0)  # a member whose directory is not known
NOBODY: BrokerId = -1
# Nobody gets there by elections; who claims a later one is wrong, and would leave no epoch to elect the next leader in.
LEADER_EPOCH_MAX: LeaderEpoch = 2**31 - 1 - (1 << 20)
METADATA_TOPIC_ID = UUID(int=1)  # Kafka's


class ReplicaKey(NamedTuple):
    """A member, and the disk that it had: one that comes back with another disk is another member."""

    id: BrokerId
    directory: UUID = NO_DIRECTORY

    def __str__(self) -> str:
        return f"{self.id}" if self.directory == NO_DIRECTORY else f"{self.id} ({self.directory})"


class SnapshotId(NamedTuple):
    """A snapshot holds everything below `end_offset`; the last of it is of `leader_epoch`."""

    end_offset: Offset
    leader_epoch: LeaderEpoch

    @property
    def file_name(self) -> str:
        """Below the data directory. KIP-630."""
        return f"{METADATA_PARTITION}/{self.end_offset:020}-{self.leader_epoch:010}.checkpoint"


def snapshot_id(file_name: str) -> SnapshotId | None:
    """The other way; None for another kind of name."""
    stem = file_name.removeprefix(f"{METADATA_PARTITION}/").removesuffix(".checkpoint")
    end_offset, _, leader_epoch = stem.partition("-")
    if not (end_offset.isdigit() and leader_epoch.isdigit()):
        return None
    found = SnapshotId(int(end_offset), int(leader_epoch))
    return found if found.file_name == file_name else None
