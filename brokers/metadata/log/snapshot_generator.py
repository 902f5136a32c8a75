"""Snapshots of this node's image, and snapshots from the leader: written, made current, then the log is trimmed."""

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
class ReceivedSnapshot:
    """A snapshot from the leader, decoded."""

    id: SnapshotId
    image: Image
    voters: VoterSet | None


class SnapshotGenerator:
    """Kafka's SnapshotGenerator; it also installs the leader's snapshots."""

    def __init__(self, pointer: SnapshotPointer) -> None:
        self._pointer = pointer
        self._arrived: ReceivedSnapshot | None = None  # being made durable

    def write(self, raft: RaftClient, image: Image, now: Instant) -> list[StorageEffect]:
        """Writes `image`, unless it is as old as the start of the log."""
        log = raft.log
        if log is None or raft.fetched_snapshot is not None:
            return []
        if not log.log_start_offset < image.next_offset <= log.log_end_offset:
            return []
        taken = SnapshotId(image.next_offset, log.epochs.epoch_at(image.next_offset - 1))
        voters = raft.voters.as_of(image.next_offset)
        return self._pointer.begin(image, taken, voters, now)

    def go_on(self, raft: RaftClient, image: Image, now: Instant) -> list[Effect]:
        """Saves a snapshot that has arrived from the leader; writes one of this node if that is due."""
        if raft.fetched_snapshot is not None and not self._pointer.is_saving:
            return self._keep(raft, *raft.fetched_snapshot, image.cluster_id, now)
        return [*self.write(raft, image, now)] if self._pointer.is_due else []

    def _keep(
        self, raft: RaftClient, arrived: SnapshotId, data: bytes, cluster_id: str, now: Instant
    ) -> list[Effect]:
        """Decodes the snapshot first: with a damaged one as the current snapshot this node could never start again."""
        try:
            image = snapshot.decode(data, cluster_id, arrived.end_offset)
            self._arrived = ReceivedSnapshot(arrived, image, snapshot.voters_in(data))
        except MetadataLogError as error:
            because = f"what the leader sends as {arrived.file_name} cannot be read ({error}): asking again"
            return [Changed("metadata log", "snapshot refused", because), *raft.reject(now)]
        return [*self._pointer.keep(arrived, data)]

    def saved(
        self, raft: RaftClient, name: str, *, is_alone: bool
    ) -> tuple[list[Effect], ReceivedSnapshot | None]:
        """A file is durable -> further effects, and the leader's snapshot that replaces the image, if there is one."""
        effects, kept = self._pointer.saved(name)
        if kept is None:
            return [*effects], None
        if kept.data is not None:
            arrived, self._arrived = self._arrived, None
            return [*effects], arrived
        raft.snapshot_taken(kept.id)
        # The log is kept from the previous snapshot on, for followers that lag a little; a lone node has none.
        trimmed = raft.trim((kept.id if is_alone else kept.before).end_offset)
        return [*trimmed, *effects], None
