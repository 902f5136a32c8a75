"""The page `/metrics`, and the listener that serves it beside `/health`.

A node without `metrics.listener` has none of it: nothing is counted, nothing listens.
"""

import socket
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any, Final

from brokers.api import fetch, produce
from brokers.node.parts import Parts
from brokers.shell.clock import Clock
from brokers.shell.health import health, health_routes
from brokers.shell.http import HttpResponse, HttpServer
from brokers.shell.meter import Meter
from brokers.shell.node import Node
from brokers.shell.process_stats import process_text
from brokers.shell.server import Feed, Server
from brokers.telemetry.exposition import CONTENT_TYPE, family, labelled
from brokers.telemetry.partition_counters import PartitionCounters
from brokers.telemetry.requests import traffic_text
from brokers.telemetry.state import state_text

STARTING, RUNNING = 1, 3  # two of Kafka's states of a broker
_DELAYED: Final = {"Fetch": fetch.KEY, "Produce": produce.KEY}


class Metrics:
    """Of one node. `bound` None: no listener, so `feed` is the node's own and there is nothing to `perform`."""

    def __init__(self, node: Node, parts: Parts, bound: socket.socket | None) -> None:
        self._node = node
        self._parts = parts
        self._bound = bound
        self._clock = Clock()
        self._meter = Meter(node.feed)
        self._changes = PartitionCounters(parts.config.node_id)
        if bound is not None:
            parts.publisher.subscribe(self._changes.follow)
        self._http = HttpServer({"/metrics": self._page, **health_routes(node, parts)})

    @property
    def feed(self) -> Feed:
        """Where a server sends its requests."""
        return self._node.feed if self._bound is None else self._meter.feed

    def perform(self, server: Server) -> Mapping[type, Callable[[Any], None]]:
        """What the node does from then on with answers of this server's requests."""
        return {} if self._bound is None else self._meter.perform(server)

    async def start(self) -> None:
        """Before the node is ready, so that it can be asked why it isn't."""
        if self._bound is not None:
            await self._http.start(self._bound)

    async def stop(self) -> None:
        await self._http.stop()

    def _page(self) -> HttpResponse:
        return HttpResponse(self._text(), CONTENT_TYPE)

    def _text(self) -> Iterator[str]:
        yield from state_text(self._parts, self._changes, self._clock.now())
        yield from traffic_text(self._meter.traffic, self._parts.raft.image, perf_counter())
        yield from self._own_text()
        yield from process_text()

    def _own_text(self) -> Iterator[str]:
        name = "kafka_server_delayedoperationpurgatory_purgatorysize"
        waiting = (
            (self._meter.unanswered(key), labelled(delayedOperation=request))
            for request, key in _DELAYED.items()
        )
        yield from family(name, "gauge", "Requests that wait for their answer", waiting)
        name = "kafka_server_kafkaserver_brokerstate"
        state = RUNNING if health(self._node, self._parts).ready else STARTING
        yield from family(name, "gauge", "3: running; 1: not ready yet", iter([(state, "")]))
