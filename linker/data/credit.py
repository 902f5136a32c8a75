"""Sending frames on one stream, the credit that limits the source's chunks, and what all its streams may hold."""

from typing import Final

from brokers.ids import Instant
from linker.data.byte_rate import ByteRate
from linker.data.round_trips import CHUNKS_BEYOND, RoundTrips
from linker.events import Send, Stream
from linker.frames import CHUNK_BYTES_MIN, Credit, Frame
from linker.window_budget import WindowBudget

CREDIT_STEPS: Final = 8  # a new grant is sent when 1/8 of the window has been released
CREDIT_BYTES_MAX: Final = 4 << 20  # or so much
TOO_LARGE_MS: Final = 10_000  # for so long before a window becomes smaller


class StreamSender:
    """`stream` is None while no stream is open; frames sent then are dropped."""

    def __init__(self, stream: Stream | None = None) -> None:
        self.stream = stream

    def send(self, *frames: Frame) -> list[Send]:
        return [Send(self.stream, frame) for frame in frames] if self.stream is not None else []


class CreditWindow:
    """The bytes of chunks in flight on one stream: a chunk takes its size until it is placed or dropped.

    With a budget it grows to twice what a round trip carries: so the network limits the stream, or this node, and not
    the window. It never has less than it began with.
    """

    def __init__(
        self,
        sender: StreamSender,
        capacity_bytes: int,
        rate: ByteRate | None = None,
        budget: WindowBudget | None = None,
        round_trip_ms: int = 0,
    ) -> None:
        """`round_trip_ms`: how long an answer took on this stream. `budget`: what windows may grow by."""
        if rate is not None and rate.limit:
            # What is granted at first comes at once, so it is a second's worth at most.
            capacity_bytes, budget = min(capacity_bytes, max(rate.limit, CHUNK_BYTES_MIN)), None
        self._sender = sender
        self._rate = rate
        self._budget = budget
        self._rounds = RoundTrips(round_trip_ms)
        self._stream = sender.stream
        self.capacity_bytes = capacity_bytes
        self._grown_bytes = 0  # of the budget
        self._excess_bytes = 0  # of those, what is given back as it comes
        self._too_large_since: Instant | None = None
        self._granted_bytes = capacity_bytes
        self._released_bytes = 0
        self._arrived_bytes = self._largest_bytes = 0
        self._waiting_bytes = 0  # to be placed

    def open(self, now: Instant) -> list[Send]:
        self._rounds.opened(self._granted_bytes, now)
        return self._sender.send(Credit(self._granted_bytes))

    def admits(self, size: int) -> bool:
        """A chunk has come. False where the source has sent more than it may, and as much as it may read at once."""
        self._arrived_bytes += size
        self._waiting_bytes += size
        self._largest_bytes = max(self._largest_bytes, size)
        return self._arrived_bytes <= self._granted_bytes + CHUNKS_BEYOND * self._largest_bytes

    def close(self) -> None:
        """Nothing comes any more."""
        if self._budget is not None:
            self._budget.give_back(self._grown_bytes)
        self._budget, self._grown_bytes, self._excess_bytes = None, 0, 0

    def placed(self, size: int, now: Instant) -> list[Send]:
        """`size` bytes are in the log."""
        if self._budget is not None:
            is_last = self._waiting_bytes <= size
            carried = self._rounds.carries(size, self._granted_bytes, now, is_last=is_last)
            if carried is not None:
                self._resize(2 * carried, self._budget, now)
        return self.release(size)

    def _resize(self, wanted_bytes: int, budget: WindowBudget, now: Instant) -> None:
        if wanted_bytes >= self.capacity_bytes // 2:
            self._too_large_since = None
        elif self._too_large_since is None:
            self._too_large_since = now - self._rounds.lasted_ms
        if wanted_bytes > self.capacity_bytes:
            self._grow(wanted_bytes - self.capacity_bytes, budget)
        elif self._too_large_since is not None and now - self._too_large_since >= TOO_LARGE_MS:
            kept = self._grown_bytes - self._excess_bytes
            excess = min(kept, self.capacity_bytes - wanted_bytes)
            self._excess_bytes += excess
            self.capacity_bytes -= excess

    def _grow(self, size: int, budget: WindowBudget) -> None:
        again = min(size, self._excess_bytes)
        taken = budget.take(size - again)
        self._excess_bytes -= again
        self._grown_bytes += taken
        self.capacity_bytes += again + taken
        self._released_bytes += taken

    def release(self, size: int) -> list[Send]:
        """`size` bytes are no longer in flight."""
        self._waiting_bytes -= size
        self._released_bytes += size - self._keep(size)
        if self._released_bytes < min(self.capacity_bytes // CREDIT_STEPS, CREDIT_BYTES_MAX):
            return []
        released, self._released_bytes = self._released_bytes, 0
        if self._rate is None or not self._rate.limit:
            return self._grant(released)
        self._rate.defer(released, lambda: [*self._grant(released)])
        return []

    def _keep(self, size: int) -> int:
        """What of it is not granted again, because the window is to be smaller."""
        kept = min(size, self._excess_bytes)
        if kept and self._budget is not None:
            self._budget.give_back(kept)
            self._grown_bytes -= kept
            self._excess_bytes -= kept
        return kept

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
