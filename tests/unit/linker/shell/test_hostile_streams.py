"""`link.listener` under peers that send no whole message, or too long ones, over real sockets."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from linker.peer_limits import MIB, StreamLimits
from linker.shell.link_server import LinkServer
from linker.shell.options import OPEN_METHOD
from linker.shell.streams import Streams
from tests.unit.linker.shell.partial_messages import PartialMessage


class Peers:
    """Each message is of another connection, with one stream."""

    def __init__(self, port: int) -> None:
        self._address = f"127.0.0.1:{port}"
        self._news = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []

    def open(self, count: int, size: int, host: str) -> list[PartialMessage]:
        begun = [PartialMessage(size, self._news) for _ in range(count)]
        self.tasks += [
            asyncio.create_task(one.send(self._address, OPEN_METHOD, host)) for one in begun
        ]
        return begun

    async def are(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not wanted():
                self._news.clear()
                await self._news.wait()


def play(limits: StreamLimits, scene: Callable[[Peers], Awaitable[None]]) -> None:
    async def run() -> None:
        streams = Streams(lambda event: None, MIB)
        server = LinkServer(streams, lambda event: None, limits)
        peers = Peers(server.bind("127.0.0.1:0"))
        await server.start()
        try:
            await scene(peers)
        finally:
            for task in peers.tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            await server.stop()

    asyncio.run(run())


def test_one_address_has_its_share_of_the_streams_and_others_the_rest() -> None:
    async def scene(peers: Peers) -> None:
        begun = peers.open(3, MIB, "127.0.0.2")
        await peers.are(lambda: sum(one.is_refused for one in begun) == 1)
        await peers.are(lambda: sum(one.is_sent and not one.is_refused for one in begun) == 2)
        (refused,) = [one for one in begun if one.is_refused]
        assert (
            b"2 streams of this address are open here (link.max.streams.per.ip)" in refused.status
        )
        (other,) = peers.open(1, MIB, "127.0.0.3")
        await peers.are(lambda: other.is_sent)
        (last,) = peers.open(1, MIB, "127.0.0.3")
        await peers.are(lambda: last.is_refused)
        assert b"3 streams are open here (link.max.streams)" in last.status

    play(StreamLimits(total=3, per_ip=2), scene)


def test_connections_have_a_limit() -> None:
    async def scene(peers: Peers) -> None:
        begun = peers.open(6, MIB, "127.0.0.2")
        await peers.are(lambda: sum(one.is_refused for one in begun) == 2)
        await peers.are(lambda: sum(one.is_sent for one in begun) == 4)
        assert not any(one.is_sent and one.is_refused for one in begun)

    play(StreamLimits(connections=4), scene)
