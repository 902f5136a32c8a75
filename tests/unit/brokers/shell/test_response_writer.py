"""What a connection writes, over real sockets on both kinds of loop: order, room, and nothing left behind."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
import uvloop

from brokers.shell.files import DiskFiles
from brokers.shell.response_writer import TURN_BYTES, ResponseWriter
from brokers.shell.room import Room

CONTENT = Random(1).randbytes(3 * TURN_BYTES)
TIMEOUT_S = 20
Scenario = Callable[["Speaker", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def turn() -> None:
    """One of the loop's."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_soon(over.set_result, None)
    await over


class Speaker(asyncio.Protocol):
    """The server's end. `rooms` counts how often it was told that there is room, `failures` why it can't go on."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.rooms = 0
        self.failures: list[str] = []
        self.made = asyncio.get_running_loop().create_future()
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport) -> None:
        self.transport = transport
        end = transport.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 64 * 1024)
        self.writer = ResponseWriter(transport, self._room, self._on_room, self._on_failure)
        self.made.set_result(None)

    def _on_room(self) -> None:
        self.rooms += 1

    async def until_ready(self) -> None:
        while not self.writer.ready:
            await turn()

    def _on_failure(self, reason: str) -> None:
        self.failures.append(reason)
        self.writer.close()
        self.transport.close()

    def pause_writing(self) -> None:
        self.writer.pause()

    def resume_writing(self) -> None:
        self.writer.resume()

    def connection_lost(self, exc: Exception | None) -> None:
        self.writer.close()
        self.lost.set_result(None)


@pytest.fixture(params=["uvloop", "asyncio"])
def played(request: pytest.FixtureRequest) -> Callable[[Scenario], None]:
    """Plays a scenario with a connected speaker and its client."""

    async def play(scenario: Scenario) -> None:
        loop, room = asyncio.get_running_loop(), Room()
        speakers: asyncio.Queue[Speaker] = asyncio.Queue()

        def accept() -> Speaker:
            speaker = Speaker(room)
            speakers.put_nowait(speaker)
            return speaker

        server = await loop.create_server(accept, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port, limit=1 << 16)
        speaker = await speakers.get()
        await speaker.made
        async with asyncio.timeout(TIMEOUT_S):
            await scenario(speaker, reader, writer)
            writer.close()
            await speaker.lost
        server.close()
        room.close()

    def run(scenario: Scenario) -> None:
        runner = asyncio.Runner(
            loop_factory=uvloop.new_event_loop if request.param == "uvloop" else None
        )
        with runner:
            runner.run(play(scenario))

    return run


@pytest.fixture
def files(tmp_path: Path) -> DiskFiles:
    files = DiskFiles(tmp_path)
    files.append("log", [CONTENT])
    return files


@contextmanager
def no_descriptor_more() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) == before


def test_files_do_not_overtake_bytes_nor_bytes_files(played, files) -> None:
    first = Random(2).randbytes(1 << 20)

    async def scenario(speaker, reader, writer) -> None:
        speaker.writer.put([first], more_follows=False)
        speaker.writer.put([b"head", files.refer("log", 0, len(CONTENT))], more_follows=False)
        speaker.writer.put([b"tail"], more_follows=False)
        assert not speaker.writer.ready
        expected = first + b"head" + CONTENT + b"tail"
        assert await reader.readexactly(len(expected)) == expected
        await speaker.until_ready()
        assert speaker.rooms > 0

    played(scenario)


def test_what_is_held_back_leaves_before_a_file(played, files) -> None:
    async def scenario(speaker, reader, writer) -> None:
        speaker.writer.put([b"one"], more_follows=True)
        speaker.writer.put([files.refer("log", 0, 5)], more_follows=True)
        speaker.writer.put([b"two"], more_follows=False)
        assert speaker.writer.ready
        assert await reader.readexactly(11) == b"one" + CONTENT[:5] + b"two"

    played(scenario)


def test_one_connection_after_another_sends_files(played, files) -> None:
    async def scenario(speaker, reader, writer) -> None:
        for start in (0, 1_000, 500_000):
            await speaker.until_ready()
            speaker.writer.put([files.refer("log", start, 1_000_000)], more_follows=False)
            assert await reader.readexactly(1_000_000) == CONTENT[start : start + 1_000_000]
            speaker.writer.shrink()

    played(scenario)


def test_a_client_that_leaves_midway_leaves_nothing_behind(played, files) -> None:
    files.close("log")

    async def scenario(speaker, reader, writer) -> None:
        speaker.writer.put([b"head", files.refer("log", 0, len(CONTENT))], more_follows=False)
        await reader.readexactly(100)
        assert not speaker.writer.ready
        files.close("log")

    with no_descriptor_more():
        played(scenario)


def test_a_client_that_never_reads_gets_no_more_than_the_socket_takes(played, files) -> None:
    async def scenario(speaker, reader, writer) -> None:
        reader._transport.pause_reading()
        speaker.writer.put([files.refer("log", 0, len(CONTENT))] * 20, more_follows=False)
        for _ in range(100):
            await turn()
        assert not speaker.writer.ready
        assert speaker.transport.get_write_buffer_size() == 0

    played(scenario)


def test_a_file_that_is_cut_while_it_is_sent_ends_the_connection(played, files) -> None:
    async def scenario(speaker, reader, writer) -> None:
        speaker.writer.put([files.refer("log", 0, len(CONTENT))], more_follows=False)
        files.truncate("log", 2 * TURN_BYTES)
        received = await reader.read(-1)
        assert CONTENT.startswith(received)
        assert len(received) <= 2 * TURN_BYTES
        assert [reason.split(" before")[0] for reason in speaker.failures] == ["log was cut"]

    played(scenario)


def test_closing_midway_closes_the_connection(played, files) -> None:
    async def scenario(speaker, reader, writer) -> None:
        speaker.writer.put([files.refer("log", 0, len(CONTENT))], more_follows=False)
        assert not speaker.writer.ready
        speaker.writer.close()
        speaker.transport.close()
        assert CONTENT.startswith(await reader.read(-1))

    played(scenario)
