"""A broker as a process: claim the directory, start the cores, listen, tell that it answers, stop on a signal."""

import asyncio
import json
import logging
import os
import random
import signal
import socket
import sys

from brokers.broker import Broker
from brokers.config import BrokerConfig, ConfigError
from brokers.log.storage import Storage
from brokers.shell.clock import Clock
from brokers.shell.files import DiskFiles
from brokers.shell.identity import claim
from brokers.shell.memory import keep_freed_memory
from brokers.shell.node import Node
from brokers.shell.server import Server

LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


async def run_broker(config: BrokerConfig) -> None:
    """Runs until SIGTERM or SIGINT."""
    start_logging()
    keep_freed_memory()
    bound, config = bind(config)
    cluster_id, _ = claim(config)
    clock = Clock()
    node = Node(Broker(config, cluster_id, random.SystemRandom()), open_storage(config), clock)
    server = Server(config, node.feed, asyncio.get_running_loop().time)
    node.serve(server)
    node.start()
    await node.ready
    await server.listen(bound)
    announce({"kafka": address(bound), "admin": None})
    await stop_signal()
    server.close()
    await node.stop()


def start_logging() -> None:
    """To stderr; stdout carries the one line that says where the node answers."""
    assert __debug__, "a node does not run without its assertions: leave out -O"
    logging.basicConfig(level=logging.INFO, format=LOG_FORMAT, stream=sys.stderr)


def open_storage(config: BrokerConfig) -> Storage:
    return Storage(DiskFiles(config.log_dirs), index_interval_bytes=config.log_index_interval_bytes)


def bind(config: BrokerConfig) -> tuple[socket.socket, BrokerConfig]:
    """Takes the port before anything is started; port 0 becomes the one that the system chose."""
    host, port = config.listen_address
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        raise ConfigError([f"listeners: can't listen on {config.listeners}: {error}"]) from None
    return bound, config.model_copy(update={"listeners": f"PLAINTEXT://{address(bound)}"})


def address(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def announce(where: dict[str, str | None]) -> None:
    print(json.dumps({"ready": True, "pid": os.getpid(), **where}), flush=True)


async def stop_signal() -> None:
    loop = asyncio.get_running_loop()
    stopped = loop.create_future()

    def stop() -> None:
        if not stopped.done():
            stopped.set_result(None)

    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop)
    await stopped
