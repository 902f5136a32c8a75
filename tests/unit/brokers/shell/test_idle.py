"""Connections that have gone quiet, over real sockets on both kinds of loop: each gives its place to the next."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import closing

import pytest
import uvloop

from brokers.config.broker_config import BrokerConfig
from brokers.events import Disconnected, Request
from brokers.shell.server import Server
from brokers.wire.frames import RequestHeader, encode_request_frame
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

IDLE_S = 600
TIMEOUT_S = 20
# More than the buffers of two sockets take.
LONG = ApiVersionsResponse(api_keys=[ApiVersion(api_key=1, max_version=1)] * 2_000_000)
SHORT = ApiVersionsResponse()


class Listening:
    """A server with a place for one client, each of whose requests gets the next of these answers."""

    def __init__(self, *answers: ApiVersionsResponse) -> None:
        config = BrokerConfig.model_validate(
            {"node.id": 1, "log.dirs": "data", "max.connections": 1}
        )
        self.now = 0.0
        self.asked = 0
        self._answers = iter(answers)
        self.server = Server(config, self._feed, lambda: self.now)

    def _feed(self, event: Request | Disconnected) -> None:
        if isinstance(event, Request):
            self.asked += 1
            self.server.reply(event.ticket, next(self._answers))

    async def listen(self) -> tuple[str, int]:
        bound = socket.create_server(("127.0.0.1", 0))
        await self.server.listen(bound)
        host, port = bound.getsockname()
        return host, port

    def idle(self) -> None:
        """Time goes by until the server looks for the idle."""
        self.now += IDLE_S + 1
        self.server._sweep()


def client(where: tuple[str, int], data: bytes) -> socket.socket:
    """One that asks and reads nothing."""
    end = socket.create_connection(where)
    end.sendall(data)
    end.setblocking(False)
    return end


def question() -> bytes:
    header = RequestHeader(ApiKey.API_VERSIONS, 0, 1, "test")
    return b"".join(encode_request_frame(header, ApiVersionsRequest()))


async def turn() -> None:
    """One of the loop's."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_soon(over.set_result, None)
    await over


async def until(is_so: Callable[[], bool]) -> None:
    """Of what the other end of a socket does, the loop hears when it does."""
    async with asyncio.timeout(TIMEOUT_S):
        while not is_so():
            await turn()


@pytest.mark.parametrize("data", [question(), question() + b"\xff\xff\xff\xff"])
@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_client_that_never_reads_its_answer_does_not_keep_its_place(
    new_loop: Callable[[], asyncio.AbstractEventLoop], data: bytes
) -> None:
    async def scenario() -> None:
        listening = Listening(LONG, SHORT)
        where = await listening.listen()
        with closing(client(where, data)):
            await until(lambda: listening.asked == 1)
            listening.idle()
            await turn()
            with closing(client(where, question())) as second:
                answer = await asyncio.wait_for(
                    asyncio.get_running_loop().sock_recv(second, 100), TIMEOUT_S
                )
                assert answer, "it was turned away"
        listening.server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_an_idle_client_reads_the_end_of_the_stream_and_no_error(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def scenario() -> None:
        listening = Listening(SHORT)
        where = await listening.listen()
        with closing(client(where, question())) as end:
            loop = asyncio.get_running_loop()
            assert await asyncio.wait_for(loop.sock_recv(end, 100), TIMEOUT_S)
            listening.idle()
            assert await asyncio.wait_for(loop.sock_recv(end, 100), TIMEOUT_S) == b""
        listening.server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(scenario())
