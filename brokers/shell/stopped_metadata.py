"""The metadata log of a node that does not run: read to its end, or replaced by a snapshot.

While it is open its directories are locked, so that neither the node nor another command uses them. A copy is read: the
opening of a log repairs it, and of a directory takes away what a clean shutdown left for the node's next start.
"""

import shutil
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from brokers.config.broker_config import BrokerConfig
from brokers.effects import ReadRange, SaveState, StorageEffect
from brokers.events import LogFailed, LogOpened, RangeRead, StateLoaded
from brokers.ids import METADATA_PARTITION, LeaderEpoch, Offset
from brokers.metadata.image import snapshot
from brokers.metadata.image.continuation import LEADER_EPOCHS, continuation
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_batches import read_batches
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.image.replay import replay
from brokers.metadata.log.quorum_config import first_voters, own_endpoints
from brokers.metadata.log.recovery import READ_BYTES, MetadataRecovery
from brokers.metadata.log.snapshot_pointer import NOTHING, POINTER_NAME
from brokers.quorum.election_state import STATE_NAME, ElectionState
from brokers.quorum.ids import SnapshotId
from brokers.quorum.voters import Voter, VoterSet
from brokers.shell.clock import Clock
from brokers.shell.files import DiskFiles
from brokers.shell.identity import Identity, claim
from brokers.storage.directories.checkpoint_files import HIGH_WATERMARKS
from brokers.storage.directories.state_files import save_state
from brokers.storage.directories.strays import partitions_in
from brokers.storage.storage import Storage
from brokers.wire.messages.metadata_records import NoOpRecord

NO_OP: Final = NoOpRecord.__name__


