"""The Kafka listeners of a node: their connections, and the connection of each ticket."""

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from brokers.config.broker_config import BrokerConfig
from brokers.events import Disconnected, Listener, Request
from brokers.ids import DEFAULT_LISTENER, Ticket
from brokers.shell.connection import Connection
from brokers.shell.room import Room
from brokers.telemetry.connections import ListenerConnections

logger = logging.getLogger(__name__)
SWEEP_SECONDS = 10.0


class Feed(Protocol):
    """Receives requests: `Node.feed`."""

    def __call__(self, event: Request | Disconnected, /) -> None: ...


class Server:
    """All connections of one node's listeners, and the tickets of their requests."""

    def __init__(self, config: BrokerConfig, feed: Feed, clock: Callable[[], float]) -> None:
        self.frame_bytes_max = config.socket_request_max_bytes
        self.feed = feed
        self.time = clock
        self.room = Room()
        self.sent: Callable[[Ticket, float], None] | None = None  # when an answer is sent
        self.by_listener: dict[str, ListenerConnections] = {}
        self._config = config
        self._connections: dict[Connection, None] = {}
        self._by_host: Counter[str] = Counter()  # of clients
        self._tickets: dict[Ticket, Connection] = {}
        self._last_ticket: Ticket = 0
        self._listening: list[asyncio.Server] = []
        self._sweeper: asyncio.TimerHandle | None = None

    async def listen(
        self,
        bound: socket.socket,
        listener: Listener = Listener.DATA,
        name: str = DEFAULT_LISTENER,
    ) -> None:
        """Accept connections on a socket that `bind` made; they inherit the sizes of its buffers."""
        config = self._config
        if config.socket_send_buffer_bytes >= 0:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, config.socket_send_buffer_bytes)
        if config.socket_receive_buffer_bytes >= 0:
            bound.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVBUF, config.socket_receive_buffer_bytes
            )
        loop = asyncio.get_running_loop()
        self.by_listener[name] = ListenerConnections(self.time())
        self._listening.append(
            await loop.create_server(
                lambda: Connection(self, listener, name),
                sock=bound,
                backlog=config.socket_listen_backlog_size,
            )
        )
        if self._sweeper is None:
            self._sweeper = loop.call_later(SWEEP_SECONDS, self._sweep)

    def admit(self, connection: Connection) -> bool:
        connection.used_at = self.time()
        at_most = self._config.max_connections
        if connection.is_client and len(self._connections) >= at_most:
            logger.warning("refusing a connection: max.connections is %d", at_most)
            return False
        if connection.is_client and self._by_host[connection.host] >= self._at_most(
            connection.host
        ):
            logger.warning("refusing a connection of %s: max.connections.per.ip", connection.host)
            return False
        self._connections[connection] = None
        if (counts := self.by_listener.get(connection.listener_name)) is not None:
            counts.created.add(self.time())
        if connection.is_client:
            self._by_host[connection.host] += 1
        return True

    def _at_most(self, host: str) -> int:
        config = self._config
        return config.connections_by_ip.get(host, config.max_connections_per_ip)

    def forget(self, connection: Connection, tickets: tuple[Ticket, ...]) -> None:
        """A connection has ended; `tickets` are its requests without a reply."""
        was_admitted = connection in self._connections
        if was_admitted and connection.is_client:
            self._by_host[connection.host] -= 1
            if not self._by_host[connection.host]:
                del self._by_host[connection.host]
        self._connections.pop(connection, None)
        if was_admitted and (counts := self.by_listener.get(connection.listener_name)) is not None:
            counts.closed.add(self.time())
        waited = [ticket for ticket in tickets if self._tickets.pop(ticket, None) is not None]
        if waited or (tickets and not connection.is_client):
            self.feed(Disconnected(tickets))

    def new_ticket(self, connection: Connection) -> Ticket:
        ticket = self._last_ticket = self._last_ticket + 1
        self._tickets[ticket] = connection
        return ticket

    def connection_of(self, ticket: Ticket) -> Connection | None:
        """None where the request is answered, or its connection has ended."""
        return self._tickets.get(ticket)

    def reply(self, ticket: Ticket, message: object | None) -> None:
        """Send the reply to a request, unless its connection has ended."""
        connection = self._tickets.pop(ticket, None)
        if connection is not None:
            connection.reply(ticket, message)
        elif self.sent is not None:
            self.sent(ticket, perf_counter())

    def hang_up(self, ticket: Ticket, reason: str) -> None:
        connection = self._tickets.pop(ticket, None)
        if connection is not None:
            connection.hang_up(reason)

    def _sweep(self) -> None:
        """Frees big buffers of connections that are idle for a while; closes those idle for connections.max.idle.ms."""
        now = self.time()
        for connection in list(self._connections):
            since = connection.idle_since()
            if since is None:
                continue
            if (now - since) * 1000 > self._config.connections_max_idle_ms:
                connection.expire()
            elif now - since > SWEEP_SECONDS:
                connection.shrink()
        loop = asyncio.get_running_loop()
        self._sweeper = loop.call_later(SWEEP_SECONDS, self._sweep)

    def close(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
        for listening in self._listening:
            listening.close()
        for connection in list(self._connections):
            connection.close()
        self.room.close()
