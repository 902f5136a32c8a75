"""When the image is written as a snapshot, and which one counts.

Kafka finds its newest snapshot by listing the folder; here a pointer file names it. It is moved once the snapshot is
durable, and only then the log is trimmed and the last snapshot removed: a crash in between leaves a file too many.
"""

from brokers.effects import SaveState, StorageEffect
from brokers.ids import METADATA_PARTITION, Instant, LeaderEpoch, Offset
from brokers.metadata import snapshot
from brokers.metadata.image import Image

POINTER_NAME = f"{METADATA_PARTITION}/latest-checkpoint"


class Checkpoints:
    """Counts the bytes of the log since the last snapshot and carries one snapshot at a time through its steps."""

    def __init__(self, bytes_between: int) -> None:
        self._bytes_between = bytes_between
        self._bytes_since = 0
        self._current: str | None = None
        self._saving: str | None = None

    def found(self, name: str) -> None:
        """The pointer file names this snapshot."""
        self._current = name

    def appended(self, size: int) -> None:
        """The log has `size` more bytes that no snapshot holds."""
        self._bytes_since += size

    @property
    def is_due(self) -> bool:
        return self._saving is None and self._bytes_since >= self._bytes_between

    def begin(self, image: Image, leader_epoch: LeaderEpoch, now: Instant) -> list[StorageEffect]:
        """Write `image`, whose last record is of `leader_epoch`; nothing if that has been done or is being done."""
        name = snapshot.name(image.next_offset, leader_epoch)
        if self._saving is not None or name == self._current:
            return []
        self._saving, self._bytes_since = name, 0
        return [SaveState(name, snapshot.encode(image, leader_epoch, now))]

    def saved(self, name: str) -> tuple[list[StorageEffect], Offset | None]:
        """A file is durable -> what comes next, and the offset to which the log may be trimmed now."""
        if self._saving is None or name not in (self._saving, POINTER_NAME):
            return [], None
        if name == self._saving:
            return [SaveState(POINTER_NAME, name.encode())], None
        old, self._current, self._saving = self._current, self._saving, None
        effects: list[StorageEffect] = [] if old is None else [SaveState(old, None)]
        return effects, snapshot.end_offset(self._current)

    def given_up(self) -> None:
        """The disk refused; what was under way is forgotten and due again."""
        if self._saving is not None:
            self._saving, self._bytes_since = None, self._bytes_between
