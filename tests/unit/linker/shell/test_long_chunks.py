"""Chunks that are longer than the messages of a listener, across real gRPC, from a source that dials."""

import asyncio
import weakref
from typing import Any

import pytest

from linker.events import (
    ChunkSent,
    Dial,
    FrameArrived,
    PartArrived,
    Send,
    StreamAccepted,
    StreamDialed,
    StreamLost,
)
from linker.frames import ACCEPTED_CHUNK_BYTES_MAX, Announce, Chunk, Hello, Welcome
from linker.protocol_versions import SPLITS_FROM
from linker.shell.options import MIB
from linker.shell.streams import Streams
from linker.wire import frames, parts
from tests.unit.linker.shell.test_streams import (
    BOUNDS,
    REQUEST_BYTES_MAX,
    Node,
    dialed,
    opened_by_hand,
    play,
)


async def announced(here: Node, there: Node, address: str) -> int:
    """A source has dialed, and the destination has greeted it. The number of the stream there."""
    here.do(Dial(-1, (address,), 20_000))
    await here.hears(StreamDialed)
    here.do(Send(-1, Announce("l", "west", "", 1)))
    await there.hears(FrameArrived)
    stream = (await there.hears(StreamAccepted)).stream
    there.do(Send(stream, Hello("l", "i", "east")))
    await here.hears(FrameArrived)
    here.do(Send(-1, Welcome("west")))
    await there.hears(FrameArrived, 2)
    return int(stream)


def chunk_of(size: int, *, is_compressed: bool = False) -> Chunk:
    return Chunk(1, 0, 1, 0, False, BOUNDS, 5, bytes(size), is_compressed)


@pytest.mark.parametrize("size", [ACCEPTED_CHUNK_BYTES_MAX, 8 * MIB + 1, REQUEST_BYTES_MAX])
def test_a_listener_takes_the_longest_chunk_of_a_source_that_dials(size: int) -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await announced(here, there, address)
        for chunk in (chunk_of(size), chunk_of(5)):
            here.do(Send(-1, chunk))
        if size > parts.PART_BYTES:
            await there.hears(PartArrived)  # so a link knows that its source is there
        assert (await there.hears(FrameArrived, 3)).frame == chunk_of(size)
        assert (await there.hears(FrameArrived, 4)).frame == chunk_of(5)
        await here.hears(ChunkSent, 2)
        assert there.streams.long_frame_bytes == 0

    play(scene)


def test_a_chunk_above_the_limit_ends_the_stream_of_a_source_that_dials() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await announced(here, there, address)
        here.do(Send(-1, chunk_of(REQUEST_BYTES_MAX + 2 * MIB)))
        assert "above" in (await there.hears(StreamLost)).because

    play(scene)


def test_who_has_not_been_greeted_sends_nothing_in_parts() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        await dialed(here, there, address)
        here.do(Send(-1, chunk_of(8 * MIB)))
        assert "before" in (await there.hears(StreamLost)).because
        assert there.streams.long_frame_bytes == 0

    play(scene)


async def sends_parts(there: Node, *messages: bytes, version: int = SPLITS_FROM) -> Any:
    """A stream of a source that the destination has greeted."""
    call = await opened_by_hand(there)
    accepted = await there.hears(StreamAccepted)
    there.do(Send(accepted.stream, Hello("l", "i", "east")))
    assert frames.decode(await call.read()) == Hello("l", "i", "east")
    for message in (frames.encode(Welcome("west", version)), *messages):
        await call.write(message)
    return call


@pytest.mark.parametrize(
    ("messages", "because"),
    [
        ((), "and nothing after it"),
        ((frames.encode(Hello("l", "i", "east")),), "another frame between the parts"),
        ((next(parts.split(bytes(7))),), "none of a frame"),
    ],
    ids=["nothing", "another frame", "of another frame"],
)
def test_a_frame_that_does_not_go_on_ends_its_stream(
    messages: tuple[bytes, ...], because: str
) -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        first = next(parts.split(frames.encode(chunk_of(8 * MIB))))
        await sends_parts(there, first, *messages)
        assert because in (await there.hears(StreamLost)).because
        assert there.streams.long_frame_bytes == 0

    play(scene, stall_seconds=0.2)


def test_a_source_of_a_version_without_parts_sends_none() -> None:
    async def scene(here: Node, there: Node, address: str) -> None:
        first = next(parts.split(frames.encode(chunk_of(8 * MIB))))
        await sends_parts(there, first, version=SPLITS_FROM - 1)
        assert "of version 7" in (await there.hears(StreamLost)).because
        assert there.streams.long_frame_bytes == 0

    play(scene)


@pytest.mark.parametrize("size", [5, 8 * MIB])
def test_a_chunk_that_was_received_is_not_kept_until_the_next_one_comes(size: int) -> None:
    async def scene() -> None:
        arrived: list[weakref.ref[memoryview]] = []

        def feed(event: Any) -> None:
            if isinstance(event, FrameArrived) and isinstance(event.frame, Chunk):
                arrived.append(weakref.ref(event.frame.data))

        wire = Streams(feed, REQUEST_BYTES_MAX).add(1)
        wire.send(Hello("l", "i", "east"))
        sent, taken = [frames.encode(Welcome("west"))], asyncio.Event()
        frame = frames.encode(chunk_of(size))
        sent += list(parts.split(frame)) if size > MIB else [frame]
        forever = asyncio.Event()

        async def read() -> bytes:
            if not sent:
                taken.set()
                await forever.wait()
            return sent.pop(0)

        async def write(data: bytes) -> None: ...

        running = asyncio.create_task(wire.run(read, write))
        await asyncio.wait_for(taken.wait(), 30)
        assert [one() for one in arrived] == [None]
        running.cancel()

    asyncio.run(scene())
