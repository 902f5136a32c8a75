"""Frames in parts: whole again, and together never more than there is room for."""

import asyncio
from typing import Any

import pytest

from linker.shell.long_frames import WAITING_BYTES_MAX, LongFrames
from linker.wire import parts
from linker.wire.limits import FrameError
from linker.wire.parts import PART_BYTES

ROOM = 4 * PART_BYTES
END = object()


class Peer:
    """Sends a frame of a size, as far as it is told."""

    def __init__(self, room: LongFrames, size: int, link: str = "l") -> None:
        self.frame = bytes(i % 251 for i in range(1000)) * (size // 1000) + bytes(size % 1000)
        first, *self._rest = parts.split(self.frame)
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self.read = asyncio.ensure_future(room.read(first, self._messages.get, END, link))

    def go_on(self) -> None:
        for message in self._rest:
            self._messages.put_nowait(message)

    def end(self) -> None:
        self._messages.put_nowait(END)


async def settle() -> None:
    """Everybody has gone as far as he can."""
    done = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


def test_who_finds_no_room_waits_in_turn_until_others_are_whole() -> None:
    async def scene() -> None:
        room = LongFrames(ROOM, 60)
        large, second, small = (Peer(room, size) for size in (ROOM, ROOM - 1, 5))
        for peer in (second, small):
            await settle()
            peer.go_on()
        assert room.held_bytes == ROOM
        assert not any(peer.read.done() for peer in (large, second, small))
        large.go_on()
        for peer in (large, second, small):
            assert await peer.read == peer.frame
            assert room.held_bytes <= ROOM
        assert room.held_bytes == 0

    asyncio.run(scene())


def test_who_ends_within_a_frame_or_is_given_up_leaves_its_room_to_others() -> None:
    async def scene() -> None:
        room = LongFrames(ROOM, 60)
        ending, given_up, waiting = (Peer(room, ROOM) for _ in range(3))
        await settle()
        ending.end()
        with pytest.raises(FrameError, match="ended within a frame"):
            await ending.read
        given_up.read.cancel()
        waiting.go_on()
        assert await waiting.read == waiting.frame

    asyncio.run(scene())


def test_a_frame_above_the_limit_takes_no_room() -> None:
    async def scene() -> None:
        room = LongFrames(ROOM, 60)
        with pytest.raises(FrameError, match="above"):
            Peer(room, ROOM + 1)
        assert room.held_bytes == 0

    asyncio.run(scene())


def test_links_have_the_room_in_turn() -> None:
    async def scene() -> None:
        room = LongFrames(ROOM, 60)
        holder, *others = (Peer(room, ROOM, "many") for _ in range(3))
        await settle()
        one = Peer(room, ROOM, "one")
        one.go_on()
        await settle()
        holder.go_on()
        assert await holder.read == holder.frame
        assert await one.read == one.frame
        assert not any(peer.read.done() for peer in others)
        for peer in others:
            peer.go_on()
            assert await peer.read == peer.frame

    asyncio.run(scene())


def test_who_does_not_go_on_is_given_up_sooner_where_another_link_waits() -> None:
    async def scene() -> None:
        room = LongFrames(ROOM, 60, contended_seconds=0.05)
        holder, other = Peer(room, ROOM, "holds"), Peer(room, ROOM, "holds")
        await settle()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(holder.read), 0.2)
        waiting = Peer(room, ROOM, "waits")
        waiting.go_on()
        with pytest.raises(FrameError, match="while frames of other links wait"):
            await holder.read
        assert await waiting.read == waiting.frame
        other.go_on()
        assert await other.read == other.frame

    asyncio.run(scene())


def test_first_parts_that_wait_are_bounded_and_the_link_with_the_most_has_its_latest_dropped() -> (
    None
):
    async def scene() -> None:
        room = LongFrames(ROOM, 60)
        count = WAITING_BYTES_MAX // PART_BYTES
        holder, one = Peer(room, ROOM, "many"), Peer(room, ROOM, "one")
        many = [Peer(room, ROOM, "many") for _ in range(count)]
        await settle()
        with pytest.raises(FrameError, match="others of link many wait already"):
            await many.pop().read
        for peer in (holder, one, *many):
            peer.go_on()
            assert await peer.read == peer.frame
        assert room.held_bytes == 0

    asyncio.run(scene())
