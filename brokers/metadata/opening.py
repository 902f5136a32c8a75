"""What the disk holds of the metadata: quorum state, newest snapshot and log, in whatever order they come."""

from uuid import UUID

from brokers.effects import LoadState, OpenLog, StorageEffect
from brokers.events import LogOpened, StateLoaded
from brokers.ids import METADATA_PARTITION, Buffer
from brokers.log.log import Log
from brokers.metadata import snapshot
from brokers.metadata.checkpoints import POINTER_NAME
from brokers.metadata.image import Image
from brokers.metadata.quorum import STATE_NAME, QuorumState
from brokers.metadata.records import MetadataLogError

METADATA_TOPIC_ID = UUID(int=1)  # Kafka's


class Opening:
    """Collects. A node that opens its log anew has an image already, and wants no snapshot."""

    def __init__(self, image: Image, *, wants_snapshot: bool) -> None:
        self.image = image
        self.snapshot_name: str | None = None
        self._wants_snapshot = wants_snapshot
        self._log: Log | None = None
        self._loaded: dict[str, Buffer | None] = {}

    def begin(self) -> list[StorageEffect]:
        return [
            LoadState(STATE_NAME),
            LoadState(POINTER_NAME),
            OpenLog(METADATA_PARTITION, METADATA_TOPIC_ID.bytes),
        ]

    def take(self, event: LogOpened | StateLoaded) -> list[StorageEffect]:
        """One answer -> what else is needed. Raises `MetadataLogError` for a snapshot that cannot be read."""
        if isinstance(event, LogOpened):
            self._log = event.log
            return []
        self._loaded[event.name] = event.data
        if event.name == POINTER_NAME and event.data is not None and self._wants_snapshot:
            return self._ask_for_snapshot(bytes(event.data).decode(errors="replace"))
        if event.name == self.snapshot_name:
            self._restore(event.name, event.data)
        return []

    @property
    def is_complete(self) -> bool:
        wanted = {STATE_NAME, POINTER_NAME, self.snapshot_name or STATE_NAME}
        return self._log is not None and wanted <= self._loaded.keys()

    @property
    def log(self) -> Log:
        """Once complete. Raises `MetadataLogError` where the log does not continue the image."""
        assert self._log is not None
        start, end = self._log.log_start_offset, self._log.log_end_offset
        if not start <= self.image.next_offset <= end:
            raise MetadataLogError(
                f"the metadata log holds {start} to {end}, but offset {self.image.next_offset}"
                " comes next: a snapshot or a part of the log is missing"
            )
        return self._log

    @property
    def quorum_state(self) -> QuorumState:
        """Once complete. Raises `MetadataLogError` for a file that is not one."""
        data = self._loaded[STATE_NAME]
        return QuorumState() if data is None else QuorumState.decode(data)

    def _ask_for_snapshot(self, name: str) -> list[StorageEffect]:
        snapshot.end_offset(name)  # refuses what is no snapshot's name
        self.snapshot_name = name
        return [LoadState(name)]

    def _restore(self, name: str, data: Buffer | None) -> None:
        if data is None:
            raise MetadataLogError(f"snapshot {name} is missing")
        end_offset = snapshot.end_offset(name)
        self.image = snapshot.decode(data, self.image.cluster_id, end_offset)
