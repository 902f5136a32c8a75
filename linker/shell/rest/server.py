"""`rest.listener`: serves the application with uvicorn, in the event loop of the node."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from linker.shell.rest.admin_client import AdminClient, AdminHandler
from linker.shell.rest.app import make_app
from linker.shell.rest.request_limits import BodyLimit

CONNECTIONS_MAX: Final = 64
IDLE_SECONDS: Final = 5
REQUEST_SECONDS: Final = 10.0  # from the connection to the end of its first request's headers
HEADER_BYTES_MAX: Final = 16 << 10
STOP_SECONDS: Final = 1


class _TimedProtocol(H11Protocol):
    """Closes a connection that does not ask: uvicorn itself has a time for later requests only."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(REQUEST_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        if getattr(self, "cycle", None) is None:  # which uvicorn's types do not say
            self.transport.close()


class _Server(uvicorn.Server):
    """The node, not uvicorn, acts on signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class RestServer:
    """Answers from `start` on."""

    def __init__(self, bound: socket.socket, administer: AdminHandler, cluster_id: str) -> None:
        self._bound = bound
        config = uvicorn.Config(
            BodyLimit(make_app(AdminClient(administer, cluster_id))),
            http=_TimedProtocol,
            ws="none",
            lifespan="off",
            log_config=None,  # as the node logs
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_keep_alive=IDLE_SECONDS,
            h11_max_incomplete_event_size=HEADER_BYTES_MAX,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        self._server = _Server(config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self) -> None:
        serving = self._server.serve(sockets=[self._bound])
        self._serving = asyncio.create_task(serving, name="rest")

    async def stop(self) -> None:
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving
