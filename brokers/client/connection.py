"""One connection to a broker, without the socket and the clock.

A connection begins with ApiVersions (KIP-35). Requests made before its response has arrived are queued, then sent
together, each at the highest common version. Responses arrive in the order of the requests.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from brokers.client.api_versions import NoCommonVersion, NodeApiVersions
from brokers.client.response_buffer import ResponseBuffer
from brokers.ids import Buffer
from brokers.wire.codec import decode_response
from brokers.wire.frames import RequestHeader, encode_request_frame, parse_response_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from brokers.wire.primitives import WireError

LAST_CORRELATION_ID: Final = (1 << 31) - 1
API_VERSIONS: Final = int(ApiKey.API_VERSIONS)
# Every broker answers version 0, whose response has all that is needed.
NEGOTIATION_VERSION: Final = 0

Token = TypeVar("Token")


class ClientResponse(NamedTuple, Generic[Token]):
    """The response to the request with this token, or why the request could not be sent."""

    token: Token
    message: Message | None
    failure: NoCommonVersion | None = None


class _Queued(NamedTuple, Generic[Token]):
    token: Token
    key: int
    message: Message
    highest: int | None


class _InFlight(NamedTuple, Generic[Token]):
    token: Token
    key: int
    version: int
    correlation_id: int


class ClientConnection(Generic[Token]):
    """`start` and `send` return bytes to write; received bytes are put into `room`, and `received` returns responses.

    `versions` is None until the response to ApiVersions has arrived.
    """

    def __init__(self, client_id: str, *, response_bytes_max: int) -> None:
        self.versions: NodeApiVersions | None = None
        self._client_id = client_id
        self._buffer = ResponseBuffer(response_bytes_max)
        self._queued: deque[_Queued[Token]] = deque()
        self._in_flight: deque[_InFlight[Token]] = deque()
        self._unsent: list[Buffer] = []
        self._last_correlation_id = 0

    def start(self) -> list[Buffer]:
        """The first bytes of the connection."""
        return self._encode(API_VERSIONS, NEGOTIATION_VERSION, 0, ApiVersionsRequest())

    def send(
        self, token: Token, key: int, message: Message, highest: int | None = None
    ) -> list[Buffer]:
        """The bytes to write now; none while the broker's versions are unknown.

        `highest` is this side's highest version of the API, None for the codec's. Raises NoCommonVersion.
        """
        if self.versions is None:
            self._queued.append(_Queued(token, key, message, highest))
            return []
        version = self.versions.latest_usable(key, highest)
        chunks = self._send(token, key, message, version)
        return self.unsent() + chunks if self._unsent else chunks

    def unsent(self) -> list[Buffer]:
        """The bytes of requests that were queued until `versions` arrived; each is returned once."""
        unsent, self._unsent = self._unsent, []
        return unsent

    def tokens(self) -> Iterator[Token]:
        """The tokens of all requests without a response, in the order of the requests."""
        yield from (each.token for each in self._in_flight)
        yield from (each.token for each in self._queued)

    def room(self) -> memoryview:
        """The buffer for the next bytes; never empty."""
        return self._buffer.room()

    @property
    def missing_bytes(self) -> int:
        """Of a big response that is being received; 0 without one."""
        return self._buffer.missing_bytes

    def received(self, size: int) -> Iterator[ClientResponse[Token]]:
        """The responses that `size` more bytes complete; `unsent` may have bytes to write afterwards.

        Raises WireError for bytes that are not the response to the oldest request: the connection must be closed.
        """
        self._buffer.received(size)
        for frame in self._buffer.frames():
            if self.versions is None:
                yield from self._negotiate(frame)
            else:
                yield self._take(frame)

    def _send(self, token: Token, key: int, message: Message, version: int) -> list[Buffer]:
        correlation_id = self._last_correlation_id % LAST_CORRELATION_ID + 1
        try:
            chunks = self._encode(key, version, correlation_id, message)
        except WireError as error:
            raise NoCommonVersion(f"version {version} of API {key}: {error}") from error
        self._last_correlation_id = correlation_id
        self._in_flight.append(_InFlight(token, key, version, correlation_id))
        return chunks

    def _encode(
        self, key: int, version: int, correlation_id: int, message: Message
    ) -> list[Buffer]:
        header = RequestHeader(key, version, correlation_id, self._client_id)
        return encode_request_frame(header, message)

    def _negotiate(self, frame: memoryview) -> Iterator[ClientResponse[Token]]:
        """Encodes all queued requests before it yields a failure, since the receiver of a failure may send more."""
        response = _decode(API_VERSIONS, NEGOTIATION_VERSION, 0, frame)
        assert isinstance(response, ApiVersionsResponse)
        if response.error_code:
            raise WireError(f"error {response.error_code} in answer to ApiVersions")
        versions = self.versions = NodeApiVersions(response)
        failed: list[ClientResponse[Token]] = []
        queued, self._queued = self._queued, deque()
        for token, key, message, highest in queued:
            try:
                version = versions.latest_usable(key, highest)
                self._unsent += self._send(token, key, message, version)
            except NoCommonVersion as failure:
                failed.append(ClientResponse(token, None, failure))
        yield from failed

    def _take(self, frame: memoryview) -> ClientResponse[Token]:
        if not self._in_flight:
            raise WireError("a response without a request")
        token, key, version, correlation_id = self._in_flight[0]
        message = _decode(key, version, correlation_id, frame)
        self._in_flight.popleft()
        return ClientResponse(token, message)


def _decode(key: int, version: int, correlation_id: int, frame: memoryview) -> Message:
    found, position = parse_response_header(key, version, frame)
    if found != correlation_id:
        raise WireError(f"the response {found} instead of {correlation_id}")
    return decode_response(key, version, frame, position)
