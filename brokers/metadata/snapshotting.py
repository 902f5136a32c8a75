"""Snapshots of this node's image, and those that its leader sends: written, then named, then the log begins behind."""

from brokers.effects import Effect, StorageEffect
from brokers.ids import Instant
from brokers.metadata import snapshot
from brokers.metadata.checkpoints import Checkpoints, Kept
from brokers.metadata.image import Image
from brokers.quorum.ids import SnapshotId
from brokers.quorum.raft import RaftNode
from brokers.quorum.voters import VoterSet


class Snapshotting:
    def __init__(self, checkpoints: Checkpoints) -> None:
        self._checkpoints = checkpoints

    def write(self, raft: RaftNode, image: Image, now: Instant) -> list[StorageEffect]:
        """Write `image`, if it has anything that the log does without."""
        log = raft.log
        if log is None or raft.arrived is not None:
            return []
        if not log.log_start_offset < image.next_offset <= log.log_end_offset:
            return []
        taken = SnapshotId(image.next_offset, log.epochs.epoch_at(image.next_offset - 1))
        voters = raft.voters.as_of(image.next_offset)
        return self._checkpoints.begin(image, taken, voters, now)

    def go_on(self, raft: RaftNode, image: Image, now: Instant) -> list[StorageEffect]:
        """What has arrived is kept; what is due is written."""
        if raft.arrived is not None and not self._checkpoints.is_saving:
            return self._checkpoints.keep(*raft.arrived)
        return self.write(raft, image, now) if self._checkpoints.is_due else []

    def saved(
        self, raft: RaftNode, name: str, *, is_alone: bool
    ) -> tuple[list[Effect], Kept | None]:
        """A file is durable -> what comes next, and what came from the leader and is to take the place of the image."""
        effects, kept = self._checkpoints.saved(name)
        if kept is None or kept.data is not None:
            return [*effects], kept
        raft.snapshot_taken(kept.id)
        # Who is a little behind finds what is missing in the log; where nobody else is, nobody is behind.
        trimmed = raft.trim((kept.id if is_alone else kept.before).end_offset)
        return [*trimmed, *effects], None


def unpacked(kept: Kept, cluster_id: str) -> tuple[Image, VoterSet | None]:
    """What came from the leader. Raises `MetadataLogError` where it is damaged."""
    assert kept.data is not None
    image = snapshot.decode(kept.data, cluster_id, kept.id.end_offset)
    return image, snapshot.voters_in(kept.data)
