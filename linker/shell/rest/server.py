"""`rest.listener`: serves the application with uvicorn, in the event loop of the node."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from brokers.connection_quotas import CONNECTIONS, ConnectionLimits, ConnectionQuotas
from linker.peer_limits import COMMANDS, CommandLimits
from linker.shell.admin_server import AdminServer
from linker.shell.rest.admin_client import AdminClient
from linker.shell.rest.app import make_app
from linker.shell.rest.request_limits import RequestLimit

IDLE_SECONDS: Final = 5
REQUEST_SECONDS: Final = 10.0  # from the connection to the end of its first request's headers
HEADER_BYTES_MAX: Final = 16 << 10
STOP_SECONDS: Final = 1


class _LimitedProtocol(H11Protocol):
    """Closes a connection that does not ask: uvicorn itself has a time for later requests only. `quotas` has all."""

    quotas: ConnectionQuotas[H11Protocol]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        ip = self.client[0] if self.client else ""
        self.quotas.make_room(ip)
        if not self.quotas.has_room(ip):
            transport.close()
            return
        self.quotas.add(self, ip)
        self.quotas.waits(self)
        self.loop.call_later(REQUEST_SECONDS, self._close_unless_asked)

    def connection_lost(self, exc: Exception | None) -> None:
        self.quotas.remove(self)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if not self._is_idle:
            self.quotas.works(self)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_idle:
            self.quotas.waits(self)

    @property
    def _is_idle(self) -> bool:
        cycle = getattr(self, "cycle", None)  # which uvicorn's types do not say
        return cycle is None or cycle.response_complete

    def _close_unless_asked(self) -> None:
        if getattr(self, "cycle", None) is None:
            self.transport.close()


def _protocol(limits: ConnectionLimits) -> type[H11Protocol]:
    """uvicorn makes one for each connection."""
    quotas: ConnectionQuotas[H11Protocol] = ConnectionQuotas(
        limits, lambda one: one.transport.abort()
    )
    return type("Protocol", (_LimitedProtocol,), {"quotas": quotas})


class _Server(uvicorn.Server):
    """The node, not uvicorn, acts on signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class RestServer:
    """Answers from `start` on."""

    def __init__(
        self,
        bound: socket.socket,
        admin: AdminServer,
        cluster_id: str,
        commands: CommandLimits = COMMANDS,
        connections: ConnectionLimits = CONNECTIONS,
    ) -> None:
        self._bound = bound
        app = make_app(AdminClient(admin.administer, cluster_id))
        config = uvicorn.Config(
            RequestLimit(app, commands, admin.quotas),
            http=_protocol(connections),
            ws="none",
            lifespan="off",
            log_config=None,  # as the node logs
            log_level="warning",
            access_log=False,
            server_header=False,
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
