"""A small HTTP listener for operators: GET of a few paths, answered in slices so that the node's clients don't wait.

h11 parses and frames the protocol. A response is made in slices of a millisecond, one in each iteration of the loop.
"""

import asyncio
import socket
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from time import perf_counter
from typing import Final, TypeAlias

import h11

from brokers.connection_quotas import CONNECTIONS, ConnectionLimits, ConnectionQuotas

SLICE_SECONDS: Final = 0.001
SLICE_CHARACTERS: Final = 256 * 1024
HEADERS_SECONDS: Final = 5.0  # for the first request of a connection
EXCHANGE_SECONDS: Final = (
    60.0  # for a later request, and for each response; then the connection is closed
)
CONNECTIONS_RESERVED: Final = 16  # above that, for the paths that must always be answered
READ_BYTES: Final = 16 * 1024
TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`pieces` are generated while they are sent."""

    pieces: Iterable[str]
    content_type: str = TEXT
    status: int = 200


Route: TypeAlias = Callable[[], HttpResponse]


class HttpServer:
    """Serves `routes`, by path, on a bound socket.

    Within `limits` the connection that has waited longest for its request makes room for a new one. Where all are being
    answered, `CONNECTIONS_RESERVED` more are accepted for the paths that are `always` answered.
    """

    def __init__(
        self,
        routes: Mapping[str, Route],
        always: Container[str] = (),
        headers_seconds: float = HEADERS_SECONDS,
        limits: ConnectionLimits = CONNECTIONS,
    ) -> None:
        self._headers_seconds = headers_seconds
        self._routes = routes
        self._always = always
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}
        self._quotas = ConnectionQuotas(limits, self._abort)
        self._turn = asyncio.Lock()  # one slice in each iteration of the loop, of all connections

    async def start(self, bound: socket.socket) -> None:
        self._server = await asyncio.start_server(self._accept, sock=bound)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        tasks = [task for task in self._connections.values() if task is not None]
        for connection in self._connections:
            connection.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ip = str(writer.get_extra_info("peername")[0])
        self._quotas.make_room(ip)
        is_reserved = not self._quotas.has_room(ip)
        if not self._quotas.has_room(ip, CONNECTIONS_RESERVED):
            writer.close()
            return
        self._quotas.add(writer, ip)
        self._connections[writer] = asyncio.current_task()
        try:
            with suppress(h11.RemoteProtocolError, ConnectionError, TimeoutError):
                await self._serve(reader, writer, is_reserved)
        finally:
            self._connections.pop(writer, None)
            self._quotas.remove(writer)
            writer.close()

    def _abort(self, writer: asyncio.StreamWriter) -> None:
        self._connections.pop(writer, None)
        writer.transport.abort()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_reserved: bool
    ) -> None:
        connection = h11.Connection(h11.SERVER)
        seconds = self._headers_seconds
        while True:
            self._quotas.waits(writer)
            async with asyncio.timeout(seconds):
                request = await _request(connection, reader)
            self._quotas.works(writer)
            if request is None:
                return
            async with asyncio.timeout(EXCHANGE_SECONDS):
                await self._answer(connection, writer, self._route(request, is_reserved), request)
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
            seconds = EXCHANGE_SECONDS

    async def _answer(
        self,
        connection: h11.Connection,
        writer: asyncio.StreamWriter,
        answer: HttpResponse,
        request: h11.Request,
    ) -> None:
        headers = [("Content-Type", answer.content_type), ("Cache-Control", "no-store")]
        reason = HTTPStatus(answer.status).phrase.encode()
        response = h11.Response(status_code=answer.status, headers=headers, reason=reason)
        writer.write(connection.send(response) or b"")
        slices = _slices(answer.pieces) if request.method != b"HEAD" else iter(())
        while (text := await self._next(slices)) is not None:
            writer.write(connection.send(h11.Data(data=text.encode())) or b"")
            await writer.drain()  # outside the lock: a slow client delays no other
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()

    async def _next(self, slices: Iterator[str]) -> str | None:
        async with self._turn:
            text = next(slices, None)
            await asyncio.sleep(0)
        return text

    def _route(self, request: h11.Request, is_reserved: bool) -> HttpResponse:
        path = request.target.partition(b"?")[0].decode("ascii", "replace")
        route = self._routes.get(path)
        if route is None:
            return HttpResponse(
                [f"Nothing is here. There is: {', '.join(self._routes)}\n"], status=404
            )
        if request.method not in (b"GET", b"HEAD"):
            return HttpResponse(["Only GET and HEAD.\n"], status=405)
        if is_reserved and path not in self._always:
            return HttpResponse(["Too many connections; ask again.\n"], status=503)
        return route()


async def _request(connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Request | None:
    """The next request, whose body is read and dropped; None where the client has closed the connection."""
    request: h11.Request | None = None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(READ_BYTES))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.EndOfMessage):
            return request
        elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
            return None


def _slices(pieces: Iterable[str]) -> Iterator[str]:
    """Joins the pieces that are made in `SLICE_SECONDS`, `SLICE_CHARACTERS` at most."""
    ends_at, size = perf_counter() + SLICE_SECONDS, 0
    made: list[str] = []
    for piece in pieces:
        made.append(piece)
        size += len(piece)
        if size >= SLICE_CHARACTERS or perf_counter() >= ends_at:
            yield "".join(made)
            made, ends_at, size = [], perf_counter() + SLICE_SECONDS, 0
    yield "".join(made)
