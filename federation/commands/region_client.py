"""Asks a broker in Kafka's protocol, one question after another; any broker will do, ours or Apache Kafka's."""

import socket
import struct
from types import TracebackType
from typing import Any, BinaryIO, Final, cast

from brokers.wire.codec import VERSIONS, decode_response
from brokers.wire.frames import RequestHeader, encode_request_frame, parse_response_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest
from brokers.wire.primitives import WireError

CONNECT_SECONDS: Final = 5.0
ANSWER_SECONDS: Final = 30.0
ANSWER_BYTES_MAX: Final = 256 << 20
_CLIENT_ID: Final = "causeway-region"


class NoAnswer(Exception):
    """No broker answers at any of the addresses; the message says what became of each."""


class Client:
    """A context manager: `ask` over one connection, to the first of the bootstrap addresses that answers.

    Whoever is frozen accepts connections too, so the first answer belongs to the connecting: others may be waiting.
    """

    def __init__(
        self,
        bootstrap: str,
        answer_seconds: float = ANSWER_SECONDS,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:
        self._answer_seconds = answer_seconds
        self._connect_seconds = min(connect_seconds, answer_seconds)
        failures: list[str] = []
        for address in filter(None, (item.strip() for item in bootstrap.split(","))):
            try:
                self._connect(address)
                return
            except (OSError, ValueError, WireError) as error:
                failures.append(f"{address}: {str(error) or type(error).__name__}")
        raise NoAnswer("; ".join(failures) or "no address is given")

    def _connect(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.address = address
        at = (host.strip("[]"), int(port))
        self._socket = socket.create_connection(at, self._connect_seconds)
        self._stream = cast(BinaryIO, self._socket.makefile("rb"))
        try:
            answer = self._exchange(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        except (OSError, WireError):
            self._socket.close()
            raise
        self._socket.settimeout(self._answer_seconds)
        self._versions = {api.api_key: api.max_version for api in answer.api_keys}

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._socket.close()

    def serves(self, api_key: int) -> bool:
        return api_key in self._versions

    def version(self, api_key: int) -> int:
        """The newest that both know."""
        newest: int = self._versions[api_key]
        return min(newest, VERSIONS[api_key][1])

    def ask(self, api_key: int, message: Message) -> Any:
        """The answer; raises `NoAnswer` when the broker goes away."""
        try:
            return self._exchange(api_key, self.version(api_key), message)
        except (OSError, WireError) as error:
            raise NoAnswer(f"{self.address}: {str(error) or type(error).__name__}") from error

    def _exchange(self, key: int, version: int, message: Message) -> Any:
        header = RequestHeader(key, version, correlation_id=key, client_id=_CLIENT_ID)
        self._socket.sendall(b"".join(encode_request_frame(header, message)))
        (size,) = struct.unpack(">i", self._read(4))
        if not 0 < size <= ANSWER_BYTES_MAX:
            raise WireError(f"an answer of {size} bytes: this is no Kafka broker")
        frame = self._read(size)
        correlation_id, position = parse_response_header(key, version, frame)
        if correlation_id != key:
            raise WireError("an answer to another question")
        return decode_response(key, version, frame, position)

    def _read(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise ConnectionError("closed the connection in the middle of an answer")
        return data
