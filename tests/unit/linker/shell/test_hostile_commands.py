"""`admin.listener` under peers that send no whole message, over real sockets: others are answered."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import grpc
import grpc.aio

from linker.answers import Links
from linker.events import AdminAnswered
from linker.peer_limits import MIB, CommandLimits
from linker.shell.admin_server import AdminServer
from linker.wire.administration import SERVICE_PREFIX
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.linker.shell.partial_messages import PartialMessage

METHOD = f"{SERVICE_PREFIX}ListLinks"
HOSTILE = "127.0.0.2"


class Peers:
    """Each of its messages is one of a hostile peer."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.messages: list[PartialMessage] = []
        self._news = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def attack(self, count: int, size: int) -> list[PartialMessage]:
        begun = [PartialMessage(size, self._news) for _ in range(count)]
        self.messages += begun
        address = f"127.0.0.1:{self.port}"
        self._tasks += [asyncio.create_task(one.send(address, METHOD, HOSTILE)) for one in begun]
        return begun

    async def are(self, wanted: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not wanted():
                self._news.clear()
                await self._news.wait()

    async def ask(self) -> Any:
        """As an operator of another address does."""
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            ask: Any = channel.unary_unary
            request = pb.ListLinksRequest().SerializeToString()
            return pb.LinksReply.FromString(await ask(METHOD)(request, timeout=20))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def play(limits: CommandLimits, scene: Callable[[Peers], Awaitable[None]]) -> None:
    async def run() -> None:
        server = AdminServer(
            lambda event: server.perform[AdminAnswered](AdminAnswered(event.ticket, Links(()))),
            limits,
        )
        peers = Peers(server.bind("127.0.0.1:0"))
        await server.start()
        try:
            await scene(peers)
        finally:
            await peers.stop()
            await server.stop()

    asyncio.run(run())


def test_who_fills_its_share_is_told_so_and_others_are_answered() -> None:
    async def scene(peers: Peers) -> None:
        filling = peers.attack(2, MIB)
        await peers.are(lambda: all(one.is_sent for one in filling))
        (refused,) = peers.attack(1, MIB)
        await peers.are(lambda: refused.is_refused)
        assert b"2 commands of this address are under way here" in refused.status
        assert b"admin.max.commands.per.ip" in refused.status
        assert not (await peers.ask()).HasField("error")

    play(CommandLimits(total=3, per_ip=2), scene)


def test_no_more_is_read_of_a_peer_than_its_share() -> None:
    """Each would have had memory for all that it announced."""

    async def scene(peers: Peers) -> None:
        begun = peers.attack(6, 2 * MIB)
        await peers.are(lambda: sum(one.is_sent for one in begun) == 2)
        assert not (await peers.ask()).HasField("error")
        assert sum(one.is_sent and not one.is_refused for one in begun) == 2

    limits = CommandLimits(total=16, per_ip=8, request_bytes=2 * MIB, queued_bytes=8 * MIB)
    play(limits, scene)


def test_connections_have_a_limit() -> None:
    async def scene(peers: Peers) -> None:
        begun = peers.attack(6, 10_000)
        await peers.are(lambda: sum(one.is_refused for one in begun) == 2)
        await peers.are(lambda: sum(one.is_sent for one in begun if not one.is_refused) == 4)
        assert not any(one.status for one in begun), "nobody heard of gRPC"

    play(CommandLimits(connections=4), scene)
