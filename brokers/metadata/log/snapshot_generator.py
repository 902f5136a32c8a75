"""Snapshots of this node's image, and those that its leader sends: written, then named, then the log begins behind."""

from dataclasses import dataclass

from brokers.effects import Changed, Effect, StorageEffect
from brokers.ids import Instant
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.log.snapshot_pointer import SnapshotPointer
from brokers.quorum.ids import SnapshotId
from brokers.quorum.raft_client import RaftClient
from brokers.quorum.voters import VoterSet


@dataclass(frozen=True, slots=True)
class Arrived:
    """What a snapshot that came from the leader says."""

    id: SnapshotId
    image: Image
    voters: VoterSet | None


class SnapshotGenerator:
    def __init__(self, checkpoints: SnapshotPointer) -> None:
        self._checkpoints = checkpoints
        self._arrived: Arrived | None = None  # and is being made durable

    def write(self, raft: RaftClient, image: Image, now: Instant) -> list[StorageEffect]:
        """Write `image`, if it has anything that the log does without."""
        log = raft.log
        if log is None or raft.arrived is not None:
            return []
        if not log.log_start_offset < image.next_offset <= log.log_end_offset:
            return []
        taken = SnapshotId(image.next_offset, log.epochs.epoch_at(image.next_offset - 1))
        voters = raft.voters.as_of(image.next_offset)
        return self._checkpoints.begin(image, taken, voters, now)

    def go_on(self, raft: RaftClient, image: Image, now: Instant) -> list[Effect]:
        """What has arrived is kept; what is due is written."""
        if raft.arrived is not None and not self._checkpoints.is_saving:
            return self._keep(raft, *raft.arrived, image.cluster_id, now)
        return [*self.write(raft, image, now)] if self._checkpoints.is_due else []

    def _keep(
        self, raft: RaftClient, arrived: SnapshotId, data: bytes, cluster_id: str, now: Instant
    ) -> list[Effect]:
        """Read first: a damaged one that the disk names would keep every later life of this node from beginning."""
        try:
            image = snapshot.decode(data, cluster_id, arrived.end_offset)
            self._arrived = Arrived(arrived, image, snapshot.voters_in(data))
        except MetadataLogError as error:
            because = f"what the leader sends as {arrived.file_name} cannot be read ({error}): asking again"
            return [Changed("metadata log", "snapshot refused", because), *raft.refuse(now)]
        return [*self._checkpoints.keep(arrived, data)]

    def saved(
        self, raft: RaftClient, name: str, *, is_alone: bool
    ) -> tuple[list[Effect], Arrived | None]:
        """A file is durable -> what comes next, and what came from the leader and is to take the place of the image."""
        effects, kept = self._checkpoints.saved(name)
        if kept is None:
            return [*effects], None
        if kept.data is not None:
            arrived, self._arrived = self._arrived, None
            return [*effects], arrived
        raft.snapshot_taken(kept.id)
        # Who is a little behind finds what is missing in the log; where nobody else is, nobody is behind.
        trimmed = raft.trim((kept.id if is_alone else kept.before).end_offset)
        return [*trimmed, *effects], None
