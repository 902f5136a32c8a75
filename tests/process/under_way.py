"""Bytes on their way through a proxy: in a pipe of the kernel, where there is one, so that they are never copied."""

import errno
import fcntl
import os
import socket
from contextlib import suppress
from typing import Final, Protocol

PIPE_BYTES: Final = 1 << 20
PIPES_FREE_MAX: Final = 256
COPIED_BYTES: Final = 256 << 10
CAN_SPLICE: Final = hasattr(os, "SPLICE_F_NONBLOCK") and hasattr(fcntl, "F_SETPIPE_SZ")


class Piece(Protocol):
    """`size` bytes are left of it."""

    size: int

    def send_to(self, target: socket.socket) -> int:
        """How many bytes it took. Raises BlockingIOError where it takes none now."""

    def give_up(self) -> None:
        """It is sent, or will never be."""


class CopiedPiece:
    """In this process's memory."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self.size = len(data)

    @classmethod
    def of(cls, source: socket.socket, size_max: int = COPIED_BYTES) -> "CopiedPiece":
        return cls(source.recv(size_max))

    def send_to(self, target: socket.socket) -> int:
        sent = target.send(self._data)
        self._data = self._data[sent:]
        self.size -= sent
        return sent

    def give_up(self) -> None:
        self.size = 0


class Pipe:
    """`takes` and `gives` are its ends."""

    def __init__(self) -> None:
        self.gives, self.takes = os.pipe()
        with suppress(PermissionError):  # then it stays as it is
            fcntl.fcntl(self.takes, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def close(self) -> None:
        os.close(self.gives)
        os.close(self.takes)


class SplicedPiece:
    """In a pipe, which is used again by another piece once this one is sent."""

    def __init__(self, pieces: "SplicedPieces", pipe: Pipe, size: int) -> None:
        self._pieces, self._pipe, self.size = pieces, pipe, size

    def send_to(self, target: socket.socket) -> int:
        flags = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE
        sent = os.splice(self._pipe.gives, target.fileno(), self.size, flags=flags)
        self.size -= sent
        return sent

    def give_up(self) -> None:
        self._pieces.give_back(self._pipe, is_empty=self.size == 0)
        self.size = 0


class SplicedPieces:
    """Of one thread: its pipes."""

    def __init__(self) -> None:
        self._free: list[Pipe] = []

    def of(self, source: socket.socket) -> Piece:
        """Raises BlockingIOError where nothing is there."""
        pipe = self._take()
        if pipe is None:
            return CopiedPiece.of(source)
        flags = os.SPLICE_F_NONBLOCK | os.SPLICE_F_MOVE
        try:
            size = os.splice(source.fileno(), pipe.takes, PIPE_BYTES, flags=flags)
        except BaseException:
            self.give_back(pipe, is_empty=True)
            raise
        return SplicedPiece(self, pipe, size)

    def _take(self) -> Pipe | None:
        """None where there are no more."""
        if self._free or not CAN_SPLICE:
            return self._free.pop() if self._free else None
        try:
            return Pipe()
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            return None

    def give_back(self, pipe: Pipe, *, is_empty: bool) -> None:
        if is_empty and len(self._free) < PIPES_FREE_MAX:
            self._free.append(pipe)
        else:
            pipe.close()

    def close(self) -> None:
        while self._free:
            self._free.pop().close()
