"""Frames in parts: whole again, and together never more than there is room for."""

import asyncio
from typing import Any

import pytest

from linker.shell.long_frames import LongFrames
from linker.wire import parts
from linker.wire.limits import FrameError
from linker.wire.parts import PART_BYTES

ROOM = 4 * PART_BYTES
END = object()


class Peer:
    """Sends a frame of a size, as far as it is told."""

    def __init__(self, room: LongFrames, size: int) -> None:
        self.frame = bytes(i % 251 for i in range(1000)) * (size // 1000) + bytes(size % 1000)
        first, *self._rest = parts.split(self.frame)
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self.read = asyncio.ensure_future(room.read(first, self._messages.get, END))

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
            await Peer(room, ROOM + 1).read
        assert room.held_bytes == 0

    asyncio.run(scene())
