"""A broker as a process: claim the directory, start the cores, listen, tell that it answers, stop on a signal."""

import asyncio
import json
import os
import random
import resource
import signal
import socket
from collections.abc import Sequence

from brokers.config.broker_config import BrokerConfig, ConfigError
from brokers.config.endpoints import Address, endpoint
from brokers.effects import Serve
from brokers.events import EndAsked, Listener
from brokers.node.broker import Broker
from brokers.shell.clock import Clock
from brokers.shell.disks import open_disks
from brokers.shell.logs import begin_logging
from brokers.shell.memory import keep_freed_memory, spare_collector
from brokers.shell.metrics import Metrics
from brokers.shell.node import Node
from brokers.shell.peers import Peers
from brokers.shell.server import BACKLOG, Server

IDLE_SHARE = 0.9  # of connections.max.idle.ms: Kafka's clients wait 9 minutes, its brokers 10


async def run_broker(config: BrokerConfig) -> None:
    """Runs until SIGTERM or SIGINT."""
    if config.admin_listener is not None:
        raise ConfigError(["admin.listener: only `causeway node run` serves it; leave it out here"])
    prepare(config)
    bound, config = bind(config)
    metrics_socket, config = bind_metrics(config)
    disks = open_disks(config)
    rng = random.SystemRandom()
    broker = Broker(
        config,
        disks.cluster_id,
        rng,
        directories=disks.directories,
        previous_broker_epoch=disks.storage.previous_broker_epoch,
    )
    node = Node(broker, disks.storage, Clock())
    metrics = Metrics(node, broker.context, metrics_socket)
    server = Server(config, metrics.feed, asyncio.get_running_loop().time)
    peers = open_peers(config, node)
    node.serve(server)
    node.perform |= peers.perform
    node.perform |= metrics.perform(server)
    await metrics.start()
    await listen_to_nodes(server, config, bound)
    open_when_serving(node, [bound[name] for name in config.broker_names])
    ask_to_end_on_signals(node)
    node.start()
    if await node.reaches(node.serving):
        spare_collector()
        where = await listen_to_clients(server, config, bound)
        if await node.reaches(node.ready):
            announce(config, where)
            await node.stopped
    server.close()
    await node.stop()
    peers.close()
    await metrics.stop()


def prepare(config: BrokerConfig) -> None:
    """What every node's process does first. Logs go to stderr: stdout has the one line that says where it answers."""
    assert __debug__, "a node does not run without its assertions: leave out -O"
    keep_freed_memory()
    open_files_max = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (open_files_max, open_files_max))
    begin_logging(config)


def open_peers(config: BrokerConfig, node: Node) -> Peers:
    """An idle connection is left before the other end would close it."""
    return Peers(
        config.node_id,
        node.feed,
        frame_bytes_max=config.socket_request_max_bytes,
        idle_seconds=config.connections_max_idle_ms / 1000 * IDLE_SHARE,
    )


def bind(config: BrokerConfig) -> tuple[dict[str, socket.socket], BrokerConfig]:
    """Takes the ports before anything is started -> sockets by listener; port 0 becomes what the system chose."""
    bound: dict[str, socket.socket] = {}
    try:
        for name, where in config.listeners_by_name.items():
            bound[name] = _bind(where)
    except OSError as error:
        for each in bound.values():
            each.close()
        raise ConfigError([f"listeners: can't listen on {name}://{where}: {error}"]) from None
    chosen = ",".join(f"{name}://{address(each)}" for name, each in bound.items())
    return bound, config.model_copy(update={"listeners": chosen})


def bind_metrics(config: BrokerConfig) -> tuple[socket.socket | None, BrokerConfig]:
    """The same for `metrics.listener`; None where there is none."""
    if config.metrics_listener is None:
        return None, config
    try:
        bound = _bind(endpoint(config.metrics_listener))
    except OSError as error:
        wanted = config.metrics_listener
        raise ConfigError([f"metrics.listener: can't listen on {wanted}: {error}"]) from None
    return bound, config.model_copy(update={"metrics_listener": address(bound)})


def _bind(where: Address) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in where.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(where)
    except OSError:
        bound.close()
        raise
    return bound


async def listen_to_nodes(
    server: Server, config: BrokerConfig, bound: dict[str, socket.socket]
) -> None:
    """From the start: controllers must hear one another before any of them can be ready."""
    if config.controller_listener is not None:
        name = config.controller_listener
        await server.listen(bound[name], Listener.CONTROLLER, name)


def open_when_serving(node: Node, bound: Sequence[socket.socket]) -> None:
    """Binds `Serve` to open the listeners for clients, whose sockets are `bound`, before it takes effect.

    Nobody is refused from the step on in which the controller is asked to count on this broker. Who comes before the
    server listens waits a moment. A refusal would tell the controller that the process is gone.
    """
    serve = node.perform[Serve]

    def open_and_serve(effect: Serve) -> None:
        for each in bound:
            each.listen(BACKLOG)
        serve(effect)

    node.perform[Serve] = open_and_serve


async def listen_to_clients(
    server: Server, config: BrokerConfig, bound: dict[str, socket.socket]
) -> dict[str, str]:
    """The address of each listener where clients are answered from now on; none on a node without the role broker."""
    for name in config.broker_names:
        await server.listen(bound[name], Listener.DATA, name)
    return {name: address(bound[name]) for name in config.broker_names}


def address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def announce(config: BrokerConfig, listeners: dict[str, str]) -> None:
    """One line on stdout; `kafka` is the inter-broker listener, `listeners` are all for clients."""
    where = {
        "kafka": listeners.get(config.inter_broker_name),
        "listeners": listeners,
        "admin": config.admin_listener,
        "metrics": config.metrics_listener,
    }
    print(json.dumps({"ready": True, "pid": os.getpid(), **where}), flush=True)


def ask_to_end_on_signals(node: Node) -> None:
    """From now on a signal is a question: the node may have something to hand over first."""
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, node.feed, EndAsked())
