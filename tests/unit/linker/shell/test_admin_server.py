"""Commands that another broker coordinates: forwarded, and asked again where that broker has died."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio
import pytest

from linker.answers import Links, Topics
from linker.commands import ListLinks
from linker.errors import LinkRefusal
from linker.events import AdminAnswered, AdminAsked, Elsewhere
from linker.shell import admin_server
from linker.shell.admin_server import AdminServer, address_of
from linker.wire.v1 import admin_pb2 as pb
from linker.wire.v1 import admin_pb2_grpc


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:10.0.0.7:4321", "10.0.0.7:4321"),
        ("ipv6:%5B::1%5D:4321", "[::1]:4321"),
        ("10.0.0.7:4321", "10.0.0.7:4321"),
        ("[::1]:4321", "[::1]:4321"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_whoever_asks_has_one_form_over_grpc_and_rest(peer: str, address: str) -> None:
    assert address_of(peer) == address


Answers = Callable[[int], Any]  # of the n-th time that a broker is asked


class Broker:
    """An admin listener whose core answers as it is told."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.asked = 0
        self.server = AdminServer(self._feed)
        self.port = self.server.bind("127.0.0.1:0")

    def _feed(self, event: Any) -> None:
        assert isinstance(event, AdminAsked) and event.command == ListLinks()
        self.asked += 1
        self.server.perform[AdminAnswered](AdminAnswered(event.ticket, self._answers(self.asked)))


async def ask(broker: Broker) -> Any:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{broker.port}") as channel:
        stub: Any = admin_pb2_grpc.AdminStub(channel)  # type: ignore[no-untyped-call]
        return await stub.ListLinks(pb.ListLinksRequest())


async def asked(*brokers: Broker) -> Any:
    """The first one is asked."""
    for broker in brokers:
        await broker.server.start()
    try:
        return await ask(brokers[0])
    finally:
        for broker in brokers:
            await broker.server.stop()


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_a_command_goes_to_the_coordinator() -> None:
    async def run() -> tuple[Any, Broker]:
        coordinator = Broker(lambda _: Links(()))
        broker = Broker(lambda _: Elsewhere(f"127.0.0.1:{coordinator.port}"))
        return await asked(broker, coordinator), coordinator

    reply, coordinator = asyncio.run(run())
    assert not reply.HasField("error") and coordinator.asked == 1


def test_a_coordinator_that_has_died_is_waited_for_until_there_is_another_one() -> None:
    async def run() -> tuple[Any, Broker]:
        dead = nobody()
        broker = Broker(lambda count: Elsewhere(dead) if count < 3 else Links(()))
        return await asked(broker), broker

    reply, broker = asyncio.run(run())
    assert not reply.HasField("error") and broker.asked == 3


def test_what_was_forwarded_is_not_forwarded_again() -> None:
    async def run() -> Any:
        other = Broker(lambda _: Elsewhere(nobody()))
        broker = Broker(lambda _: Elsewhere(f"127.0.0.1:{other.port}"))
        return await asked(broker, other)

    assert asyncio.run(run()).error.code == admin_server.MOVING[0]


def test_a_refusal_is_the_answer() -> None:
    async def run() -> Any:
        return await asked(Broker(lambda _: LinkRefusal("CODE", "because")))

    assert asyncio.run(run()).error.code == "CODE"


def test_a_coordinator_of_an_earlier_release_that_does_not_know_the_command_is_named() -> None:
    async def run() -> tuple[Any, str]:
        earlier = grpc.aio.server()
        coordinator = f"127.0.0.1:{earlier.add_insecure_port('127.0.0.1:0')}"
        await earlier.start()
        try:
            return await asked(Broker(lambda _: Elsewhere(coordinator))), coordinator
        finally:
            await earlier.stop(None)

    reply, coordinator = asyncio.run(run())
    assert reply.error.code == "UNSUPPORTED_VERSION" and "upgrade" in reply.error.hint
    assert coordinator in reply.error.message and "ListLinks" in reply.error.message


@pytest.mark.parametrize(
    ("method", "request_message"),
    [
        ("TruncateAndRestoreMirrors", pb.MirrorsRequest(link_name="west-east")),
        ("FailoverMirrors", pb.MirrorsRequest(link_name="west-east")),
        ("DeleteLink", pb.DeleteLinkRequest(link_name="west-east")),
    ],
)
def test_a_command_that_is_shown_with_its_asker_has_the_address_that_it_came_from(
    method: str, request_message: Any
) -> None:
    commands: list[Any] = []

    def feed(event: Any) -> None:
        commands.append(event.command)
        server.perform[AdminAnswered](AdminAnswered(event.ticket, Topics(())))

    async def administer() -> None:
        nonlocal server
        server = AdminServer(feed)
        message = request_message.SerializeToString()
        await server.administer(method, message, None, "ipv4:10.0.0.7:4321")
        await server.stop()

    server: AdminServer
    asyncio.run(administer())
    (command,) = commands
    assert command.asked_by == "10.0.0.7:4321"
