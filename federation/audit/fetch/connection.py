"""One request at a time to one broker, over a blocking socket: the audit's own client, as its reader is its own.

A process keeps one connection to each broker. PLAINTEXT is what listeners speak today.
"""

import errno
import socket
import struct
from itertools import count

CLIENT_ID = b"causeway-audit"
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 40.0
ANSWER_BYTES_MAX = 256 << 20
_open: dict[str, "FetchConnection"] = {}


class FetchConnection:
    """Raises OSError whenever the broker does not answer as it must."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = address
        self._socket = socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(ANSWER_SECONDS)
        self._ids = count(1)

    def request(self, api_key: int, version: int, body: bytes) -> memoryview:
        """The answer's body, without its header (version 0)."""
        number = next(self._ids)
        header = struct.pack(">hhih", api_key, version, number, len(CLIENT_ID)) + CLIENT_ID
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        (size,) = struct.unpack(">i", self._read(4))
        if not 4 <= size <= ANSWER_BYTES_MAX:
            raise OSError(errno.EPROTO, f"an answer of {size} bytes", self._address)
        answer = self._read(size)
        if struct.unpack_from(">i", answer)[0] != number:
            raise OSError(errno.EPROTO, "the answer is to another request", self._address)
        return answer[4:]

    def close(self) -> None:
        self._socket.close()

    def _read(self, size: int) -> memoryview:
        data = memoryview(bytearray(size))
        filled = 0
        while filled < size:
            got = self._socket.recv_into(data[filled:])
            if not got:
                raise OSError(errno.ECONNRESET, "closed the connection", self._address)
            filled += got
        return data


def ask(address: str, api_key: int, version: int, body: bytes) -> memoryview:
    """Over the connection that is open, or a new one where that one was closed meanwhile; raises OSError."""
    known = _open.pop(address, None)
    if known is not None:
        try:
            answer = known.request(api_key, version, body)
        except OSError:
            known.close()
        else:
            _open[address] = known
            return answer
    fresh = FetchConnection(address)
    try:
        answer = fresh.request(api_key, version, body)
    except OSError:
        fresh.close()
        raise
    _open[address] = fresh
    return answer
