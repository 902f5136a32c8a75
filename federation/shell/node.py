"""A region's process: a broker and its links in one node, behind one loop."""

import asyncio
import random
from pathlib import Path

from brokers.config.broker_config import BrokerConfig, ConfigError, parse
from brokers.config.endpoints import Address, endpoint
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.node.broker import Broker
from brokers.shell.clock import Clock
from brokers.shell.disks import open_disks
from brokers.shell.identity import IdentityError
from brokers.shell.memory import spare_collector
from brokers.shell.metrics import Metrics
from brokers.shell.node import Node, NodeRefused
from brokers.shell.process import (
    announce,
    ask_to_end_on_signals,
    bind,
    bind_metrics,
    listen_to_clients,
    listen_to_nodes,
    open_peers,
    open_when_serving,
    prepare,
)
from brokers.shell.server import Server
from federation.node import RegionNode
from linker.linker import Linker
from linker.shell.client import Dialer
from linker.shell.server import LinkServer
from linker.shell.streams import Streams

DEFAULT_ADMIN_LISTENER = (
    "127.0.0.1:0"  # without the setting: any free port, told on stdout and to whoever asks
)


class NotStarted(Exception):
    """Every problem of the settings, or why the node may not be what they say; a line each."""


def main(path: Path) -> None:
    """Runs until SIGTERM or SIGINT; raises NotStarted."""
    import uvloop

    try:
        config = parse(path.read_text(encoding="utf-8"))
        uvloop.run(run_node(config))
    except UnicodeDecodeError as error:
        raise NotStarted(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except (ConfigError, IdentityError, MetadataLogError, NodeRefused, OSError) as error:
        raise NotStarted(str(error)) from error


async def run_node(config: BrokerConfig) -> None:
    """Listeners are bound before anything starts; clients and links are answered once the broker is ready."""
    prepare(config)
    bound, config = bind(config)
    metrics_socket, config = bind_metrics(config)
    streams = Streams(lambda event: node.feed(event))
    links = LinkServer(streams, lambda event: node.feed(event))
    config = _bind_admin(links, config)
    disks = open_disks(config)
    rng = random.SystemRandom()
    broker = Broker(
        config,
        disks.cluster_id,
        rng,
        directories=disks.directories,
        previous_broker_epoch=disks.storage.previous_broker_epoch,
    )
    node = Node(RegionNode(broker, Linker(broker.view, rng)), disks.storage, Clock())
    metrics = Metrics(node, broker.context, metrics_socket)
    server = Server(config, metrics.feed, asyncio.get_running_loop().time)
    dialer, peers = Dialer(streams), open_peers(config, node)
    node.serve(server)
    node.perform |= peers.perform | streams.perform | links.perform | dialer.perform
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
            await links.start()
            announce(config, where)
            await node.stopped
    server.close()
    await dialer.stop()
    await links.stop()
    await node.stop()
    peers.close()
    await metrics.stop()


def _bind_admin(links: LinkServer, config: BrokerConfig) -> BrokerConfig:
    """Takes the port; port 0 becomes the one that the system chose."""
    wanted = config.admin_listener or DEFAULT_ADMIN_LISTENER
    try:
        port = links.bind(wanted)
    except RuntimeError as error:
        raise ConfigError([f"admin.listener: can't listen on {wanted}: {error}"]) from None
    chosen = Address(endpoint(wanted).host, port)
    return config.model_copy(update={"admin_listener": str(chosen)})
