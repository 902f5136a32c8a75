"""The page `/metrics`, and the listener that serves it beside `/health`.

A node without `metrics.listener` counts nothing, unless it logs slow requests, and does not listen.
"""

import socket
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any, Final

from brokers.api import fetch, produce
from brokers.config.broker_config import BrokerConfig
from brokers.connection_quotas import ConnectionLimits
from brokers.ids import Instant
from brokers.node.parts import Parts
from brokers.shell.clock import Clock
from brokers.shell.health import health, health_routes
from brokers.shell.http import HttpResponse, HttpServer
from brokers.shell.meter import Meter
from brokers.shell.node import Node
from brokers.shell.process_stats import process_text
from brokers.shell.recompressing import Recompressing
from brokers.shell.server import Feed, Server
from brokers.shell.slow_requests import SlowRequests
from brokers.telemetry.connections import connections_text
from brokers.telemetry.exposition import CONTENT_TYPE, family, labelled
from brokers.telemetry.partition_counters import PartitionCounters
from brokers.telemetry.requests import traffic_text
from brokers.telemetry.state import state_text

STARTING, RUNNING = 1, 3  # of Kafka's BrokerState
_DELAYED: Final = {"Fetch": fetch.KEY, "Produce": produce.KEY}


class Metrics:
    """The metrics of one node. Without a meter `feed` measures nothing, and `perform` is empty."""

    def __init__(
        self,
        node: Node,
        parts: Parts,
        bound: socket.socket | None,
        beside: Callable[[Instant], Iterator[str]],
        before: Recompressing | None = None,
    ) -> None:
        """`beside`: the text of what runs in this process beside the broker. `before`: where requests may wait for
        the node."""
        self._node = node
        self._parts = parts
        self._bound = bound
        self._beside = beside
        self._clock = Clock()
        self._meter = _meter(node, before, parts.config, is_asked=bound is not None)
        self._unmetered: Feed = node.feed if before is None else before.feed
        self._server: Server | None = None
        self._changes = PartitionCounters(parts.config.node_id)
        if bound is not None:
            parts.publisher.subscribe(self._changes.follow)
        health = health_routes(node, parts)
        config = parts.config
        limits = ConnectionLimits(config.http_max_connections, config.http_max_connections_per_ip)
        self._http = HttpServer({"/metrics": self._page, **health}, always=health, limits=limits)

    @property
    def feed(self) -> Feed:
        """The callable to which a server passes its requests."""
        return self._unmetered if self._meter is None else self._meter.feed

    def perform(self, server: Server) -> Mapping[type, Callable[[Any], None]]:
        """How the node performs replies to this server's requests."""
        self._server = server
        return {} if self._meter is None else self._meter.perform(server)

    async def start(self) -> None:
        """Starts listening; called before the node is ready, so that /health can say why it isn't."""
        if self._bound is not None:
            await self._http.start(self._bound)

    async def stop(self) -> None:
        await self._http.stop()

    def _page(self) -> HttpResponse:
        return HttpResponse(self._text(), CONTENT_TYPE)

    def _text(self) -> Iterator[str]:
        yield from state_text(self._parts, self._changes, self._clock.now())
        if self._meter is not None:
            yield from traffic_text(self._meter.traffic, self._parts.raft.image, perf_counter())
        if self._server is not None:
            yield from connections_text(self._server.by_listener, self._server.time())
        yield from self._beside(self._clock.now())
        yield from self._own_text()
        yield from process_text()

    def _own_text(self) -> Iterator[str]:
        name = "kafka_server_delayedoperationpurgatory_purgatorysize"
        waiting = (
            (
                0 if self._meter is None else self._meter.unanswered(key),
                labelled(delayedOperation=request),
            )
            for request, key in _DELAYED.items()
        )
        yield from family(name, "gauge", "Requests that wait for their answer", waiting)
        name = "kafka_server_kafkaserver_brokerstate"
        state = RUNNING if health(self._node, self._parts).ready else STARTING
        yield from family(name, "gauge", "3: running; 1: not ready yet", iter([(state, "")]))


def _meter(
    node: Node, before: Recompressing | None, config: BrokerConfig, *, is_asked: bool
) -> Meter | None:
    """None where nobody asks for what it measures."""
    slow_ms = config.slow_request_log_ms
    slow = SlowRequests(slow_ms) if slow_ms >= 0 else None
    return Meter(node, before, slow) if is_asked or slow is not None else None
