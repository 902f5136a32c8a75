"""One replica of a partition, wherever its bytes are: what an audit asks of it to plan its work."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from federation.audit.segments.batches import Part
from federation.audit.segments.compaction import Compaction


class Position(NamedTuple):
    """A place between two batches: segment number, byte in it, offset that the next batch may start at.

    In a replica that is read by Fetch, `byte` is the offset from which it is fetched.
    """

    segment: int
    byte: int
    offset: int


class FetchRange(NamedTuple):
    """Offsets [from_offset, to_offset) of a replica on a live broker (`address`: host:port), about `size` bytes.

    Batches may not start below `floor`: a log may start in the middle of a batch.
    """

    address: str
    node: str
    topic: str
    partition: int
    from_offset: int
    to_offset: int
    floor: int
    size: int


class Stretch(NamedTuple):
    """What lies between two positions: parts of files, or what is to be fetched."""

    parts: tuple[Part, ...] = ()
    fetched: FetchRange | None = None

    @property
    def size(self) -> int:
        """Bytes; an estimate where they are to be fetched."""
        files = sum(part.stop - part.start for part in self.parts)
        return files + (self.fetched.size if self.fetched is not None else 0)


class ReadableReplica(Protocol):
    """`end_offset` is the next offset after the last whole batch, `newest_ms` that batch's largest timestamp (ms since
    the Unix epoch). `node_id` is -1 where nobody says it, `folder` is empty where there are no files. Methods raise
    OSError."""

    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def node(self) -> str: ...
    @property
    def node_id(self) -> int: ...
    @property
    def folder(self) -> str: ...
    @property
    def is_crashed(self) -> bool:
        """Whether its files are as a crash left them: the node recovers them when it starts."""

    @property
    def first_offset(self) -> int: ...
    @property
    def end_offset(self) -> int: ...
    @property
    def newest_ms(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def lost(self) -> Sequence[tuple[int, int]]: ...
    @property
    def compaction(self) -> Compaction | None:
        """What it lacked because of compaction when it was found; None: nobody says it."""

    @property
    def is_empty(self) -> bool: ...
    @property
    def end(self) -> Position:
        """The place after everything."""
        ...

    def compaction_now(self) -> Compaction | None:
        """What it lacks by now."""
        ...

    def end_now(self) -> int:
        """Where the log ends by now."""
        ...

    def boundaries(self, start: int, stop: int, step: int) -> list[int]:
        """Offsets in (start, stop) between which are about `step` bytes at most, as far as it is cheap to tell."""
        ...

    def first_at(self, offset: int, *, is_stop: bool = False) -> Position | None:
        """The place before the first batch at or above `offset`; None where no batch ends cleanly there.

        What follows there is no batch only if `is_stop` allows it: nothing is read beyond.
        """
        ...

    def first_covering(self, offset: int) -> Position:
        """The place before the batch that holds `offset`, or the first above it."""
        ...

    def stretch(self, start: Position, stop: Position) -> Stretch: ...

    def batch_at(self, position: Position) -> bytes:
        """The batch that stands there, as long as its header says; less at the end."""
        ...

    def newest_below(self, start: int, stop: int, before_ms: int) -> int:
        """The first offset in [start, stop) whose batch has a timestamp at or after `before_ms`; `stop` if none has."""
        ...
