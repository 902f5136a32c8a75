"""A connection's receive buffer: bytes come in, whole frames come out as views, nothing is copied on.

The buffer grows only when it is full of bytes that have arrived, so a length that is announced and never sent costs
nothing. While a frame is being answered its bytes stay where they are.
"""

from struct import Struct

from brokers.wire.primitives import WireError

SIZE_START = 16 * 1024
# At the start of a frame its length is unknown: reading at most this much ahead bounds what is moved later.
READ_AHEAD = 64 * 1024
SIZE_KEPT = 256 * 1024

_LENGTH = Struct(">i")
_PREFIX = 4


class Inbox:
    """`room` to write into, `received` n bytes, `frame` while there is a whole one, `done` with it."""

    def __init__(self, frame_bytes_max: int) -> None:
        self._needed_max = _PREFIX + frame_bytes_max
        self._buffer = memoryview(bytearray(SIZE_START))
        self._start = 0  # of the first frame
        self._end = 0  # of what has arrived
        self._taken = 0  # length of the frame in hand, prefix included

    @property
    def holds_more(self) -> bool:
        """Whether bytes of a further frame have arrived."""
        return self._start + self._taken < self._end

    def has_room(self, *, held: bool) -> bool:
        """Whether more can be read; while a frame is `held` nothing may be moved to make room."""
        return not held or self._end < len(self._buffer)

    def room(self) -> memoryview:
        """Where the next bytes go; never empty unless a frame is held and the buffer is full."""
        if self._taken:
            return self._buffer[self._end :]
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
        start, end = self._start, self._end
        if end - start < _PREFIX:
            return None
        needed = _PREFIX + _LENGTH.unpack_from(self._buffer, start)[0]
        if not _PREFIX <= needed <= self._needed_max:
            raise self._illegal(needed - _PREFIX)
        if end - start < needed:
            return None
        self._taken = needed
        return self._buffer[start + _PREFIX : start + needed]

    def done(self) -> None:
        """The frame in hand has been answered; its bytes may be overwritten."""
        self._start += self._taken
        self._taken = 0
        if self._start == self._end:
            self._start = self._end = 0

    def shrink(self) -> None:
        """Let go of a big buffer that holds nothing."""
        if self._start == self._end and not self._taken and len(self._buffer) > SIZE_KEPT:
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

    def _grow(self, needed: int) -> None:
        """Twice the size, or the frame's where that is less: what is allocated has at least half arrived."""
        size = max(min(needed, 2 * len(self._buffer)), len(self._buffer) + READ_AHEAD)
        grown = memoryview(bytearray(size))
        grown[: self._end] = self._buffer[: self._end]
        self._buffer = grown
