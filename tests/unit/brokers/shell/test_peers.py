"""Asking another node: over real sockets, what is told apart, and what stays in order."""

import asyncio
import socket
import struct
from typing import Any

import pytest
import uvloop

from brokers.config.broker_config import from_settings
from brokers.effects import Ask
from brokers.events import AskFailure, Disconnected, Listener, Request
from brokers.ids import Peer
from brokers.shell.server import Server
from brokers.wire.codec import VERSIONS
from brokers.wire.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from brokers.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from brokers.wire.messages.metadata import MetadataRequest
from tests.unit.brokers.shell.peer_doubles import (
    API_VERSIONS,
    FETCH,
    FRAME_MAX,
    LATE,
    SOON,
    Answerer,
    Asker,
    run,
    say,
    served,
    unused_port,
)


def test_requests_leave_at_once_and_are_answered_in_order() -> None:
    async def play() -> None:
        held: list[Any] = []

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            held.append(header)
            if len(held) == 3:  # only a pipeline gets here
                for index, each in enumerate(held):
                    say(each, writer, ApiVersionsResponse(throttle_time_ms=index))

        asker, answerer = Asker(), Answerer(act)
        port = await answerer.start()
        tickets = [asker.ask(port) for _ in range(3)]
        answers = await asker.messages(3)
        assert [each.ticket for each in answers] == tickets
        assert [each.message.throttle_time_ms for each in answers] == [0, 1, 2]  # type: ignore[union-attr]
        assert answerer.connections == 1
        assert held[0].client_id == "broker-9-one"

    run(play)


def test_a_channel_waits_for_no_other() -> None:
    async def play() -> None:
        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            if header.client_id.endswith("quick"):
                say(header, writer, ApiVersionsResponse())

        asker, answerer = Asker(), Answerer(act)
        port = await answerer.start()
        asker.ask(port, channel="slow")
        quick = asker.ask(port, channel="quick")
        assert await asker.heard(1) == [(quick, AskFailure.NONE)]
        assert answerer.connections == 2

    run(play)


def test_nobody_listening_is_told_from_everything_else() -> None:
    async def play() -> None:
        asker, port = Asker(), unused_port()
        first, second = asker.ask(port), asker.ask(port)
        assert await asker.heard(2) == [(first, AskFailure.REFUSED), (second, AskFailure.REFUSED)]

    run(play)


def test_a_name_that_leads_nowhere_is_a_lost_connection() -> None:
    async def play() -> None:
        asker = Asker()
        peer = Peer(1, "no.such.host.invalid", 1)
        asker.peers.ask(Ask(-5, peer, "one", 18, 3, ApiVersionsRequest(), LATE))
        assert await asker.heard(1) == [(-5, AskFailure.CLOSED)]

    run(play)


def test_a_lost_connection_is_told_to_all_and_opened_again_by_the_next() -> None:
    async def play() -> None:
        count = 0

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            nonlocal count
            count += 1
            if count == 2:
                writer.transport.abort()
            elif count == 3:
                say(header, writer, ApiVersionsResponse())

        asker, answerer = Asker(), Answerer(act)
        port = await answerer.start()
        first, second = asker.ask(port), asker.ask(port)
        assert await asker.heard(2) == [(first, AskFailure.CLOSED), (second, AskFailure.CLOSED)]
        third = asker.ask(port)
        assert await asker.heard(1) == [(third, AskFailure.NONE)]
        assert answerer.connections == 2

    run(play)


def test_silence_ends_the_channel_and_only_who_was_late_ran_out_of_time() -> None:
    async def play() -> None:
        asker, answerer = Asker(), Answerer(lambda header, writer: None)
        port = await answerer.start()
        patient, hasty = asker.ask(port), asker.ask(port, timeout_ms=SOON)
        assert sorted(await asker.heard(2)) == sorted(
            [(patient, AskFailure.CLOSED), (hasty, AskFailure.TIMEOUT)], key=lambda each: each[0]
        )
        await asyncio.wait_for(answerer.last_closed, 20)

    run(play)


