"""A reply that lies in files: page cache to socket, without passing through this process.

Its bytes in between (headers) go by the same way, held back until the data that follows them (`MSG_MORE`).
"""

import os
import socket
from collections import deque
from collections.abc import Iterable

from brokers.shell.files import DiskRange
from brokers.wire.message import Chunk


class CutShort(Exception):
    """A file has fewer bytes than its range promised: what has been sent is a torn frame."""


class Sending:
    """Chunks on their way into a non-blocking socket."""

    def __init__(self, target: socket.socket, chunks: Iterable[Chunk]) -> None:
        self._target = target
        self._chunks = deque(chunks)
        self._sent = 0  # of the first chunk

    def extend(self, chunks: Iterable[Chunk]) -> None:
        self._chunks.extend(chunks)

    def push(self, size_max: int) -> bool:
        """Send what the socket takes, about `size_max` bytes at most -> whether that was all.

        Raises CutShort, or OSError for a connection that is gone or a disk that refuses.
        """
        while self._chunks and size_max > 0:
            chunk = self._chunks[0]
            wanted = len(chunk) - self._sent
            try:
                if isinstance(chunk, DiskRange):
                    wanted = min(wanted, size_max)
                    sent = self._transfer(chunk, wanted)
                else:
                    sent = self._send(chunk)
            except BlockingIOError:
                return False
            size_max -= sent
            self._sent += sent
            if self._sent == len(chunk):
                self._chunks.popleft()
                self._sent = 0
            elif sent < wanted:
                return False
        return not self._chunks

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
