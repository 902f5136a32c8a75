"""A blocking connection to a broker: one request, then its response."""

import socket
from typing import Any

from brokers.client.api_versions import NodeApiVersions
from brokers.client.connection import ClientConnection
from brokers.wire.message import Message
from brokers.wire.primitives import WireError


class BrokerConnection:
    """The constructor connects and negotiates versions (ApiVersions).

    Every method raises OSError when the connection fails or times out, WireError when the other end is no Kafka broker.
    """

    def __init__(
        self, address: str, client_id: str, *, response_bytes_max: int, connect_seconds: float
    ) -> None:
        """`address` is HOST:PORT (ValueError for anything else). `connect_seconds` also bounds each later wait."""
        host, _, port = address.rpartition(":")
        self._connection: ClientConnection[None] = ClientConnection(
            client_id, response_bytes_max=response_bytes_max
        )
        self._socket = socket.create_connection((host.strip("[]"), int(port)), connect_seconds)
        try:
            self.versions = self._negotiate()
        except WireError as error:
            self._socket.close()
            raise WireError(f"this is no Kafka broker: {error}") from error
        except OSError:
            self._socket.close()
            raise

    def wait_at_most(self, seconds: float) -> None:
        """Sets the timeout of later sends and receives."""
        self._socket.settimeout(seconds)

    def ask(self, key: int, message: Message, highest: int | None = None) -> Any:
        """Sends a request in the highest common version, `highest` at most; returns its response.

        Raises NoCommonVersion too.
        """
        self._socket.sendall(b"".join(self._connection.send(None, key, message, highest)))
        while True:
            for response in self._receive():
                return response.message

    def close(self) -> None:
        self._socket.close()

    def _negotiate(self) -> NodeApiVersions:
        self._socket.sendall(b"".join(self._connection.start()))
        while self._connection.versions is None:
            self._receive()
        return self._connection.versions

    def _receive(self) -> list[Any]:
        size = self._socket.recv_into(self._connection.room())
        if not size:
            raise ConnectionError("closed the connection in the middle of an answer")
        return list(self._connection.received(size))
