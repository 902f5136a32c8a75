"""This broker's own log directories: which of them are well, and what lies where. Nothing here decides."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from brokers.config.disk_watermarks import NO_WATERMARKS, DiskLevel, Watermarks
from brokers.ids import MIGRATING_DIRECTORY, Offset, TopicPartition
from brokers.ports import Volume

NEAR_BYTES: Final = 2 << 30  # more than is written in a second


@dataclass(slots=True)
class OwnDirectory:
    """One of `log.dirs`, by its absolute path. `id` None: it could not be opened, so nobody knows which one it was.

    `failure` says why it is offline; empty while it is well. `volume` is its disk as last measured, less what producers
    wrote since; None: not measured yet.
    """

    path: str
    id: UUID | None
    failure: str = ""
    volume: Volume | None = None
    marks: Watermarks = NO_WATERMARKS
    level: DiskLevel = DiskLevel.ROOM

    def measured(self, volume: Volume | None, marks: Watermarks) -> None:
        """None: it can't be measured."""
        self.volume, self.marks = volume, marks
        self.level = (
            DiskLevel.ROOM if volume is None else marks.level(volume.usable_bytes, self.level)
        )

    def took(self, size: int) -> None:
        """Something was appended: a disk may fill within the time between two measurements."""
        if self.volume is not None:
            total, usable = self.volume
            self.measured(Volume(total, max(0, usable - size)), self.marks)

    @property
    def is_near(self) -> bool:
        """Whether a watermark may be passed before the next measurement: only then is counted what is appended."""
        return self.volume is not None and self.volume.usable_bytes < self.marks.warn + NEAR_BYTES

    @property
    def shortage(self) -> str:
        """How much is free, for who is refused; empty while producers are taken."""
        if self.level < DiskLevel.REFUSE or self.volume is None:
            return ""
        free, total = self.volume.usable_bytes, self.volume.total_bytes
        return f"the disk is nearly full: {free} of {total} bytes are free"


@dataclass(slots=True)
class Future:
    """Where a replica is moved to, and how much of it is there: everything below `next_offset`."""

    directory: UUID
    size: int = 0
    next_offset: Offset = 0


class OwnDirectories:
    """`homes` says in which directory the log of a partition was opened; `futures`, which are on the move; `preferred`,
    where those are to be begun that are not here yet.
    """

    def __init__(self, log_dirs: Sequence[OwnDirectory], metadata: UUID) -> None:
        """`metadata` is the directory of the metadata log, which need not be one of `log_dirs`."""
        self.all = tuple(log_dirs)
        self.metadata = metadata
        self.homes: dict[TopicPartition, UUID] = {}
        self.futures: dict[TopicPartition, Future] = {}
        self.preferred: dict[TopicPartition, UUID] = {}
        self.metadata_failure = ""
        self.near: dict[
            UUID, OwnDirectory
        ] = {}  # that may pass a watermark before it is measured again

    @property
    def online(self) -> tuple[UUID, ...]:
        """Those that are well, in the order of `log.dirs`."""
        return tuple(each.id for each in self.all if each.id is not None and not each.failure)

    @property
    def offline(self) -> tuple[UUID, ...]:
        """Those that failed since they were opened."""
        return tuple(each.id for each in self.all if each.id is not None and each.failure)

    @property
    def cordoned(self) -> tuple[UUID, ...]:
        """Those that are well and whose disks are nearly full: they get no new replicas."""
        return tuple(
            each.id
            for each in self.all
            if each.id is not None and not each.failure and each.level >= DiskLevel.REFUSE
        )

    def is_full(self, partition: TopicPartition, added: int = 0) -> bool:
        """Whether its log is not copied from its leader any more, so that something of its disk is left.

        `added` bytes were copied just now.
        """
        home = self._near_home(partition)
        if home is not None and added:
            home.took(added)
        return home is not None and home.level is DiskLevel.FULL

    def with_room(self) -> UUID | None:
        """The directory with the fewest logs among those that are not nearly full; None where that excludes none, or
        all.
        """
        cordoned = self.cordoned
        room = [each for each in self.online if each not in cordoned]
        if not cordoned or not room:
            return None
        counts = Counter(self.homes.values())
        return min(room, key=lambda each: counts[each])

    def home(self, partition: TopicPartition) -> UUID | None:
        """Where its log lies; a node with one directory need not have been told."""
        return self.homes.get(partition, self.all[0].id if len(self.all) == 1 else None)

    def shortage(self, partition: TopicPartition) -> str:
        """Why the disk of its log takes nothing from producers and links; empty while it does."""
        home = self._near_home(partition)
        return "" if home is None else home.shortage

    def took(self, partition: TopicPartition, size: int) -> None:
        """So many bytes were appended to its log."""
        home = self._near_home(partition)
        if home is not None:
            home.took(size)

    def _near_home(self, partition: TopicPartition) -> OwnDirectory | None:
        home = self.home(partition) if self.near else None
        return None if home is None else self.near.get(home)

    def measured(self, directory: OwnDirectory, volume: Volume | None, marks: Watermarks) -> None:
        """What is offline can't be measured, and refuses everything anyway."""
        directory.measured(None if directory.failure else volume, marks)
        assert directory.id is not None
        self.near.pop(directory.id, None)
        if directory.is_near:
            self.near[directory.id] = directory

    def own(self, directory: UUID) -> UUID:
        """The directory itself; where a node has one it need not be named."""
        if directory == MIGRATING_DIRECTORY and len(self.all) == 1:
            return self.all[0].id or directory
        return directory

    def is_online(self, directory: UUID) -> bool:
        return any(each.id == directory and not each.failure for each in self.all)

    def path(self, directory: UUID) -> str:
        return next((each.path for each in self.all if each.id == directory), "")

    def lie_in(self, directory: UUID) -> list[TopicPartition]:
        """The partitions whose logs were opened there."""
        return [partition for partition, home in self.homes.items() if home == directory]

    def fail(self, directory: UUID, reason: str) -> None:
        """It is offline for as long as this process lives."""
        for each in self.all:
            if each.id == directory:
                each.failure = reason
        if directory == self.metadata:
            self.metadata_failure = reason
