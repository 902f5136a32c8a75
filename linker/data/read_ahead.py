"""How far one stream of a source reads ahead of the network: a few chunks, within credit and the node's budget."""

from collections import deque
from typing import Final

from linker.data.credit import SendBudget
from linker.frames import CHUNK_BYTES_MIN

CHUNKS_AHEAD: Final = 4  # chunks that are being read or wait for the network, per stream


class ReadAhead:
    """Bytes of chunks, from when they are being read until the network has them.

    Always: the bytes sent exceed the credit by one chunk at most.
    """

    def __init__(self, budget: SendBudget, chunk_bytes: int) -> None:
        self._budget = budget
        self._chunk_bytes = chunk_bytes
        self._unsent: deque[int] = deque()  # the sizes of chunks that wait for the network
        self._ahead = 0
        self._granted_bytes = 0
        self._sent_bytes = self._reserved_bytes = 0

    def grant(self, granted_bytes: int) -> None:
        """In all on this stream."""
        self._granted_bytes = max(self._granted_bytes, granted_bytes)

    @property
    def may_read(self) -> bool:
        """Whether credit, the network and the budget allow another read."""
        return (
            self._ahead < CHUNKS_AHEAD
            and (self._ahead == 0 or self._budget.has_room(self._chunk_bytes))
            and self._sent_bytes + self._reserved_bytes < self._granted_bytes
        )

    def begin_read(self) -> int:
        """How many bytes it may have."""
        has_room = self._budget.has_room(self._chunk_bytes)
        size = self._chunk_bytes if has_room else CHUNK_BYTES_MIN
        self._ahead += 1
        self._reserved_bytes += size
        self._budget.take(size)
        return size

    def end_read(self, size: int) -> None:
        """What began with this size has been read."""
        self._ahead -= 1
        self._reserved_bytes -= size
        self._budget.give_back(size)

    def put(self, size: int) -> None:
        """A chunk waits for the network."""
        self._ahead += 1
        self._sent_bytes += size
        self._unsent.append(size)
        self._budget.take(size)

    def chunk_sent(self) -> None:
        """The oldest chunk has left."""
        self._ahead -= 1
        self._budget.give_back(self._unsent.popleft())

    def close(self) -> None:
        """The stream has ended: what it has of the budget is given back, whatever is under way."""
        self._budget.give_back(sum(self._unsent) + self._reserved_bytes)
        self._unsent.clear()
        self._reserved_bytes = 0
