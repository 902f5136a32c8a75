"""The receive buffer of a connection: bytes to whole frames, which are views of the buffer.

The buffer grows only when it is full of received bytes, so a length prefix whose frame never comes costs nothing. The
bytes of frames in hand, which are being answered, are not moved: later bytes are put after them, or, when the buffer is
full, into another one.
"""

from collections import deque
from struct import Struct

from brokers.wire.primitives import WireError

SIZE_START = 16 * 1024
# The length of the next frame is unknown: this limits the bytes of it that must be moved later.
READ_AHEAD = 64 * 1024
SIZE_KEPT = 256 * 1024

_LENGTH = Struct(">i")
_PREFIX = 4


class _Behind:
    """A full buffer, and the number of its frames in hand."""

    __slots__ = ("buffer", "frames")

    def __init__(self, buffer: memoryview, frames: int) -> None:
        self.buffer = buffer
        self.frames = frames


class RequestBuffer:
    """Bytes are written into `room` and counted by `received`. `frame` returns a frame; `done` ends the oldest."""

    def __init__(self, frame_bytes_max: int) -> None:
        self._needed_max = _PREFIX + frame_bytes_max
        self._buffer = memoryview(bytearray(SIZE_START))
        self._start = 0  # start of the first frame
        self._end = 0  # end of the received bytes
        self._taken = 0  # bytes of the frames in hand in this buffer, with prefixes
        self._lengths: deque[int] = deque()  # lengths of all frames in hand, the oldest first
        self._behind: deque[_Behind] = deque()
        self._spare: memoryview | None = None
        self.held_bytes = 0

    @property
    def holds_more(self) -> bool:
        """Whether bytes of a further frame have arrived."""
        return self._start + self._taken < self._end

    @property
    def missing_bytes(self) -> int:
        """Of the frame whose beginning has arrived; not above 0 without one."""
        start, end = self._start + self._taken, self._end
        if end - start < _PREFIX:
            return 0
        needed: int = _PREFIX + _LENGTH.unpack_from(self._buffer, start)[0]
        return needed - (end - start)

    @property
    def is_full(self) -> bool:
        """Whether the next bytes need more memory."""
        return self._end == len(self._buffer)

    def room(self) -> memoryview:
        """The buffer for the next bytes; never empty."""
        if self._taken:
            if self._end < len(self._buffer):
                return self._buffer[self._end :]
            self._leave_behind()
        needed = self._needed()
        size = len(self._buffer)
        is_crowded = self._end == size < READ_AHEAD
        if self._start and self._start + needed > size:
            self._move_to_front()
        # A client that fills a small buffer probably sends more: requests that arrive together are answered together.
        if is_crowded or self._end == size:
            self._grow(needed)
            size = len(self._buffer)
        if needed > READ_AHEAD:
            size = min(size, self._start + needed)  # a big frame is read alone
        elif size - self._end > READ_AHEAD:
            size = self._end + READ_AHEAD
        return self._buffer[self._end : size]

    def received(self, size: int) -> None:
        self._end += size

    def frame(self) -> memoryview | None:
        """The next whole frame without its length prefix; None without one. Raises WireError for an illegal length."""
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
        """Ends the oldest frame in hand: its bytes may be overwritten."""
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
        """Frees a big buffer that is empty."""
        if self._lengths:
            return
        self._spare = None
        if self._start == self._end and len(self._buffer) > SIZE_KEPT:
            self._buffer = memoryview(bytearray(SIZE_START))
            self._start = self._end = 0

    def _needed(self) -> int:
        """The size of the first frame with its prefix; that of the prefix until it has arrived."""
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
        """Moves the bytes after the frames in hand to another buffer, of twice the size if this one is small."""
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
        """Doubles the size, at most to that of the frame: half of the memory at least holds received bytes."""
        size = max(min(needed, 2 * len(self._buffer)), len(self._buffer) + READ_AHEAD)
        grown = memoryview(bytearray(size))
        grown[: self._end] = self._buffer[: self._end]
        self._buffer = grown
