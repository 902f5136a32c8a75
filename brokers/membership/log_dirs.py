"""This broker's own log directories: which of them are well, and what lies where. Nothing here decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from brokers.ids import MIGRATING_DIRECTORY, Offset, TopicPartition


@dataclass(slots=True)
class OwnDirectory:
    """One of `log.dirs`, by its absolute path. `id` None: it could not be opened, so nobody knows which one it was.

    `failure` says why it is offline; empty while it is well.
    """

    path: str
    id: UUID | None
    failure: str = ""


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

    @property
    def online(self) -> tuple[UUID, ...]:
        """Those that are well, in the order of `log.dirs`."""
        return tuple(each.id for each in self.all if each.id is not None and not each.failure)

    @property
    def offline(self) -> tuple[UUID, ...]:
        """Those that failed since they were opened."""
        return tuple(each.id for each in self.all if each.id is not None and each.failure)

    def home(self, partition: TopicPartition) -> UUID | None:
        """Where its log lies; a node with one directory need not have been told."""
        return self.homes.get(partition, self.all[0].id if len(self.all) == 1 else None)

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