def test_a_connection_that_is_not_made_in_time_is_a_timeout() -> None:
    async def play() -> None:
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            port = full.getsockname()[1]
            fillers = [socket.socket() for _ in range(4)]  # Linux drops what its backlog can't take
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(("127.0.0.1", port))
            asker = Asker()
            ticket = asker.ask(port, timeout_ms=SOON)
            assert await asker.heard(1) == [(ticket, AskFailure.TIMEOUT)]
            for filler in fillers:
                filler.close()

    run(play)


def test_a_question_whose_time_is_over_at_once_harms_no_other() -> None:
    """uvloop has another kind of timer for such."""

    async def play() -> None:
        answerer = Answerer(lambda header, writer: None)
        port = await answerer.start()
        asker = Asker()
        hopeless, other = asker.ask(port, timeout_ms=0), asker.ask(port, timeout_ms=0)
        assert await asker.heard(2) == [
            (hopeless, AskFailure.TIMEOUT),
            (other, AskFailure.TIMEOUT),
        ]
        asker.peers.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(play(), 60))


@pytest.mark.parametrize("what", ["correlation id", "body", "length", "header"])
def test_what_is_not_an_answer_is_unreadable_and_ends_the_connection(what: str) -> None:
    async def play() -> None:
        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            match what:
                case "correlation id":
                    say(header, writer, ApiVersionsResponse(), skew=1)
                case "body":
                    writer.write(struct.pack(">iihi", 10, header.correlation_id, 0, 77))
                case "length":
                    writer.write(struct.pack(">i", FRAME_MAX + 1))
                case _:
                    writer.write(struct.pack(">ib", 1, 0))

        asker, answerer = Asker(), Answerer(act)
        port = await answerer.start()
        ticket = asker.ask(port)
        assert await asker.heard(1) == [(ticket, AskFailure.UNREADABLE)]
        await asyncio.wait_for(answerer.last_closed, 20)

    run(play)


def test_who_says_something_unasked_loses_the_connection() -> None:
    async def play() -> None:
        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            say(header, writer, ApiVersionsResponse())
            say(header, writer, ApiVersionsResponse())

        asker, answerer = Asker(), Answerer(act)
        ticket = asker.ask(await answerer.start())
        assert await asker.heard(1) == [(ticket, AskFailure.NONE)]
        await asyncio.wait_for(answerer.last_closed, 20)
        assert asker.answers.empty()

    run(play)


def test_what_nobody_uses_is_closed() -> None:
    async def play() -> None:
        answerer = Answerer(lambda header, writer: say(header, writer, ApiVersionsResponse()))
        asker, port = Asker(idle_seconds=0.05), await answerer.start()
        asker.ask(port, timeout_ms=1_000)  # the timer is moved only when it fires
        assert (await asker.messages(1))[0].failure is AskFailure.NONE
        await asyncio.wait_for(answerer.last_closed, 20)
        asker.ask(port)
        assert (await asker.messages(1))[0].failure is AskFailure.NONE
        assert answerer.connections == 2

    run(play)


def test_records_stay_what_they_were_while_later_answers_come() -> None:
    """Small ones and ones larger than any buffer, alternating."""
    sizes = (100, 1 << 20, 30_000, 2 << 20, 10, 64 << 10)

    async def play() -> None:
        asked = 0

        def act(header: Any, writer: asyncio.StreamWriter) -> None:
            nonlocal asked
            records = bytes([asked + 1]) * sizes[asked]
            asked += 1
            partition = PartitionData(partition_index=0, records=records)
            say(header, writer, FetchResponse(
                responses=[FetchableTopicResponse(topic="t", partitions=[partition])]
            ))  # fmt: skip

        asker, answerer = Asker(), Answerer(act)
        port = await answerer.start()
        for _ in sizes:
            asker.ask(port, FETCH, message=FetchRequest())
        answers = await asker.messages(len(sizes))
        records = [each.message.responses[0].partitions[0].records for each in answers]  # type: ignore[union-attr]
        assert [len(each) for each in records] == list(sizes)
        assert [set(each) for each in records] == [{index + 1} for index in range(len(sizes))]

    run(play)