class StoppedMetadata:
    """`image` has every record of the log; those below `committed` are known to be committed, the others may be.

    `uncertain` counts those others by type, without those that change nothing. `missing`: offsets from the first to
    below the second were committed, and are damaged.
    """

    def __init__(self, config: BrokerConfig, identity: Identity) -> None:
        assert identity.metadata.id is not None
        self.config = config
        self.cluster_id = identity.cluster_id
        self.directory = identity.metadata.id
        self.path = identity.metadata.path
        self._log_dirs = [each.path for each in identity.log_dirs if not each.failure]
        self._files = DiskFiles(self.path)
        self.image = Image(self.cluster_id)
        self.voters = first_voters(config)
        self.snapshot = NOTHING
        self.committed: Offset = 0
        self.log_end_offset: Offset = 0
        self.leader_epoch: LeaderEpoch = 0
        self.uncertain: Counter[str] = Counter()
        self.missing: tuple[Offset, Offset] = (0, 0)

    # --- reading ---

    def read(self) -> None:
        """Raises MetadataLogError, DiskError or OSError for a log that cannot be read."""
        with TemporaryDirectory(prefix="causeway-") as copy:
            shutil.copytree(self._folder, Path(copy) / self._folder.name)
            marks = self.path / HIGH_WATERMARKS
            if marks.exists():
                shutil.copy(marks, copy)
            self._read(Storage(DiskFiles(Path(copy)), directory=self.directory))

    @property
    def _folder(self) -> Path:
        return self.path / str(METADATA_PARTITION)

    def _read(self, storage: Storage) -> None:
        recovery = MetadataRecovery(self.image, self.voters, wants_image=True)
        waiting = deque[StorageEffect](recovery.begin())
        while waiting:
            for event in _perform(storage, waiting.popleft()):
                if isinstance(event, LogOpened):
                    self.committed = event.log.high_watermark_checkpoint
                if isinstance(event, LogOpened | StateLoaded | RangeRead):
                    waiting.extend(recovery.on_event(event))
        self.image, self.snapshot = recovery.image, recovery.snapshot
        self.voters = recovery.voters.latest
        self.missing = recovery.missing
        self.committed = max(self.committed, self.snapshot.end_offset)
        self.log_end_offset = max(recovery.log.log_end_offset, self.snapshot.end_offset)
        self.leader_epoch = max(
            recovery.quorum_state.leader_epoch,
            recovery.log.epochs.latest,
            self.snapshot.leader_epoch,
        )
        self._replay(storage, recovery.log.log_end_offset)

    def _replay(self, storage: Storage, end: Offset) -> None:
        image = self.image
        image.next_offset = max(image.next_offset, self.snapshot.end_offset)
        while (position := image.next_offset) < end:
            read = ReadRange(-1, METADATA_PARTITION, position, end, READ_BYTES, at_least_one=True)
            for event in _perform(storage, read):
                assert isinstance(event, RangeRead)
                for header, messages in read_batches(event.data):
                    if header.next_offset <= image.next_offset:
                        continue
                    records = () if header.is_control else messages
                    if header.next_offset > self.committed:
                        kinds = (type(each).__name__ for each in records)
                        self.uncertain.update(kind for kind in kinds if kind != NO_OP)
                    replay(image, records, header.next_offset)
            if image.next_offset == position:
                raise MetadataLogError(f"the metadata log has nothing at {position}")

    def unknown_partitions(self, image: Image) -> list[str]:
        """Partitions whose data lie here and that this image does not have: a node with it removes them."""
        found = {
            str(partition)
            for path in self._log_dirs
            if path.is_dir()
            for partition in partitions_in(DiskFiles(path))
            if image.partition(partition) is None
        }
        return sorted(found)

    # --- replacing ---

    def replace(self, image: Image, leader_epoch: LeaderEpoch) -> SnapshotId:
        """The node begins with `image` as the only voter of its quorum; `leader_epoch` is that of the image's log.

        The log as it was is kept beside it. What makes the new one valid is written last, in one go.
        """
        after = continuation(image, max(self.log_end_offset, self.missing[1]))
        epoch = max(leader_epoch, self.leader_epoch) + LEADER_EPOCHS
        taken = SnapshotId(after.next_offset, epoch)
        voters = None if self.config.is_alone else self.only_voter()
        data = snapshot.encode(after, epoch, Clock().now(), voters=voters)
        self.keep()
        for name, content in (
            (taken.file_name, data),
            (STATE_NAME, ElectionState(leader_epoch=epoch).encode()),
            (POINTER_NAME, taken.file_name.encode()),
        ):
            save_state(self._files, SaveState(name, content))
        return taken

    def only_voter(self) -> VoterSet:
        return VoterSet(
            [Voter(self.config.node_id, self.directory, own_endpoints(self.config))],
        )

    @property
    def kept(self) -> Path:
        """Where the log as it was is kept. No node takes this for a partition's folder."""
        return self.path / f"__cluster_metadata.before.{self.log_end_offset}"

    def keep(self) -> None:
        if self._folder.is_dir():
            shutil.copytree(self._folder, self.kept, dirs_exist_ok=True)


def _perform(storage: Storage, effect: StorageEffect) -> Iterator[object]:
    for event in storage.perform(effect, Clock().now()):
        if isinstance(event, LogFailed):
            raise MetadataLogError(event.reason)
        yield event
    for partition in list(storage.unsynced):
        yield from storage.sync(partition)


def has_metadata(config: BrokerConfig) -> bool:
    """Whether there is a metadata log in the node's directories."""
    return (Path(config.metadata_directory) / str(METADATA_PARTITION)).is_dir()


@contextmanager
def stopped_metadata(config: BrokerConfig, *, is_trial: bool) -> Iterator[StoppedMetadata]:
    """Raises IdentityError where the node runs, or a directory is another's. New directories are made, but for a trial,
    which writes nothing.
    """
    identity = claim(config, is_trial=is_trial)
    try:
        found = StoppedMetadata(config, identity)
        if has_metadata(config):
            found.read()
        yield found
    finally:
        identity.release()
