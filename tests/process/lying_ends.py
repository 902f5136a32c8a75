"""A source, and a destination, that know the protocol and the link's secret, and send frames in parts that are none.

What is sent goes as bytes: no product code is asked whether it may be.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import grpc
import grpc.aio

from linker.frames import Announce, Hello, Welcome
from linker.protocol_versions import SPOKEN
from linker.shell.options import OPEN_METHOD
from linker.shell.streams import BROKEN
from linker.wire import frames
from linker.wire.v1 import link_pb2 as pb
from tests.process.nodes import NodeProcess

LIAR = 7  # the id of the broker that lies
TIMEOUT_S = 30


def part(frame_bytes: int, data: bytes) -> bytes:
    return pb.Frame(frame_part=pb.FramePart(frame_bytes=frame_bytes, data=data)).SerializeToString()


def part_of(*fields: bytes) -> bytes:
    """With the fields of a FramePart as they are."""
    body = b"".join(fields)
    return bytes((0xD2, 1, len(body))) + body


class Lied(NamedTuple):
    """The link that is lied to, and what its source has to know."""

    node: NodeProcess
    link: str
    secret: str
    cluster_id: str


async def ended(call: Any) -> None:
    """Returns once the node has ended the stream."""
    async with asyncio.timeout(TIMEOUT_S):
        with suppress(*BROKEN):
            while await call.read() is not grpc.aio.EOF:  # type: ignore[attr-defined]
                pass


async def told(call: Any, messages: Iterable[bytes]) -> bool:
    """Whether all of them were taken."""
    try:
        for message in messages:
            await call.write(message)
    except BROKEN:
        return False
    return True


async def heard(call: Any, kind: Any) -> Any:
    """The next frame of a kind, or of one of several."""
    async with asyncio.timeout(TIMEOUT_S):
        while not isinstance(found := frames.decode(await call.read()), kind):
            pass
        return found


@asynccontextmanager
async def stranger(node: NodeProcess) -> AsyncIterator[Any]:
    """A stream on which nothing was said yet."""
    async with grpc.aio.insecure_channel(
        node.told["link"], options=(("grpc.use_local_subchannel_pool", 1),)
    ) as channel:
        open_stream: Any = channel.stream_stream
        yield open_stream(OPEN_METHOD)()


@asynccontextmanager
async def source(
    lied: Lied, *, fetcher: int = 0, version: int = SPOKEN.newest
) -> AsyncIterator[Any]:
    """A stream of a broker of the source, which the destination has greeted and takes for open."""
    async with stranger(lied.node) as call:
        announce = Announce(lied.link, lied.cluster_id, "", LIAR, fetcher, lied.secret)
        await call.write(frames.encode(announce))
        await heard(call, Hello)
        await call.write(frames.encode(Welcome(lied.cluster_id, version, LIAR)))
        yield call


@asynccontextmanager
async def destination(node: NodeProcess) -> AsyncIterator[Any]:
    """A stream of another region's link, which the source has welcomed."""
    async with stranger(node) as call:
        hello = Hello("link", "id", "elsewhere", chunk_bytes_max=2**32 - 1)
        await call.write(frames.encode(hello))
        await heard(call, Welcome)
        yield call
