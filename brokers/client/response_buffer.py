"""The receive buffer of a client connection: received bytes to whole frames, each in memory of its own.

The receiver may keep a frame, unlike one of `brokers.shell.request_buffer`, which is valid until it is answered. Small
frames are copied out of a scratch buffer that is reused; a big one is received in memory that nobody else refers to.
"""

from collections.abc import Iterator
from struct import Struct

from brokers.client.frame_memory import FrameMemory
from brokers.wire.primitives import WireError

SCRATCH_BYTES = 64 * 1024
# The other end may be no broker, or hostile: a length without its bytes allocates at most this.
AHEAD_BYTES = 16 << 20

_LENGTH = Struct(">i")
_PREFIX = 4


class ResponseBuffer:
    """Bytes are written into `room` and counted by `received`; `frames` yields whole frames without length prefix.

    `frames` must be read to its end before the next `room`.
    """

    def __init__(self, frame_bytes_max: int) -> None:
        self._frame_bytes_max = frame_bytes_max
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))
        self._end = 0  # end of the received bytes in the scratch buffer
        self._big = memoryview(b"")  # a frame that is being received
        self._big_bytes = 0  # its length, 0 while there is none
        self._filled = 0
        self._memory = FrameMemory()

    @property
    def missing_bytes(self) -> int:
        """Of a big frame that is being received; 0 without one."""
        return self._big_bytes - self._filled if self._big_bytes else 0

    def room(self) -> memoryview:
        """The buffer for the next bytes; never empty."""
        if not self._big_bytes:
            return self._scratch[self._end :]
        if self._filled == len(self._big):
            self._grow()
        return self._big[self._filled :]

    def received(self, size: int) -> None:
        if self._big_bytes:
            self._filled += size
        else:
            self._end += size

    def frames(self) -> Iterator[memoryview]:
        """The whole frames. Raises WireError for an illegal length."""
        if self._big_bytes:
            if self._filled == self._big_bytes:
                whole, self._big, self._big_bytes = self._big, memoryview(b""), 0
                yield whole
            return
        start = 0
        while self._end - start >= _PREFIX:
            size = self._size_at(start)
            if start + _PREFIX + size > self._end:
                break
            yield memoryview(bytes(self._scratch[start + _PREFIX : start + _PREFIX + size]))
            start += _PREFIX + size
            self._memory.forget()  # big frames do not follow one another any more
        self._keep(start)

    def _size_at(self, start: int) -> int:
        size: int = _LENGTH.unpack_from(self._scratch, start)[0]
        if not 0 <= size <= self._frame_bytes_max:
            raise WireError(f"a frame of {size} bytes; {self._frame_bytes_max} are allowed")
        return size

    def _keep(self, start: int) -> None:
        """Moves the bytes after the last whole frame to the front, or to their own memory if the frame is big."""
        rest = self._end - start
        size = self._size_at(start) if rest >= _PREFIX else 0
        if _PREFIX + size <= SCRATCH_BYTES:
            self._scratch[:rest] = bytes(self._scratch[start : self._end])
            self._end = rest
            return
        self._filled, self._big_bytes = rest - _PREFIX, size
        self._big = self._memory.take(min(size, AHEAD_BYTES))
        self._big[: self._filled] = self._scratch[start + _PREFIX : self._end]
        self._end = 0

    def _grow(self) -> None:
        grown = memoryview(bytearray(min(self._big_bytes, 2 * len(self._big))))
        grown[: self._filled] = self._big
        self._big = grown
