"""A node as a process: bind the ports, lock the directories, start the core, listen, announce, stop on a signal.

`python -m brokers` runs a broker alone, `causeway node run` a broker with its region's links (`NodeServices`).
"""

import asyncio
import json
import logging
import os
import random
import resource
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import uvloop

from brokers.api.recompressions import Recompressions
from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.effects import Serve
from brokers.events import EndAsked, Listener
from brokers.ids import Instant
from brokers.node.broker import Broker
from brokers.ports import Rng
from brokers.shell.binding import bind, bind_http, bound_address
from brokers.shell.clock import Clock
from brokers.shell.disks import open_disks
from brokers.shell.log_levels import PythonLogLevels
from brokers.shell.logs import begin_logging
from brokers.shell.memory import keep_freed_memory, spare_collector
from brokers.shell.metrics import Metrics
from brokers.shell.node import ONE_LINE, Core, Node
from brokers.shell.peers import Peers
from brokers.shell.recompressing import Recompressing
from brokers.shell.server import Server

logger = logging.getLogger(__name__)
IDLE_SHARE = 0.9  # of connections.max.idle.ms: Kafka's clients wait 9 minutes, its brokers 10


class NodeServices(Protocol):
    """What runs in the process beside the broker. Made before the node, with its settings and its `feed`."""

    @property
    def perform(self) -> Mapping[type, Callable[[Any], None]]:
        """Performs the effects that are not the broker's, by type."""

    def bind(self) -> BrokerConfig:
        """Bind its ports before anything starts; returns the settings with them. Raises ConfigError."""

    def compose(self, broker: Broker, rng: Rng) -> Core:
        """The core of the node."""

    def metrics_text(self, now: Instant) -> Iterator[str]:
        """For the page `/metrics`, in pieces between which the node may run."""

    async def start(self) -> None:
        """Called when the node is ready."""

    async def stop(self) -> None:
        """Called when the node ends, after clients were disconnected."""


MakeServices: TypeAlias = Callable[[BrokerConfig, Callable[[Any], None]], NodeServices]


class NoServices:
    """A broker alone."""

    def __init__(self, config: BrokerConfig, feed: Callable[[Any], None]) -> None:
        self._config = config
        self.perform: Mapping[type, Callable[[Any], None]] = {}

    def bind(self) -> BrokerConfig:
        given = {
            "link.listener": self._config.link_listener,
            "link.advertised.listener": self._config.link_advertised_listener,
            "admin.listener": self._config.admin_listener,
            "rest.listener": self._config.rest_listener,
        }
        only = "only `causeway node run` serves it; leave it out here"
        problems = [f"{name}: {only}" for name, value in given.items() if value is not None]
        if problems:
            raise ConfigError(problems)
        return self._config

    def compose(self, broker: Broker, rng: Rng) -> Core:
        return broker

    def metrics_text(self, now: Instant) -> Iterator[str]:
        return iter(())

    async def start(self) -> None:
        """There is nothing."""

    async def stop(self) -> None:
        """There is nothing."""


def run(config: BrokerConfig, make_services: MakeServices) -> None:
    """Runs `run_node` in a new event loop."""
    keep_freed_memory()  # before gRPC has threads: an arena that a thread has been given stays
    uvloop.run(run_node(config, make_services))