def test_our_own_server_answers() -> None:
    async def play() -> None:
        loop = asyncio.get_running_loop()
        gone: asyncio.Future[None] = loop.create_future()

        def feed(event: Request | Disconnected) -> None:
            if isinstance(event, Disconnected):
                gone.set_result(None)
            elif event.api_key == API_VERSIONS[0]:
                response = served(VERSIONS)
                response.throttle_time_ms = event.api_version
                server.reply(event.ticket, response)

        settings = {"node.id": 1, "log.dirs": "unused", "listeners": "PLAINTEXT://127.0.0.1:0"}
        server = Server(from_settings(settings), feed, loop.time)
        bound = socket.create_server(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        await server.listen(bound)
        asker = Asker()
        for _ in range(3):
            asker.ask(port)
        asker.ask(port, FETCH, message=FetchRequest())  # is parked
        answers = await asker.messages(3)
        assert [each.message.throttle_time_ms for each in answers] == [3, 3, 3]  # type: ignore[union-attr]
        asker.peers.close()
        assert [each.failure for each in await asker.messages(1)] == [AskFailure.CLOSED]
        await asyncio.wait_for(gone, 20)
        server.close()

    run(play)


def test_a_listener_answers_its_own_apis_only_and_lets_nodes_in_where_clients_are_too_many() -> (
    None
):
    async def play() -> None:
        loop = asyncio.get_running_loop()

        def feed(event: Request | Disconnected) -> None:
            if isinstance(event, Request):
                response = served(VERSIONS)
                response.throttle_time_ms = int(event.listener is Listener.CONTROLLER)
                server.reply(event.ticket, response)

        settings = {"node.id": 1, "log.dirs": "unused", "max.connections": 1}
        server = Server(from_settings(settings), feed, loop.time)
        ports = []
        for listener in Listener:
            bound = socket.create_server(("127.0.0.1", 0))
            ports.append(bound.getsockname()[1])
            await server.listen(bound, listener)
        clients, nodes = ports
        asker = Asker()
        asker.ask(clients)
        assert (await asker.messages(1))[0].message.throttle_time_ms == 0  # type: ignore[union-attr]
        asker.ask(clients, channel="one too many")
        assert (await asker.messages(1))[0].failure is AskFailure.CLOSED
        asker.ask(nodes, channel="a node")
        assert (await asker.messages(1))[0].message.throttle_time_ms == 1  # type: ignore[union-attr]
        asker.ask(nodes, (3, 9), channel="a lost client", message=MetadataRequest())
        assert (await asker.messages(1))[0].failure is AskFailure.CLOSED
        asker.peers.close()
        server.close()

    run(play)


@pytest.mark.parametrize(
    "limits", [{"max.connections.per.ip": 1}, {"max.connections.per.ip.overrides": "127.0.0.1:1"}]
)
def test_an_address_has_so_many_connections_and_gets_its_place_back(
    limits: dict[str, object],
) -> None:
    async def play() -> None:
        loop = asyncio.get_running_loop()

        def feed(event: Request | Disconnected) -> None:
            if isinstance(event, Request):
                server.reply(event.ticket, served(VERSIONS))

        settings = {"node.id": 1, "log.dirs": "unused", "socket.receive.buffer.bytes": 20_000}
        server = Server(from_settings(settings | limits), feed, loop.time)
        bound = socket.create_server(("127.0.0.1", 0))
        await server.listen(bound)
        assert bound.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == 40_000  # Linux doubles it
        port = bound.getsockname()[1]
        asker = Asker()
        asker.ask(port)
        assert (await asker.messages(1))[0].failure is AskFailure.NONE
        asker.ask(port, channel="one too many")
        assert (await asker.messages(1))[0].failure is AskFailure.CLOSED
        asker.peers.close()
        again = Asker()
        async with asyncio.timeout(20):
            while True:
                again.ask(port)
                if (await again.messages(1))[0].failure is AskFailure.NONE:
                    break
        again.peers.close()
        server.close()

    run(play)
