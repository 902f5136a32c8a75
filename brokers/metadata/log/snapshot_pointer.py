"""When a snapshot is due, and which snapshot is current: one of this node, or one from the leader.

Kafka finds its newest snapshot by listing the folder; here a pointer file names it. The pointer is written once the
snapshot is durable. Only then the log is trimmed and the previous snapshot removed: a crash in between leaves one file
too many.
"""

from dataclasses import dataclass

from brokers.effects import SaveState, StorageEffect
from brokers.ids import METADATA_PARTITION, Buffer, Instant
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.quorum.ids import SnapshotId
from brokers.quorum.voters import VoterSet

POINTER_NAME = f"{METADATA_PARTITION}/latest-checkpoint"
NOTHING = SnapshotId(0, 0)


@dataclass(frozen=True, slots=True)
class SavedSnapshot:
    """A snapshot is durable and current. `before` is the previous one; `data` is set for one from the leader."""

    id: SnapshotId
    before: SnapshotId
    data: Buffer | None


class SnapshotPointer:
    """Counts the log's bytes since the last snapshot, and saves one snapshot at a time."""

    def __init__(self, bytes_between: int) -> None:
        self._bytes_between = bytes_between
        self._bytes_since = 0
        self._current = NOTHING
        self._saving: SnapshotId | None = None
        self._arrived: Buffer | None = None  # the data being saved, where it came from the leader

    @property
    def current(self) -> SnapshotId:
        """The newest durable snapshot; (0, 0) where there is none."""
        return self._current

    def found(self, current: SnapshotId) -> None:
        """The pointer file names this snapshot."""
        self._current = current

    def appended(self, size: int) -> None:
        """`size` bytes were appended to the log, which no snapshot holds."""
        self._bytes_since += size

    @property
    def is_saving(self) -> bool:
        return self._saving is not None

    @property
    def is_due(self) -> bool:
        return not self.is_saving and self._bytes_since >= self._bytes_between

    def begin(
        self, image: Image, taken: SnapshotId, voters: VoterSet | None, now: Instant
    ) -> list[StorageEffect]:
        """Writes `image` and the voters as of it; no effects if a snapshot is being saved or is at least as new."""
        if self.is_saving or taken.end_offset <= self._current.end_offset:
            return []
        return self._save(taken, snapshot.encode(image, taken.leader_epoch, now, voters=voters))

    def keep(self, arrived: SnapshotId, data: Buffer) -> list[StorageEffect]:
        """Writes a snapshot from the leader."""
        assert not self.is_saving
        self._arrived = data
        return self._save(arrived, data)

    def _save(self, taken: SnapshotId, data: Buffer) -> list[StorageEffect]:
        self._saving, self._bytes_since = taken, 0
        return [SaveState(taken.file_name, data)]

    def saved(self, name: str) -> tuple[list[StorageEffect], SavedSnapshot | None]:
        """A file is durable -> further effects, and the snapshot that has become current."""
        if self._saving is None or name not in (self._saving.file_name, POINTER_NAME):
            return [], None
        if name == self._saving.file_name:
            return [SaveState(POINTER_NAME, name.encode())], None
        kept = SavedSnapshot(self._saving, self._current, self._arrived)
        self._current, self._saving, self._arrived = self._saving, None, None
        effects: list[StorageEffect] = []
        if kept.before != NOTHING:
            effects.append(SaveState(kept.before.file_name, None))
        return effects, kept

    def on_disk_failed(self) -> None:
        """The disk failed: a snapshot that was being saved is due again."""
        if self.is_saving:
            self._saving, self._arrived, self._bytes_since = None, None, self._bytes_between
