"""Frames across real gRPC on loopback, and how streams end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import pytest

from linker.answers import Links
from linker.commands import ListLinks
from linker.errors import LinkError, LinkRefusal
from linker.events import (
    AdminAnswered,
    AdminAsked,
    ChunkSent,
    CloseStream,
    Dial,
    FrameArrived,
    Send,
    StreamAccepted,
    StreamDialed,
    StreamLost,
)
from linker.frames import Chunk, Credit, Hello, TopicState, Welcome
from linker.offset_bounds import OffsetBounds
from linker.peer_limits import CommandLimits, StreamLimits
from linker.shell.admin_server import AdminServer
from linker.shell.administrator import Administrator
from linker.shell.client import Dialer
from linker.shell.link_server import LinkServer
from linker.shell.options import MIB, OPEN_METHOD
from linker.shell.streams import Streams
from linker.wire import frames
from linker.wire.v1 import admin_pb2, admin_pb2_grpc
from tests.unit.linker.shell.test_discovery import broker

REQUEST_BYTES_MAX = 20 * MIB
QUEUED_BYTES_MAX = 1 * MIB
BOUNDS = OffsetBounds(0, 1, 1)


class Node:
    """Where a node's loop would be: remembers events, performs effects."""

    def __init__(self, stall_seconds: float) -> None:
        self.events: list[Any] = []
        self.news = asyncio.Event()
        self.port = self.admin_port = 0
        self.answers = True
        self.answer: Callable[[AdminAsked], Any] = lambda asked: Links(())
        self.streams = Streams(self.feed, QUEUED_BYTES_MAX, stall_seconds, REQUEST_BYTES_MAX)
        self.server = LinkServer(self.streams, self.feed, StreamLimits(total=3, per_ip=2))
        self.admin = AdminServer(self.feed, CommandLimits(total=3, per_ip=2))
        self.dialer = Dialer(self.streams, REQUEST_BYTES_MAX)
        self.perform = self.streams.perform | self.admin.perform | self.dialer.perform

    def feed(self, event: Any) -> None:
        self.events.append(event)
        self.news.set()
        if isinstance(event, AdminAsked) and self.answers:
            self.do(AdminAnswered(event.ticket, self.answer(event)))

    def do(self, effect: Any) -> None:
        self.perform[type(effect)](effect)

    async def hears(self, kind: type, count: int = 1) -> Any:
        """The next event of a kind."""
        while len(found := [event for event in self.events if isinstance(event, kind)]) < count:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 30)
        return found[count - 1]


def play(scene: Callable[[Node, Node, str], Awaitable[None]], *, stall_seconds: float = 60) -> None:
    """`scene` gets a node that dials, one that serves, and the Kafka address behind which it is found."""

    async def run() -> None:
        here, there = Node(stall_seconds), Node(stall_seconds)
        port = there.port = there.server.bind("127.0.0.1:0")
        there.admin_port = there.admin.bind("127.0.0.1:0")
        await there.server.start()
        await there.admin.start()
        kafka = await asyncio.start_server(broker(f"127.0.0.1:{port}"), "127.0.0.1", 0)
        try:
            await scene(here, there, f"127.0.0.1:{kafka.sockets[0].getsockname()[1]}")
        finally:
            kafka.close()
            await here.dialer.stop()
            await there.admin.stop()
            await there.server.stop()

    asyncio.run(run())


async def dialed(here: Node, there: Node, address: str) -> int:
    """The number of the stream at the far end."""
    here.do(Dial(-1, (address,), 20_000))
    await here.hears(StreamDialed)
    here.do(Send(-1, Hello("l", "i", "east")))
    accepted = await there.hears(StreamAccepted)
    return int(accepted.stream)


def test_frames_cross_both_ways_in_order() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        stream = await dialed(here, there, address)
        chunks = [
            Chunk(1, index, index + 1, 0, False, OffsetBounds(0, 1, 1), 5, bytes([index]) * 300_000)
            for index in range(20)
        ]
        there.do(Send(stream, Welcome("west")))
        for chunk in chunks:
            there.do(Send(stream, chunk))
        await here.hears(FrameArrived, 21)
        arrived = [event.frame for event in here.events if isinstance(event, FrameArrived)]
        assert arrived == [Welcome("west"), *chunks]
        await there.hears(ChunkSent, 20)
        assert (await there.hears(FrameArrived)).frame == Hello("l", "i", "east")

    play(scene)


