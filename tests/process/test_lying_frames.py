"""A source that knows the link's secret and sends parts of frames that are none: its stream ends, and nothing else."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from linker.frames import Beacon, Chunk, OffsetBounds
from linker.protocol_versions import SPLITS_FROM, SPOKEN
from linker.shell.options import ENVELOPE_BYTES
from linker.wire import frames, parts
from linker.wire.limits import FRAME_BYTES_MAX
from linker.wire.parts import PART_BYTES
from tests.process.asking import until
from tests.process.lied_to import MIB, TIMEOUT_S, Regions, resident, started
from tests.process.lying_ends import destination, ended, part, part_of, source, stranger, told
from tests.process.nodes import NodeProcess

RESIDENT_MAX = 300 * MIB
STREAMS = 60
LONGEST = 100 * MIB + ENVELOPE_BYTES  # socket.request.max.bytes, and what is around a chunk
FULL = bytes(PART_BYTES)
BEACON = frames.encode(Beacon(1))
VARINT_OF_11 = b"\xff" * 10 + b"\1"


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regions]:
    yield from started(tmp_path_factory.mktemp("lied"))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Regions]:
    """Nodes whose memory nothing else has used."""
    yield from started(tmp_path)


class Lie(NamedTuple):
    messages: Iterable[bytes]
    because: str  # as the link says it
    version: int = SPOKEN.newest


def chunk_frame(size: int, subscription: int = 1) -> bytes:
    bounds = OffsetBounds(0, 1, 1)
    return frames.encode(Chunk(subscription, 0, 1, 0, False, bounds, 1, bytes(size)))


CHUNK = list(parts.split(chunk_frame(2 * PART_BYTES)))
LONG_CHUNK = list(parts.split(chunk_frame(16 * MIB)))

LENGTHS = {
    "2^62": Lie([part(1 << 62, FULL)], "above"),
    "one too many": Lie([part(LONGEST + 1, FULL)], "above"),
    "negative": Lie([part((1 << 64) - 1, FULL)], "above"),
    "of eleven bytes": Lie([part_of(b"\x08", VARINT_OF_11)], "not a part of a frame"),
    "none": Lie([part(0, b"")], "a part of 0 bytes"),
    "less than its part": Lie([part(5, FULL)], "where 5 are missing"),
}
SEQUENCES = {
    "overlapping": Lie([part(2 * PART_BYTES - 1, FULL)] * 2, "are missing of its frame"),
    "of another frame": Lie([part(LONGEST, FULL), part(LONGEST - 1, FULL)], "none of a frame"),
    "out of order": Lie([*CHUNK[1::-1], CHUNK[2]], "Error parsing message"),
    "the last one first": Lie([CHUNK[2], *CHUNK[:2]], "that is not the last one"),
    "after the end": Lie([*CHUNK, CHUNK[2], BEACON], "that is not the last one"),
    "one more frame begins": Lie([*CHUNK, CHUNK[0], BEACON], "between the parts of one"),
    "an empty one first": Lie([part(LONGEST, b""), part(LONGEST, FULL)], "a part of 0 bytes"),
    "an empty one": Lie([part(LONGEST, FULL), part(LONGEST, b"")], "a part of 0 bytes"),
    "a million": Lie(repeat(part(LONGEST, b"x"), 1_000_000), "a part of 1 bytes"),
    "a million after one": Lie(
        chain([part(LONGEST, FULL)], repeat(part(LONGEST, b"x"), 1_000_000)), "a part of 1 bytes"
    ),
}
WHOLES = {
    "of an older version": Lie(CHUNK, "of version 7", version=SPLITS_FROM - 1),
    "a part in parts": Lie(parts.split(CHUNK[0]), "within a frame"),
    "a part and a frame": Lie([part(5, b"x") + BEACON], "another frame between"),
    "nothing": Lie(parts.split(bytes(2 * PART_BYTES)), "Error parsing message"),
    "no chunk": Lie(parts.split(b"\x0a" + bytes(FRAME_BYTES_MAX)), "above"),
}


End = Callable[[NodeProcess], AbstractAsyncContextManager[Any]]


async def lie(regions: Regions, lied: Lie) -> None:
    async with source(regions.lied, version=lied.version) as call:
        await told(call, lied.messages)
        await ended(call)


@pytest.mark.parametrize("lies", [LENGTHS, SEQUENCES, WHOLES], ids=["length", "order", "whole"])
def test_parts_that_are_none_end_their_stream_and_the_link_says_why(
    regions: Regions, lies: dict[str, Lie], request: pytest.FixtureRequest
) -> None:
    for name, each in lies.items():
        asyncio.run(lie(regions, each))
        assert each.because in regions.error(), name
    assert resident(regions.east) < RESIDENT_MAX
    regions.serves()
    regions.recovers(f"after-{request.node.callspec.id}")


@pytest.mark.parametrize("end", [stranger, destination])
def test_a_source_and_a_node_that_knows_nobody_yet_take_no_parts(
    regions: Regions, end: End
) -> None:
    async def scene() -> None:
        async with end(regions.west) as call:
            await told(call, repeat(part(LONGEST, FULL), 100))
            await ended(call)

    asyncio.run(scene())
    assert resident(regions.west) < RESIDENT_MAX
    regions.serves()


async def most_resident(regions: Regions, meanwhile: Callable[[], None]) -> int:
    """Of the destination, until `meanwhile` is done."""
    doing = asyncio.create_task(asyncio.to_thread(meanwhile))
    most = resident(regions.east)
    while not doing.done():
        await asyncio.wait([doing], timeout=0.05)
        most = max(most, resident(regions.east))
    await doing
    return most


Attack = Callable[[Any], Awaitable[object]]


async def attacked(regions: Regions, attack: Attack, streams: int) -> int:
    """The most memory of the destination while so many streams do that, and the other link is served."""
    async with AsyncExitStack() as stack:
        calls = [
            await stack.enter_async_context(source(regions.lied, fetcher=number))
            for number in range(streams)
        ]
        attacks = [asyncio.create_task(attack(call)) for call in calls]
        most = await most_resident(regions, regions.serves)
        for each in attacks:
            each.cancel()
        await asyncio.gather(*attacks, return_exceptions=True)
        return most


async def begin_frame(call: Any) -> None:
    await told(call, [part(LONGEST, FULL)] * 2)


async def go_on_and_on(call: Any) -> None:
    """Frames of a subscription that nobody made: the destination takes them and forgets them."""
    await told(call, chain.from_iterable(repeat(LONG_CHUNK)))


ARENA_BYTES = 64 * MIB  # glibc begins the heaps of a thread's arena at multiples of it


def arenas(node: NodeProcess) -> list[str]:
    """What begins there and is written to, and is no file."""
    maps = psutil.Process(node.pid).memory_maps(grouped=False)
    begun = [one for one in maps if int(one.addr.split("-")[0], 16) % ARENA_BYTES == 0]
    return [one.addr for one in begun if one.perms == "rw-p" and one.path == "[anon]"]


# gRPC holds a message of 4 MiB of each stream, and a copy on its way, before anybody can refuse it. Where whole frames
# come, the C library keeps what was freed again (brokers.shell.memory). Frames of 100 MiB are not kept.
NEVER_END = [(begin_frame, STREAMS), (go_on_and_on, 8)]


@pytest.mark.parametrize(("attack", "streams"), NEVER_END)
def test_frames_that_never_end_take_little_and_another_link_is_served(
    fresh: Regions,
    attack: Attack,
    streams: int,
    record_property: Callable[[str, object], None],
) -> None:
    most = asyncio.run(attacked(fresh, attack, streams))
    record_property("resident", most)
    print(f"at most {most / MIB:.0f} MiB resident")
    until(lambda: fresh.error() != "", TIMEOUT_S, lambda: "no error")
    assert most < 2 * RESIDENT_MAX, f"{most / MIB:.0f} MiB"
    assert arenas(fresh.east) == []
    fresh.recovers(f"after-{attack.__name__}")
