"""What hostile peers do to a node's ports, besides asking for all that it has: garbage, halves, and more than it takes.

Each goes on until `done`, or until the node has refused what it sent.
"""

import asyncio
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import chain, repeat
from random import Random
from typing import Any

import grpc
import grpc.aio

from linker.shell.options import MIB
from linker.wire.administration import SERVICE_PREFIX
from tests.process.nodes import NodeProcess

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"  # RFC 9113, 3.4
HEADERS, RESET, SETTINGS, CONTINUATION = 1, 3, 4, 9  # types of frames, 6
EMPTY_SETTINGS = bytes((0, 0, 0, SETTINGS, 0, 0, 0, 0, 0))
GARBAGE_CONNECTIONS, HALVES, COMMANDS, ANNOUNCEMENTS = 700, 200, 600, 200
PIECE, HUGE = bytes(64 << 10), 500 * MIB
TIMEOUT_S = 60
COMMAND_NAMES = ("DescribeLink", "CreateLink", "ListLinks", "DescribeReplicas", "ChangeMirrors")

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[Peer]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield reader, writer
    finally:
        writer.close()


async def send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """As much as the other end takes."""
    with suppress(ConnectionError, TimeoutError):
        writer.write(data)
        await asyncio.wait_for(writer.drain(), 5)


async def is_refused(peer: Peer, parts: Iterable[bytes]) -> bool:
    """Whether an answer, or the end of the connection, comes before all parts are taken, or soon after."""
    reader, writer = peer
    answer = asyncio.ensure_future(reader.read(1))
    for part in parts:
        if answer.done():
            break
        await send(writer, part)
    with suppress(ConnectionError, TimeoutError):
        await asyncio.wait_for(answer, TIMEOUT_S)
    return answer.done() and not answer.cancelled()


async def garbage(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    """Connections to both gRPC ports that begin as HTTP/2 and go on as nothing, or never were HTTP/2."""
    rng = Random(1)
    for number in range(GARBAGE_CONNECTIONS):
        beginning = (PREFACE + EMPTY_SETTINGS, PREFACE, b"")[number % 3]
        async with connected(node.told[("link", "admin")[number % 2]]) as (_, writer):
            await send(writer, beginning + rng.randbytes(rng.randrange(2_000)))


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


async def floods(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    """Streams that are reset as soon as they are open (CVE-2023-44487), and headers that never end (CVE-2024-27316)."""
    opened = b"".join(
        frame(HEADERS, 4, stream, b"\x82") + frame(RESET, 0, stream, bytes(4))
        for stream in range(1, 4_001, 2)
    )
    endless = frame(HEADERS, 0, 1, b"\x82") + frame(CONTINUATION, 0, 1, b"\x82" * 8_000) * 500
    for port in ("link", "admin"):
        for flood in (opened, endless):
            async with connected(node.told[port]) as (_, writer):
                await send(writer, PREFACE + EMPTY_SETTINGS + flood)


async def random_commands(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    rng = Random(2)
    async with grpc.aio.insecure_channel(node.told["admin"]) as channel:
        ask: Any = channel.unary_unary
        for number in range(COMMANDS):
            body = rng.randbytes(rng.randrange(1, 200))
            with suppress(grpc.aio.AioRpcError):
                await ask(SERVICE_PREFIX + COMMAND_NAMES[number % len(COMMAND_NAMES)])(body)


async def half_requests(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    """To both HTTP ports, with a header that grows."""
    async with AsyncExitStack() as stack:
        halves = [
            await stack.enter_async_context(connected(node.told[("rest", "metrics")[number % 2]]))
            for number in range(HALVES)
        ]
        while not done.is_set():
            for _, writer in halves:
                await send(writer, b"GET /kafka/v3 HTTP/1.1\r\nX-Slow: " + b"y" * 100)
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), 0.5)


async def huge_bodies(node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event) -> None:
    """Some announce their length and some do not."""
    post = b"POST /kafka/v3/clusters/x/links?link_name=l HTTP/1.1\r\nHost: x\r\n"
    announced = post + b"Content-Length: %d\r\n\r\n" % HUGE
    chunked = post + b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%b\r\n" % (len(PIECE), PIECE)
    for beginning, part in ((announced, PIECE), (chunked, chunk)) * 5:
        async with connected(node.told["rest"]) as peer:
            parts = chain([beginning], repeat(part, HUGE // len(PIECE)))
            assert await is_refused(peer, parts)


async def endless_headers(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    header = b"X-Long: " + b"y" * len(PIECE) + b"\r\n"
    for port in ("rest", "metrics"):
        async with connected(node.told[port]) as peer:
            parts = chain([b"GET / HTTP/1.1\r\n"], repeat(header, HUGE // len(PIECE)))
            assert await is_refused(peer, parts)


async def announcements(
    node: NodeProcess, topic: str, identity: bytes, done: asyncio.Event
) -> None:
    """Requests of Kafka's protocol of 100 MiB, of which only the length comes."""
    async with AsyncExitStack() as stack:
        for _ in range(ANNOUNCEMENTS):
            _, writer = await stack.enter_async_context(connected(node.address))
            await send(writer, struct.pack(">i", 100 * MIB))
        await done.wait()
