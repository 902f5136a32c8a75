"""Sends a reply whose records are in files from the page cache to the socket (sendfile).

The bytes between files (headers) are sent with the data that follows them (`MSG_MORE`).
"""

import os
import socket
from collections import deque
from collections.abc import Iterable
from enum import Enum

from brokers.shell.handles import DiskRange
from brokers.wire.message import Chunk


class CutShort(Exception):
    """A file is shorter than its range: the frame that was begun cannot be completed."""


class Pushed(Enum):
    """The result of a push: everything is sent, the socket has no room, or `size_max` is reached."""

    ALL = "all"
    FULL = "full"
    SOME = "some"


class Sending:
    """Chunks that are being sent to a non-blocking socket."""

    def __init__(self, target: socket.socket, chunks: Iterable[Chunk]) -> None:
        self._target = target
        self._chunks = deque(chunks)
        self._sent = 0  # bytes of the first chunk

    def extend(self, chunks: Iterable[Chunk]) -> None:
        self._chunks.extend(chunks)

    def push(self, size_max: int) -> Pushed:
        """Send until the socket is full, or about `size_max` bytes are sent.

        Raises CutShort, or OSError when the connection or the disk fails.
        """
        try:
            while self._chunks:
                if size_max <= 0:
                    return Pushed.SOME
                sent = self._send_on(size_max)
                size_max -= sent
                self._sent += sent
                if self._sent == len(self._chunks[0]):
                    self._chunks.popleft()
                    self._sent = 0
        except BlockingIOError:
            return Pushed.FULL
        return Pushed.ALL

    def _send_on(self, size_max: int) -> int:
        chunk = self._chunks[0]
        if isinstance(chunk, DiskRange):
            return self._transfer(chunk, min(len(chunk) - self._sent, size_max))
        return self._send(chunk)

    def _transfer(self, chunk: DiskRange, size: int) -> int:
        sent = 0
        if not chunk.is_cut:
            position = chunk.position + self._sent
            sent = os.sendfile(self._target.fileno(), chunk.descriptor, position, size)
        if sent == 0:
            raise CutShort(f"{chunk.path} was cut before byte {chunk.position + len(chunk)}")
        return sent

    def _send(self, chunk: Chunk) -> int:
        assert isinstance(chunk, bytes | bytearray | memoryview)
        flags = socket.MSG_MORE if len(self._chunks) > 1 else 0
        return self._target.send(memoryview(chunk)[self._sent :], flags)
