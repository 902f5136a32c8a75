"""The limits of what peers ask reach the listeners of a node that has them in its settings."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from linker.shell.options import MIB, OPEN_METHOD
from linker.wire.administration import SERVICE_PREFIX
from tests.process.asking import until
from tests.process.nodes import NodeProcess
from tests.process.test_unfinished_messages import (
    TIMEOUT_S,
    Peers,
    peers_of,
    takes_connections,
)

CONNECTIONS, TRIED, HTTP = 64, 70, 3
PIECE = 10_000  # fits into the windows that a connection begins with
SETTINGS = {
    "rest.listener": "127.0.0.1:0",
    "metrics.listener": "127.0.0.1:0",
    "link.max.connections": CONNECTIONS,
    "admin.max.connections": CONNECTIONS,
    "admin.max.commands": CONNECTIONS + 1,
    "admin.max.commands.per.ip": 1,
    "admin.request.max.bytes": 2 * MIB,
    "admin.queued.max.bytes": 2 * MIB * TRIED,  # none waits for room
    "http.max.connections": HTTP,
    "http.max.connections.per.ip": HTTP,
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    directory: Path = tmp_path_factory.mktemp("node")
    running = NodeProcess(directory, SETTINGS)
    running.start()
    until(lambda: takes_connections(running.told["rest"]), TIMEOUT_S, running.log)
    yield running
    running.stop()
    assert "Traceback" not in running.log()


async def filled(peers: Peers, port: str, path: str) -> list[bytes]:
    """Of all that try, as many get through as there may be connections. Returns what gRPC has said to any."""
    begun = peers.send(TRIED, port, path, PIECE)
    await peers.are(lambda: sum(one.is_refused for one in begun) == TRIED - CONNECTIONS)
    through = [one for one in begun if not one.is_refused]
    await peers.are(lambda: all(one.is_sent for one in through))
    return [one.status for one in begun if one.status]


def test_links_have_as_many_connections_as_the_settings_say(node: NodeProcess) -> None:
    async def scene() -> None:
        async with peers_of(node) as peers:
            told = await filled(peers, "link", OPEN_METHOD)
            assert not told, "the connections that are too many are closed before"

    asyncio.run(scene())


def test_commands_over_rest_and_grpc_share_what_one_address_may_have(node: NodeProcess) -> None:
    async def scene() -> tuple[int, str]:
        async with peers_of(node) as peers:
            assert not await filled(peers, "admin", SERVICE_PREFIX + "ListLinks")
            # From an address with an unfinished command, and from one without.
            refused = await asyncio.to_thread(ask, node, peers.host(0))
            answered = await asyncio.to_thread(ask, node, "127.0.1.1")
            assert answered.status_code != 429
            return refused.status_code, refused.json()["message"]

    status, because = asyncio.run(scene())
    assert status == 429 and "admin.max.commands.per.ip" in because


def ask(node: NodeProcess, host: str) -> httpx.Response:
    with httpx.Client(transport=httpx.HTTPTransport(local_address=host), timeout=30) as client:
        return client.get(f"http://{node.told['rest']}/kafka/v3/clusters")


@pytest.mark.parametrize("port", ["rest", "metrics"])
def test_http_has_as_many_connections_as_the_settings_say(node: NodeProcess, port: str) -> None:
    host, _, number = node.told[port].rpartition(":")
    with ExitStack() as held:
        idle = [
            held.enter_context(socket.create_connection((host, int(number)), timeout=3))
            for _ in range(HTTP + 1)
        ]
        assert is_closed(idle[0]), "before its time for a request is over"
        idle[1].setblocking(False)
        with pytest.raises(BlockingIOError):
            idle[1].recv(1)


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
