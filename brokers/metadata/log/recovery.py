"""Reads the metadata on the disk: quorum state, newest snapshot, log, and the voters by the log's control records.

The first three are read in any order. Then the log is scanned for control records, since a member of the quorum has to
use the newest voter set in its log, committed or not, before it sends anything.
"""

from brokers.effects import LoadState, OpenLog, ReadRange, StorageEffect
from brokers.events import LogOpened, RangeRead, StateLoaded
from brokers.ids import METADATA_PARTITION, BrokerId, Buffer, Offset, Ticket
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
SCAN_TICKET: Ticket = -1  # at most one such read is in flight, and no other of this log


class MetadataRecovery:
    """Collects what is read. A node that opens its log again has an image, and replaces it only by a newer one."""

    def __init__(self, image: Image, voters: VoterSet, *, wants_image: bool) -> None:
        self.image = image
        self.voters = VoterSetHistory(voters)
        self.snapshot = NOTHING
        self._wants_image = wants_image
        self._log: Log | None = None
        self._stored_high_watermark: Offset = 0
        self._loaded: dict[str, Buffer | None] = {}
        self._position: Offset | None = None  # up to which the log has been scanned

    def begin(self) -> list[StorageEffect]:
        """Opens the log with sync: this member reports its log end offset, so everything below has to be durable."""
        return [
            LoadState(STATE_NAME),
            LoadState(VOTER_NAME),
            LoadState(POINTER_NAME),
            OpenLog(METADATA_PARTITION, METADATA_TOPIC_ID.bytes, sync=True),
        ]

    def on_event(self, event: LogOpened | StateLoaded | RangeRead) -> list[StorageEffect]:
        """The result of one read -> further reads. Raises MetadataLogError for damaged or missing data."""
        match event:
            case LogOpened():
                self._log = Log.of(METADATA_PARTITION, event.log)
                self._stored_high_watermark = event.log.stored_high_watermark
            case StateLoaded(name, data):
                self._loaded[name] = data
                if name == POINTER_NAME and data is not None:
                    return self._load_snapshot(bytes(data).decode(errors="replace"))
                if name == self.snapshot.file_name and self.snapshot != NOTHING:
                    self._restore(name, data)
            case RangeRead():
                self._scan(event.data)
        return self._read_on() if self._is_loaded else []

    @property
    def is_complete(self) -> bool:
        return self._log is not None and self._position == self._log.log_end_offset

    @property
    def log(self) -> Log:
        """Once `is_complete`."""
        assert self._log is not None
        return self._log

    @property
    def missing(self) -> tuple[Offset, Offset]:
        """Once `is_complete`: where what is here ends, and the offset below which all was committed; the same where
        nothing is missing. What is missing was damaged: a log that is opened ends before its first damaged batch.
        """
        end = max(self.log.log_end_offset, self.snapshot.end_offset)
        return end, max(end, self._stored_high_watermark)

    def check_nothing_is_lost(self, node_id: BrokerId) -> None:
        """Another voter sends again what is missing here. Where there is none it would be lost without a word, and the
        data of the topics in it be removed: raises MetadataLogError.
        """
        end, committed = self.missing
        if committed > end and self.voters.latest.ids == (node_id,):
            raise MetadataLogError(
                f"the metadata log is damaged: it ends at {end}, {committed} was committed, and no other voter has it."
                " Restore a backup (`causeway region metadata restore`), or begin with what is left"
                " (`causeway region metadata recover`)"
            )

    @property
    def quorum_state(self) -> ElectionState:
        """Once `is_complete`. Raises MetadataLogError for a damaged file."""
        data = self._loaded[STATE_NAME]
        return ElectionState() if data is None else ElectionState.decode(data)

    @property
    def was_voter(self) -> bool:
        """Once `is_complete`: whether this disk has been a voter's."""
        return self._loaded[VOTER_NAME] is not None

    @property
    def _is_loaded(self) -> bool:
        wanted = {STATE_NAME, VOTER_NAME, POINTER_NAME}
        if self.snapshot != NOTHING:
            wanted.add(self.snapshot.file_name)
        return self._log is not None and wanted <= self._loaded.keys()

    # --- the snapshot ---

    def _load_snapshot(self, name: str) -> list[StorageEffect]:
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

    def _read_on(self) -> list[StorageEffect]:
        log = self.log
        if self._position is None:
            self._position = min(self._start(log, self.snapshot), log.log_end_offset)
        if self.is_complete:
            return []
        return [
            ReadRange(
                SCAN_TICKET,
                METADATA_PARTITION,
                self._position,
                log.log_end_offset,
                READ_BYTES,
                at_least_one=True,
            )
        ]

    def _start(self, log: Log, found: SnapshotId) -> Offset:
        """Where the scan begins. A log that ends before its snapshot is restarted at the snapshot's end offset."""
        start, end = log.log_start_offset, log.log_end_offset
        if start > found.end_offset:
            raise MetadataLogError(
                f"the metadata log holds {start} to {end}, but offset {found.end_offset}"
                " comes next: a snapshot or a part of the log is missing"
            )
        return found.end_offset

    def _scan(self, data: Buffer) -> None:
        assert self._position is not None
        view, at = memoryview(data), self._position
        try:
            for start, header in iter_headers(view):
                if header.is_control and header.base_offset >= at:
                    batch = view[start : start + header.length]
                    self.voters.add_records(header.base_offset, control_messages(batch))
                self._position = header.next_offset
        except BatchError as error:
            raise MetadataLogError(f"a metadata batch cannot be read: {error.because}") from None
        if self._position == at:
            raise MetadataLogError(f"the metadata log has nothing at {at}")
