"""The loop is woken for frames, not for parts of them, and nothing is waited for that does not come."""

import asyncio
import socket
import struct
from typing import Any

import pytest
import uvloop

from brokers.config.broker_config import BrokerConfig
from brokers.events import Disconnected, Request
from brokers.shell.receive_threshold import AT_ONCE_BYTES, WORTH_BYTES, ReceiveThreshold
from brokers.shell.server import Server
from brokers.wire.frames import RequestHeader, encode_request_frame
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

RECORDS = bytes(range(256)) * 4096 * 3  # 3 MB
LATE_S = 20


class Owner(asyncio.Transport):
    """Of one socket."""

    def __init__(self, owned: socket.socket) -> None:
        super().__init__({"socket": owned})


def low_water_mark(owned: socket.socket) -> int:
    return owned.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


def test_it_is_what_is_missing_up_to_a_limit_and_never_more() -> None:
    with socket.socket() as owned:
        threshold = ReceiveThreshold(Owner(owned))
        for missing, expected in (
            (10 * AT_ONCE_BYTES, AT_ONCE_BYTES),
            (AT_ONCE_BYTES - 1, AT_ONCE_BYTES - 1),
            (WORTH_BYTES, WORTH_BYTES),
            (WORTH_BYTES - 1, 1),
            (0, 1),
            (-5, 1),
        ):
            threshold.expect(missing)
            assert low_water_mark(owned) == expected


def test_a_socket_that_was_closed_is_no_error() -> None:
    owned = socket.socket()
    threshold = ReceiveThreshold(Owner(owned))
    owned.close()
    with pytest.raises(OSError, match="descriptor"):
        low_water_mark(owned)
    threshold.expect(AT_ONCE_BYTES)


def frame() -> bytes:
    data = PartitionProduceData(index=0, records=RECORDS)
    topic = TopicProduceData(name="orders", partition_data=[data])
    request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
    return b"".join(encode_request_frame(RequestHeader(ApiKey.PRODUCE, 9, 7, "me"), request))


class Listener:
    """A server that answers Produce requests."""

    def __init__(self) -> None:
        self.records: list[bytes] = []
        config = BrokerConfig.model_validate({"node.id": 1, "log.dirs": "data"})
        self.server = Server(config, self._feed, asyncio.get_running_loop().time)

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        bound = socket.create_server(("127.0.0.1", 0))
        await self.server.listen(bound)
        return await asyncio.open_connection(*bound.getsockname())

    def _feed(self, event: Request | Disconnected) -> None:
        if isinstance(event, Disconnected):
            return
        message: Any = event.message
        self.records.append(bytes(message.topic_data[0].partition_data[0].records))
        self.server.reply(event.ticket, ProduceResponse())


def test_a_big_request_is_answered_however_it_is_cut() -> None:
    async def play() -> None:
        listener, whole = Listener(), frame() * 3
        reader, writer = await listener.connect()
        borders = (0, 3, 5, 100, WORTH_BYTES, 2_000_000, len(whole) // 3 + 2, len(whole) - 1)
        for start, end in zip(borders, (*borders[1:], len(whole)), strict=True):
            writer.write(whole[start:end])
            await writer.drain()
        for _ in range(3):
            (size,) = struct.unpack(">i", await asyncio.wait_for(reader.readexactly(4), LATE_S))
            await asyncio.wait_for(reader.readexactly(size), LATE_S)
        assert listener.records == [RECORDS] * 3
        writer.close()
        listener.server.close()

    uvloop.run(play())


def test_a_connection_that_ends_within_a_frame_is_closed_here_too() -> None:
    async def play() -> None:
        listener, whole = Listener(), frame()
        reader, writer = await listener.connect()
        writer.write(whole + whole[: WORTH_BYTES + 10])
        writer.write_eof()
        said = await asyncio.wait_for(reader.read(), LATE_S)
        assert listener.records == [RECORDS]
        assert len(said) == 4 + struct.unpack_from(">i", said)[0]
        writer.close()
        listener.server.close()

    uvloop.run(play())
