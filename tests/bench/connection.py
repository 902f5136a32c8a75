"""One blocking connection to a broker: prebuilt frames out, answers in, in order."""

import socket
import struct
from types import TracebackType
from typing import Self

from tests.bench.frames import CORRELATION_AT

ANSWER_BYTES = 4 << 20  # grows to the largest answer


class Connection:
    """Sends frames and reads answers; several requests may be in flight, Kafka answers in order."""

    def __init__(self, address: str, *, timeout_s: float = 60) -> None:
        host, _, port = address.partition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A timeout in Python makes sockets non-blocking inside and costs a poll per call; the kernel's own does not.
        self._socket.settimeout(None)
        limit = struct.pack("ll", int(timeout_s), 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._buffer = memoryview(bytearray(ANSWER_BYTES))
        self._sent = self._answered = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def in_flight(self) -> int:
        return self._sent - self._answered

    def send(self, frame: bytearray, records: bytes = b"") -> None:
        """Sends `frame` under the next correlation id, and `records` after it."""
        self._sent += 1
        struct.pack_into(">i", frame, CORRELATION_AT, self._sent)
        sent = self._socket.sendmsg((frame, records))
        if sent < len(frame):
            self._socket.sendall(frame[sent:])
            sent = len(frame)
        if sent < len(frame) + len(records):
            self._socket.sendall(memoryview(records)[sent - len(frame) :])

    def receive(self) -> memoryview:
        """The next answer without length and correlation id; valid until the next call."""
        (length,) = struct.unpack(">i", self._read(4))
        answer = self._read(length)
        self._answered += 1
        (correlation,) = struct.unpack_from(">i", answer, 0)
        assert correlation == self._answered, (correlation, self._answered)
        return answer[4:]

    def ask(self, frame: bytearray, records: bytes = b"") -> memoryview:
        self.send(frame, records)
        return self.receive()

    def _read(self, wanted: int) -> memoryview:
        if wanted > len(self._buffer):
            self._buffer = memoryview(bytearray(wanted))
        view, have = self._buffer[:wanted], 0
        while have < wanted:
            got = self._socket.recv_into(view[have:], wanted - have, socket.MSG_WAITALL)
            if got == 0:
                raise ConnectionError("the broker closed the connection")
            have += got
        return view
