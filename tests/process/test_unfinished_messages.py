"""Peers that send all of a message but its last byte. gRPC holds what has come, so the limits of streams bound it.

With the defaults that is 4 MiB for each of 256 streams; this node allows fewer, as one that strangers reach should.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from linker.shell.options import MIB, OPEN_METHOD, REQUEST_BYTES_MAX
from linker.wire.administration import SERVICE_PREFIX
from tests.process.asking import until
from tests.process.nodes import NodeProcess
from tests.unit.linker.shell.partial_messages import PartialMessage

RESIDENT_MAX = 300 * MIB
STREAMS, TRIED = 16, 80  # without the limit they would hold 320 MiB
COMMANDS, BODIES = 24, 24  # more than are read at once
TIMEOUT_S = 60


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    settings = {"rest.listener": "127.0.0.1:0", "link.max.streams": STREAMS}
    running = NodeProcess(tmp_path, settings)
    running.start()
    until(lambda: takes_connections(running.told["rest"]), TIMEOUT_S, running.log)
    yield running
    running.stop()
    assert "Traceback" not in running.log()


def takes_connections(address: str) -> bool:
    """REST does once the region is known; raises OSError before."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))):
        return True


class Peers:
    """Each message on a connection of its own, from an address of its own."""

    def __init__(self, node: NodeProcess) -> None:
        self._node = node
        self._news = asyncio.Event()
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []

    @staticmethod
    def host(number: int) -> str:
        """The address of one of them."""
        return f"127.0.0.{2 + number}"

    def send(
        self, count: int, port: str, path: str, size: int = REQUEST_BYTES_MAX
    ) -> list[PartialMessage]:
        begun = [PartialMessage(size, self._news) for _ in range(count)]
        address = self._node.told[port]
        self._tasks += [
            asyncio.create_task(one.send(address, path, self.host(number)))
            for number, one in enumerate(begun)
        ]
        return begun

    async def send_bodies(self, count: int) -> None:
        """Over HTTP."""
        host, _, port = self._node.told["rest"].rpartition(":")
        post = b"POST /kafka/v3/clusters/x/links?link_name=l HTTP/1.1\r\nHost: x\r\n"
        size = b"Content-Length: %d\r\n\r\n" % REQUEST_BYTES_MAX
        for number in range(count):
            local = (self.host(number), 0)
            _, writer = await asyncio.open_connection(host, int(port), local_addr=local)
            self._stack.callback(writer.close)
            writer.write(post + size + bytes(REQUEST_BYTES_MAX - 1))

    async def are(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while not wanted():
                self._news.clear()
                await self._news.wait()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._stack.aclose()


@asynccontextmanager
async def peers_of(node: NodeProcess) -> AsyncIterator[Peers]:
    peers = Peers(node)
    try:
        yield peers
    finally:
        await peers.stop()


async def attack(node: NodeProcess) -> int:
    """The memory of the node once all streams that it allows hold as much as they may."""
    async with peers_of(node) as peers:
        peers.send(COMMANDS, "admin", SERVICE_PREFIX + "ListLinks")
        await peers.send_bodies(BODIES)
        begun = peers.send(TRIED, "link", OPEN_METHOD)
        await peers.are(lambda: all(one.is_sent or one.is_refused for one in begun))
        assert sum(one.is_sent and not one.is_refused for one in begun) == STREAMS
        admin = AdminClient({"bootstrap.servers": node.address})
        await asyncio.to_thread(admin.list_topics, timeout=30)
        return int(psutil.Process(node.pid).memory_info().rss)


def test_unfinished_messages_take_no_more_than_the_streams_that_a_node_allows(
    node: NodeProcess, record_property: Callable[[str, object], None]
) -> None:
    held = asyncio.run(attack(node))
    record_property("resident", held)
    print(f"{held / MIB:.0f} MiB resident")
    assert held < RESIDENT_MAX, f"{held / MIB:.0f} MiB"
