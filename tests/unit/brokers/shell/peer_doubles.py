"""Both ends of what `Peers` does, over real sockets: a node that only asks, and one that answers as a test says."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from brokers.effects import Ask
from brokers.events import Answered, AskFailure
from brokers.ids import Peer
from brokers.shell.peers import Peers
from brokers.wire.codec import VERSIONS
from brokers.wire.frames import RequestHeader, encode_response_frame, parse_request_header
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

FRAME_MAX = 4 << 20
SOON, LATE = 50, 20_000  # milliseconds
FETCH, METADATA, API_VERSIONS = (1, 12), (3, 12), (18, 3)


class Asker:
    """A node that only asks: `answers` are what it heard, in order."""

    def __init__(self, idle_seconds: float = 60) -> None:
        self.answers: asyncio.Queue[Answered] = asyncio.Queue()
        self.peers = Peers(
            9, self.answers.put_nowait, frame_bytes_max=FRAME_MAX, idle_seconds=idle_seconds
        )
        self._tickets = 0

    def ask(
        self, port: int, api: tuple[int, int] = API_VERSIONS, *, channel: str = "one",
        timeout_ms: int = LATE, message: Any = None,
    ) -> int:  # fmt: skip
        self._tickets -= 1
        peer = Peer(1, "127.0.0.1", port)
        self.peers.ask(
            Ask(self._tickets, peer, channel, *api, message or ApiVersionsRequest(), timeout_ms)
        )
        return self._tickets

    async def heard(self, count: int) -> list[tuple[int, AskFailure]]:
        return [(each.ticket, each.failure) for each in await self.messages(count)]

    async def messages(self, count: int) -> list[Answered]:
        return [await asyncio.wait_for(self.answers.get(), 20) for _ in range(count)]


class Answerer:
    """A server that does what a test says with each request's (header, connection), after it said what it serves."""

    def __init__(
        self,
        act: Callable[[Any, asyncio.StreamWriter], None],
        serves: Mapping[int, tuple[int, int]] = VERSIONS,
    ) -> None:
        self._act = act
        self.serves = serves
        self.connections = 0
        self.closed = 0
        self.last_closed = asyncio.get_running_loop().create_future()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            say(await self._header(reader), writer, served(self.serves))
            while True:
                self._act(await self._header(reader), writer)
        except (EOFError, OSError):
            self.closed += 1
            writer.close()
            if not self.last_closed.done():
                self.last_closed.set_result(None)

    async def _header(self, reader: asyncio.StreamReader) -> RequestHeader:
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        header, _ = parse_request_header(await reader.readexactly(size))
        return header


def served(versions: Mapping[int, tuple[int, int]]) -> ApiVersionsResponse:
    """The answer of a broker that serves these versions."""
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in versions.items()
        ]
    )


def say(header: Any, writer: asyncio.StreamWriter, response: Any, skew: int = 0) -> None:
    correlation_id = header.correlation_id + skew
    chunks = encode_response_frame(header.api_key, header.api_version, correlation_id, response)
    writer.write(b"".join(bytes(chunk) for chunk in chunks))


def run(play: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(play(), 60))  # type: ignore[arg-type]


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])
