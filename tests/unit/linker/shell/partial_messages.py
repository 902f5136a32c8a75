"""gRPC messages that never become whole: a peer announces a length, sends all but the last byte of it, and waits.

HTTP/2 by hand (RFC 9113): a client of gRPC sends whole messages only.
"""

import asyncio
import struct
from contextlib import suppress
from typing import Final

EMPTY: Final = b""
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"  # 3.4
DATA, HEADERS, RESET, SETTINGS, PING, GO_AWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8  # 6
END_HEADERS, ACK, END_STREAM = 4, 1, 1
WINDOW, FRAME_BYTES = 65_535, 16_384  # what a connection and a stream begin with
CONNECTION, CALL = 0, 1  # numbers of streams


def frame(kind: int, flags: int, stream: int, payload: bytes = EMPTY) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def headers(path: str) -> bytes:
    """Of a call, in HPACK's literals without indexing (RFC 7541, 6.2.2)."""
    named = {
        ":method": "POST",
        ":scheme": "http",
        ":path": path,
        ":authority": "node",
        "te": "trailers",
        "content-type": "application/grpc",
    }
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in named.items())


def _text(text: str) -> bytes:
    assert len(text) < 127
    return bytes((len(text),)) + text.encode()


class PartialMessage:
    """One connection with one call, whose message of `size` bytes comes but for its last byte."""

    def __init__(self, size: int, news: asyncio.Event) -> None:
        """`news` is set whenever something has happened."""
        self._news = news
        self._unsent = size + 5 - 1  # with what gRPC has before a message
        self._prefix = b"\0" + struct.pack(">I", size)
        self._windows = {CONNECTION: WINDOW, CALL: WINDOW}
        self.is_refused = False
        self.status = EMPTY  # the payloads of headers that came last: gRPC's status and its text

    async def send(self, address: str, path: str, local_host: str = "127.0.0.1") -> None:
        """Until the node ends the call or the connection; cancelled otherwise."""
        host, _, port = address.rpartition(":")
        local = (local_host, 0)
        reader, writer = await asyncio.open_connection(host, int(port), local_addr=local)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                writer.write(PREFACE + frame(SETTINGS, 0, CONNECTION))
                writer.write(frame(HEADERS, END_HEADERS, CALL, headers(path)))
                while not self.is_refused:
                    self._send_more(writer)
                    await writer.drain()
                    self._news.set()
                    await self._hear(reader, writer)
            finally:
                writer.close()
        self.is_refused = True
        self._news.set()

    def _send_more(self, writer: asyncio.StreamWriter) -> None:
        while size := min(self._unsent, FRAME_BYTES, *self._windows.values()):
            data, self._prefix = self._prefix, EMPTY
            writer.write(frame(DATA, 0, CALL, data + bytes(size - len(data))))
            self._unsent -= size
            for number in self._windows:
                self._windows[number] -= size

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readexactly(9)
        size, kind, flags, stream = int.from_bytes(head[:3]), *struct.unpack(">BBI", head[3:])
        payload = await reader.readexactly(size)
        if kind == WINDOW_UPDATE:
            self._windows[stream] += int.from_bytes(payload)
        elif kind == SETTINGS and not flags & ACK:
            self._settle(payload)
            writer.write(frame(SETTINGS, ACK, CONNECTION))
        elif kind == PING and not flags & ACK:
            writer.write(frame(PING, ACK, CONNECTION, payload))
        elif kind == HEADERS:
            self.status = payload
            self.is_refused = bool(flags & END_STREAM)
        elif kind in (RESET, GO_AWAY):
            self.is_refused = True

    def _settle(self, payload: bytes) -> None:
        """A node may begin with another window for each stream (6.5.2)."""
        for name, value in struct.iter_unpack(">HI", payload):
            if name == 4:
                self._windows[CALL] += value - WINDOW

    @property
    def is_sent(self) -> bool:
        """All but its last byte."""
        return self._unsent == 0
