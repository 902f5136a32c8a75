"""A connection's receive buffer: bytes come in, whole frames come out as views, nothing is copied on.

The buffer grows only when it is full of bytes that have arrived, so a length that is announced and never sent costs
nothing. While frames are being answered their bytes stay where they are: what arrives goes behind them, or, once the
buffer is full, into another one.
"""

from collections import deque
from struct import Struct

from brokers.wire.primitives import WireError

SIZE_START = 16 * 1024
# At the start of a frame its length is unknown: reading at most this much ahead bounds what is moved later.
READ_AHEAD = 64 * 1024
SIZE_KEPT = 256 * 1024

_LENGTH = Struct(">i")
_PREFIX = 4


class _Behind:
    """A full buffer that holds frames in hand."""

    __slots__ = ("buffer", "frames")

    def __init__(self, buffer: memoryview, frames: int) -> None:
        self.buffer = buffer
        self.frames = frames


class RequestBuffer:
    """`room` to write into, `received` n bytes, `frame` while there is a whole one, `done` with the oldest of them."""

    def __init__(self, frame_bytes_max: int) -> None:
        self._needed_max = _PREFIX + frame_bytes_max
        self._buffer = memoryview(bytearray(SIZE_START))
        self._start = 0  # of the first frame
        self._end = 0  # of what has arrived
        self._taken = 0  # of the frames in hand that lie in this buffer, prefixes included
        self._lengths: deque[int] = deque()  # of all frames in hand, the oldest first
        self._behind: deque[_Behind] = deque()
        self._spare: memoryview | None = None
        self.held_bytes = 0

    @property
    def holds_more(self) -> bool:
        """Whether bytes of a further frame have arrived."""
        return self._start + self._taken < self._end

    @property
    def is_full(self) -> bool:
        """Whether reading on takes more memory."""
        return self._end == len(self._buffer)

    def room(self) -> memoryview:
        """Where the next bytes go; never empty."""
        if self._taken:
            if self._end < len(self._buffer):
                return self._buffer[self._end :]
            self._leave_behind()
        needed = self._needed()
        size = len(self._buffer)
        is_crowded = self._end == size < READ_AHEAD
        if self._start and self._start + needed > size:
            self._move_to_front()
        # A client that fills a small buffer has more to say: requests that arrive together are answered together.
        if is_crowded or self._end == size:
            self._grow(needed)
            size = len(self._buffer)
        if needed > READ_AHEAD:
            size = min(size, self._start + needed)  # a big frame is read to its end, not beyond
        elif size - self._end > READ_AHEAD:
            size = self._end + READ_AHEAD
        return self._buffer[self._end : size]

    def received(self, size: int) -> None:
        self._end += size

    def frame(self) -> memoryview | None:
        """The next whole frame without its length prefix; WireError for an illegal length."""
        start, end = self._start + self._taken, self._end
        if end - start < _PREFIX:
            return None
        needed = _PREFIX + _LENGTH.unpack_from(self._buffer, start)[0]
        if not _PREFIX <= needed <= self._needed_max:
            raise self._illegal(needed - _PREFIX)
        if end - start < needed:
            return None
        self._taken += needed
        self._lengths.append(needed)
        self.held_bytes += needed
        return self._buffer[start + _PREFIX : start + needed]

    def done(self) -> None:
        """The oldest frame in hand has been answered; its bytes may be overwritten."""
        length = self._lengths.popleft()
        self.held_bytes -= length
        if self._behind:
            self._done_behind()
            return
        self._start += length
        self._taken -= length
        if self._start == self._end:
            self._start = self._end = 0

    def _done_behind(self) -> None:
        oldest = self._behind[0]
        oldest.frames -= 1
        if not oldest.frames:
            self._spare = self._behind.popleft().buffer

    def shrink(self) -> None:
        """Let go of a big buffer that holds nothing."""
        if self._lengths:
            return
        self._spare = None
        if self._start == self._end and len(self._buffer) > SIZE_KEPT:
            self._buffer = memoryview(bytearray(SIZE_START))
            self._start = self._end = 0

    def _needed(self) -> int:
        """Bytes of the first frame, prefix included; the prefix alone while that has not arrived."""
        if self._end - self._start < _PREFIX:
            return _PREFIX
        needed: int = _PREFIX + _LENGTH.unpack_from(self._buffer, self._start)[0]
        if not _PREFIX <= needed <= self._needed_max:
            raise self._illegal(needed - _PREFIX)
        return needed

    def _illegal(self, length: int) -> WireError:
        allowed = self._needed_max - _PREFIX
        return WireError(f"a frame of {length} bytes; socket.request.max.bytes is {allowed}")

    def _move_to_front(self) -> None:
        size = self._end - self._start
        self._buffer[:size] = self._buffer[self._start : self._end]
        self._start, self._end = 0, size

    def _leave_behind(self) -> None:
        """Go on in another buffer, with what follows the frames in hand; a small one is followed by one of twice its
        size.
        """
        rest = self._buffer[self._start + self._taken : self._end]
        size = max(len(self._buffer), min(2 * len(self._buffer), READ_AHEAD))
        fresh, self._spare = self._spare, None
        if fresh is None or len(fresh) < size:
            fresh = memoryview(bytearray(size))
        fresh[: len(rest)] = rest
        here = len(self._lengths) - sum(each.frames for each in self._behind)
        self._behind.append(_Behind(self._buffer, here))
        self._buffer = fresh
        self._start, self._end, self._taken = 0, len(rest), 0

    def _grow(self, needed: int) -> None:
        """Twice the size, or the frame's where that is less: what is allocated has at least half arrived."""
        size = max(min(needed, 2 * len(self._buffer)), len(self._buffer) + READ_AHEAD)
        grown = memoryview(bytearray(size))
        grown[: self._end] = self._buffer[: self._end]
        self._buffer = grown