async def run_node(config: BrokerConfig, make_services: MakeServices) -> None:
    """Runs until SIGTERM or SIGINT. Raises ConfigError, IdentityError and others before anything is started."""
    beside = make_services(config, lambda event: node.feed(event))
    config = beside.bind()
    prepare(config)
    bound, config = bind(config)
    metrics_socket, config = bind_http(config, "metrics.listener")
    disks = open_disks(config)
    rng = random.SystemRandom()
    broker = Broker(
        config,
        disks.cluster_id,
        rng,
        directories=disks.directories,
        previous_broker_epoch=disks.storage.previous_broker_epoch,
        log_levels=PythonLogLevels(),
    )
    node = Node(beside.compose(broker, rng), disks.storage, Clock())
    needed = Recompressions(broker.parts.raft, broker.parts.partitions)
    recompressing = Recompressing(node.feed, needed.of)
    metrics = Metrics(node, broker.parts, metrics_socket, beside.metrics_text, recompressing)
    server = Server(config, metrics.feed, asyncio.get_running_loop().time)
    recompressing.connection_of = server.connection_of
    peers = open_peers(config, node)
    node.serve(server)
    node.perform |= {**peers.perform, **beside.perform, **metrics.perform(server)}
    await metrics.start()
    await listen_to_nodes(server, config, bound)
    clients = [bound[name] for name in config.broker_names]
    open_when_serving(node, clients, config.socket_listen_backlog_size)
    shut_down_on_signals(node)
    node.start()
    if await node.reaches(node.serving):
        spare_collector()
        listeners = await listen_to_clients(server, config, bound)
        if await node.reaches(node.ready):
            await beside.start()
            announce(config, listeners)
            await node.stopped
    server.close()
    await beside.stop()
    await recompressing.stop()
    await node.stop()
    peers.close()
    await metrics.stop()


def prepare(config: BrokerConfig) -> None:
    """Sets up a node's process. Logs go to stderr: stdout has only the line with the node's addresses."""
    assert __debug__, "a node does not run without its assertions: leave out -O"
    open_files_max = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files_max, open_files_max))
    begin_logging(config)
    for line in config.warnings():
        logger.warning("%s", line.translate(ONE_LINE))


def open_peers(config: BrokerConfig, node: Node) -> Peers:
    """The connections to other nodes; idle ones are closed before the other end closes them."""
    return Peers(
        config.node_id,
        node.feed,
        frame_bytes_max=config.socket_request_max_bytes,
        idle_seconds=config.connections_max_idle_ms / 1000 * IDLE_SHARE,
    )


async def listen_to_nodes(
    server: Server, config: BrokerConfig, bound: dict[str, socket.socket]
) -> None:
    """Opens the controller listener, from the start: no controller becomes ready before it has reached others."""
    if config.controller_listener is not None:
        name = config.controller_listener
        await server.listen(bound[name], Listener.CONTROLLER, name)


def open_when_serving(node: Node, bound: Sequence[socket.socket], backlog: int) -> None:
    """Has `Serve` open the clients' sockets `bound` before it takes effect.

    From the step in which this broker asks to be unfenced, no connection is refused: controllers take a refusal for a
    dead process. Connections made before the server accepts wait in the backlog.
    """
    serve = node.perform[Serve]

    def open_and_serve(effect: Serve) -> None:
        for each in bound:
            each.listen(backlog)
        serve(effect)

    node.perform[Serve] = open_and_serve


async def listen_to_clients(
    server: Server, config: BrokerConfig, bound: dict[str, socket.socket]
) -> dict[str, str]:
    """Accepts clients; returns the address of each listener, none on a node without the role broker."""
    for name in config.broker_names:
        await server.listen(bound[name], Listener.DATA, name)
    return {name: bound_address(bound[name]) for name in config.broker_names}


def announce(config: BrokerConfig, listeners: Mapping[str, str]) -> None:
    """Prints one line on stdout; `kafka` is the inter-broker listener, `listeners` are all broker listeners."""
    where = {
        "kafka": listeners.get(config.inter_broker_name),
        "listeners": listeners,
        "link": config.link_listener,
        "admin": config.admin_listener,
        "metrics": config.metrics_listener,
        "rest": config.rest_listener,
    }
    print(json.dumps({"ready": True, "pid": os.getpid(), **where}), flush=True)


def shut_down_on_signals(node: Node) -> None:
    """Has SIGTERM and SIGINT begin a controlled shutdown."""
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, node.feed, EndAsked())