def test_a_stream_closed_by_its_acceptor_delivers_what_was_sent_before() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        stream = await dialed(here, there, address)
        there.do(Send(stream, Welcome("west")))
        there.do(CloseStream(stream))
        lost = await here.hears(StreamLost)
        assert lost.stream == -1
        assert (await here.hears(FrameArrived)).frame == Welcome("west")
        assert not [event for event in there.events if isinstance(event, StreamLost)]

    play(scene)


def test_a_frame_that_cannot_be_encoded_ends_its_stream(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        stream = await dialed(here, there, address)
        there.do(Send(stream, Credit(1 << 70)))
        await here.hears(StreamLost)
        lost = await there.hears(StreamLost)
        assert lost.stream == stream and lost.because.startswith("Credit cannot be encoded: ")
        (line,) = [one for one in caplog.records if one.exc_info]
        assert f"a frame of stream {stream} cannot be encoded" in line.getMessage()

    play(scene)


def test_a_stream_closed_by_its_dialer_is_lost_to_the_other_end() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        stream = await dialed(here, there, address)
        await there.hears(FrameArrived)
        here.do(CloseStream(-1))
        assert (await there.hears(StreamLost)).stream == stream
        assert not [event for event in here.events if isinstance(event, StreamLost)]

    play(scene)


def test_a_server_that_stops_loses_the_stream() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await dialed(here, there, address)
        await there.server.stop()
        lost = await here.hears(StreamLost)
        assert lost.error is LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR
        here.do(Send(-1, Hello("l", "i", "east")))  # to nobody

    play(scene)


def test_an_endpoint_where_nobody_listens() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        kafka = await asyncio.start_server(broker("127.0.0.1:1"), "127.0.0.1", 0)
        port = kafka.sockets[0].getsockname()[1]
        here.do(Dial(-2, (f"127.0.0.1:{port}",), 20_000))
        lost = await here.hears(StreamLost)
        assert lost.error is LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR
        kafka.close()

    play(scene)


def test_a_failure_that_was_not_foreseen_is_a_lost_stream() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        here.do(Dial(-2, ("127.0.0.1:65536",), 20_000))
        lost = await here.hears(StreamLost)
        assert (lost.error, "see the node's log" in lost.because) == (LinkError.UNKNOWN, True)

    play(scene)


def test_a_listener_that_says_nothing_is_given_up_in_time() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        kafka = await asyncio.start_server(silence, "127.0.0.1", 0)
        port = kafka.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        began = loop.time()
        here.do(Dial(-3, (f"127.0.0.1:{port}",), 200))
        assert (await here.hears(StreamLost)).error is LinkError.TIMEOUT_ERROR
        assert 0.2 <= loop.time() - began < 2  # it came three seconds late
        kafka.close()

    play(scene)


def test_administration_is_asked_and_answered() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        def ask() -> Any:
            with Administrator(f"127.0.0.1:{there.admin_port}") as administrator:
                return administrator.ask("ListLinks", admin_pb2.ListLinksRequest())

        reply = await asyncio.get_running_loop().run_in_executor(None, ask)
        assert not reply.HasField("error")
        assert (await there.hears(AdminAsked)).command == ListLinks()

    play(scene)


def test_a_message_above_the_limit_ends_its_stream_and_no_other() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        first = await dialed(here, there, address)
        largest = Chunk(1, 0, 1, 0, False, BOUNDS, 5, bytes(REQUEST_BYTES_MAX))
        there.do(Send(first, largest))
        assert (await here.hears(FrameArrived)).frame == largest
        there.do(
            Send(first, Chunk(1, 1, 2, 0, False, BOUNDS, 5, bytes(REQUEST_BYTES_MAX + 2 * MIB)))
        )
        lost = await here.hears(StreamLost)
        assert "larger than max" in lost.because
        here.do(Dial(-2, (address,), 20_000))
        await here.hears(StreamDialed, 2)

    play(scene)


def test_a_reply_above_the_default_of_grpc_reaches_an_administrator() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        there.answer = lambda asked: LinkRefusal("INVALID_REQUEST", "x" * 5 * MIB)

        def ask() -> Any:
            with Administrator(f"127.0.0.1:{there.admin_port}") as administrator:
                return administrator.ask("ListLinks", admin_pb2.ListLinksRequest())

        reply = await asyncio.get_running_loop().run_in_executor(None, ask)
        assert len(reply.error.message) == 5 * MIB

    play(scene)


async def opened_by_hand(there: Node) -> Any:
    """A stream of a peer that reads only when it is told to."""
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{there.port}")
    open_stream: Any = channel.stream_stream
    call = open_stream(OPEN_METHOD)()
    await call.write(frames.encode(Hello("l", "i", "east")))
    return call


def test_a_port_of_another_server_is_refused() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        for server, port in ((here.server, there.port), (here.admin, there.admin_port)):
            with pytest.raises(RuntimeError):
                server.bind(f"127.0.0.1:{port}")

    play(scene)


def test_streams_above_the_limits_are_refused_with_the_setting_to_change() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        kept = [await opened_by_hand(there) for _ in range(2)]
        await there.hears(FrameArrived, 2)
        # Refused before its first frame is written, or after.
        with pytest.raises(grpc.aio.AioRpcError, match=r"link\.max\.streams\.per\.ip") as refused:
            await (await opened_by_hand(there)).read()
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        kept[0].cancel()
        await there.hears(StreamLost)
        await opened_by_hand(there)
        await there.hears(FrameArrived, 3)

    play(scene)


def test_what_a_peer_does_not_read_is_dropped_with_its_stream_before_others_suffer() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await opened_by_hand(there)
        silent = (await there.hears(StreamAccepted)).stream
        await dialed(here, there, address)
        other = (await there.hears(StreamAccepted, 2)).stream
        state = TopicState("orders", bytes(16), 1, {"key": "v" * 100_000})
        for _ in range(12):
            there.do(Send(silent, state))
        await there.hears(StreamLost)
        there.do(Send(other, state))
        assert (await here.hears(FrameArrived)).frame == state
        lost = [event for event in there.events if isinstance(event, StreamLost)]
        assert [event.stream for event in lost] == [silent]
        assert "has not read" in lost[0].because
        assert there.streams.queued_bytes <= len(frames.encode(state)), (
            "the last may not count as sent"
        )

    play(scene)


def test_a_peer_that_reads_nothing_for_long_loses_its_stream() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await opened_by_hand(there)
        silent = (await there.hears(StreamAccepted)).stream
        there.do(Send(silent, Chunk(1, 0, 1, 0, False, BOUNDS, 5, bytes(32 * MIB))))
        lost = await there.hears(StreamLost)
        assert "has read nothing for" in lost.because
        await dialed(here, there, address)

    play(scene, stall_seconds=0.2)


def test_commands_above_the_limit_are_refused_and_those_before_are_answered() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        there.answers = False
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{there.admin_port}")
        stub: Any = admin_pb2_grpc.AdminStub(channel)  # type: ignore[no-untyped-call]
        asked = [
            asyncio.ensure_future(stub.ListLinks(admin_pb2.ListLinksRequest())) for _ in range(2)
        ]
        await there.hears(AdminAsked, 2)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.ListLinks(admin_pb2.ListLinksRequest())
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        for event in [event for event in there.events if isinstance(event, AdminAsked)]:
            there.do(AdminAnswered(event.ticket, Links(())))
        assert not any(reply.HasField("error") for reply in await asyncio.gather(*asked))

    play(scene)


def test_a_command_longer_than_any_is_refused() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{there.admin_port}")
        stub: Any = admin_pb2_grpc.AdminStub(channel)  # type: ignore[no-untyped-call]
        with pytest.raises(grpc.aio.AioRpcError, match="larger than max"):
            await stub.DescribeLink(admin_pb2.LinkRequest(link_name="x" * 5 * MIB))
        assert there.events == []

    play(scene)
