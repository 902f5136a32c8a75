"""Whether a node answers: a real exchange in Kafka's protocol, without a client library."""

import socket
import struct

_CORRELATION_ID = 0x0CA5E
# ApiVersions (key 18) version 0: the one request that every broker answers to everyone (KIP-35).
_REQUEST = struct.pack(">hhih", 18, 0, _CORRELATION_ID, -1)
_RESPONSE_SIZE_MAX = 64 * 1024


def answers_kafka(address: str, *, timeout_s: float = 1.0) -> bool:
    """Whether the broker at host:port answers ApiVersions without an error."""
    try:
        with _connect(address, timeout_s) as connection:
            connection.sendall(struct.pack(">i", len(_REQUEST)) + _REQUEST)
            size = struct.unpack(">i", _receive(connection, 4))[0]
            if not 6 <= size <= _RESPONSE_SIZE_MAX:
                return False
            return struct.unpack(">ih", _receive(connection, size)[:6]) == (_CORRELATION_ID, 0)
    except OSError:
        return False


def accepts(address: str, *, timeout_s: float = 1.0) -> bool:
    """Whether anything accepts connections at host:port."""
    try:
        _connect(address, timeout_s).close()
    except OSError:
        return False
    return True


def _connect(address: str, timeout_s: float) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=timeout_s)


def _receive(connection: socket.socket, size: int) -> bytes:
    """Exactly `size` bytes. Raises ConnectionError when the peer closes before."""
    received = b""
    while len(received) < size:
        chunk = connection.recv(size - len(received))
        if not chunk:
            raise ConnectionError("closed in the middle of an answer")
        received += chunk
    return received
