"""What the disk holds of the metadata: quorum state, newest snapshot, log, and who votes by the records in it.

The first three come in whatever order; then the log is looked through for control records, since a member of the quorum
goes by the newest voters that it has, committed or not, before it says a word.
"""

from brokers.effects import LoadState, OpenLog, ReadRange, StorageEffect
from brokers.events import LogOpened, RangeRead, StateLoaded
from brokers.ids import METADATA_PARTITION, Buffer, Offset, Ticket
from brokers.log.log import Log
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.log.snapshot_pointer import NOTHING, POINTER_NAME
from brokers.quorum.control_records import control_messages
from brokers.quorum.election_state import STATE_NAME, VOTER_NAME, ElectionState
from brokers.quorum.ids import METADATA_TOPIC_ID, SnapshotId, snapshot_id
from brokers.quorum.voters import VoterSet, VoterSetHistory
from brokers.records.batch import BatchError, iter_headers

READ_BYTES = 4 << 20
LOOK_TICKET: Ticket = -1  # there is at most one such read, and nobody else reads this log meanwhile


class MetadataRecovery:
    """Collects. A node that opens its log anew has an image already, and replaces it only by a newer one."""

    def __init__(self, image: Image, voters: VoterSet, *, wants_image: bool) -> None:
        self.image = image
        self.voters = VoterSetHistory(voters)
        self.snapshot = NOTHING
        self._wants_image = wants_image
        self._log: Log | None = None
        self._loaded: dict[str, Buffer | None] = {}
        self._position: Offset | None = None  # up to where the log has been looked through

    def begin(self) -> list[StorageEffect]:
        """All that is in the log is on the disk once it is open: it is what this member says that it has."""
        return [
            LoadState(STATE_NAME),
            LoadState(VOTER_NAME),
            LoadState(POINTER_NAME),
            OpenLog(METADATA_PARTITION, METADATA_TOPIC_ID.bytes, sync=True),
        ]

    def take(self, event: LogOpened | StateLoaded | RangeRead) -> list[StorageEffect]:
        """One answer -> what else is needed. Raises `MetadataLogError` for what cannot be read."""
        match event:
            case LogOpened():
                self._log = event.log
            case StateLoaded(name, data):
                self._loaded[name] = data
                if name == POINTER_NAME and data is not None:
                    return self._ask_for_snapshot(bytes(data).decode(errors="replace"))
                if name == self.snapshot.file_name and self.snapshot != NOTHING:
                    self._restore(name, data)
            case RangeRead():
                self._look_through(event.data)
        return self._look_on() if self._is_loaded else []

    @property
    def is_complete(self) -> bool:
        return self._log is not None and self._position == self._log.log_end_offset

    @property
    def log(self) -> Log:
        """Once complete."""
        assert self._log is not None
        return self._log

    @property
    def quorum_state(self) -> ElectionState:
        """Once complete. Raises `MetadataLogError` for a file that is not one."""
        data = self._loaded[STATE_NAME]
        return ElectionState() if data is None else ElectionState.decode(data)

    @property
    def was_voter(self) -> bool:
        """Once complete: this disk has been a voter's."""
        return self._loaded[VOTER_NAME] is not None

    @property
    def _is_loaded(self) -> bool:
        wanted = {STATE_NAME, VOTER_NAME, POINTER_NAME}
        if self.snapshot != NOTHING:
            wanted.add(self.snapshot.file_name)
        return self._log is not None and wanted <= self._loaded.keys()

    # --- the snapshot ---

    def _ask_for_snapshot(self, name: str) -> list[StorageEffect]:
        found = snapshot_id(name)
        if found is None:
            raise MetadataLogError(f"{name!r} is not the name of a snapshot")
        self.snapshot = found
        return [LoadState(name)]

    def _restore(self, name: str, data: Buffer | None) -> None:
        if data is None:
            raise MetadataLogError(f"snapshot {name} is missing")
        if self._wants_image or self.snapshot.end_offset > self.image.next_offset:
            self.image = snapshot.decode(data, self.image.cluster_id, self.snapshot.end_offset)
        self.voters.restore(snapshot.voters_in(data))

    # --- the log ---

    def _look_on(self) -> list[StorageEffect]:
        log = self.log
        if self._position is None:
            self._position = min(self._start(log, self.snapshot), log.log_end_offset)
        if self.is_complete:
            return []
        return [
            ReadRange(
                LOOK_TICKET,
                METADATA_PARTITION,
                self._position,
                log.log_end_offset,
                READ_BYTES,
                at_least_one=True,
            )
        ]

    def _start(self, log: Log, found: SnapshotId) -> Offset:
        """A log that ends before its snapshot is begun anew behind it."""
        start, end = log.log_start_offset, log.log_end_offset
        if start > found.end_offset:
            raise MetadataLogError(
                f"the metadata log holds {start} to {end}, but offset {found.end_offset}"
                " comes next: a snapshot or a part of the log is missing"
            )
        return found.end_offset

    def _look_through(self, data: Buffer) -> None:
        assert self._position is not None
        view, at = memoryview(data), self._position
        try:
            for start, header in iter_headers(view):
                if header.is_control and header.base_offset >= at:
                    batch = view[start : start + header.length]
                    self.voters.note(header.base_offset, control_messages(batch))
                self._position = header.next_offset
        except BatchError as error:
            raise MetadataLogError(f"a metadata batch cannot be read: {error.because}") from None
        if self._position == at:
            raise MetadataLogError(f"the metadata log has nothing at {at}")
