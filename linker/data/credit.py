"""Sending frames on one stream, the credit that limits the source's chunks, and what all its streams may hold."""

from linker.data.byte_rate import ByteRate
from linker.events import Send, Stream
from linker.frames import CHUNK_BYTES_MIN, Credit, Frame

CREDIT_STEPS = 8  # a new grant is sent when this fraction of the window (1/8) has been released


class StreamSender:
    """`stream` is None while no stream is open; frames sent then are dropped."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def send(self, *frames: Frame) -> list[Send]:
        return [Send(self.stream, frame) for frame in frames] if self.stream is not None else []


class CreditWindow:
    """The bytes of chunks in flight on one stream: a chunk takes its size until it is placed or dropped."""

    def __init__(
        self, sender: StreamSender, capacity_bytes: int, rate: ByteRate | None = None
    ) -> None:
        if rate is not None and rate.limit:
            # What is granted at first comes at once, so it is a second's worth at most.
            capacity_bytes = min(capacity_bytes, max(rate.limit, CHUNK_BYTES_MIN))
        self._sender = sender
        self._rate = rate
        self._stream = sender.stream
        self._capacity_bytes = capacity_bytes
        self._granted_bytes = capacity_bytes
        self._released_bytes = 0

    def open(self) -> list[Send]:
        return self._sender.send(Credit(self._granted_bytes))

    def release(self, size: int) -> list[Send]:
        """`size` bytes are no longer in flight."""
        self._released_bytes += size
        if self._released_bytes < self._capacity_bytes // CREDIT_STEPS:
            return []
        released, self._released_bytes = self._released_bytes, 0
        if self._rate is None or not self._rate.limit:
            return self._grant(released)
        self._rate.defer(released, lambda: [*self._grant(released)])
        return []

    def _grant(self, size: int) -> list[Send]:
        self._granted_bytes += size
        if self._sender.stream != self._stream:
            return []  # a later stream has a window of its own
        return self._sender.send(Credit(self._granted_bytes))


class SendBudget:
    """The bytes of chunks that this node reads or has not sent yet, of all streams together.

    Each stream may have one small chunk beyond the budget, so that peers that do not read never stop another.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self.held_bytes = 0

    def has_room(self, size: int) -> bool:
        return self.held_bytes + size <= self._bytes_max

    def take(self, size: int) -> None:
        self.held_bytes += size

    def give_back(self, size: int) -> None:
        self.held_bytes -= size
