"""Finding a region's link endpoint behind a Kafka address, and every way in which that fails."""

import asyncio
import struct
from collections.abc import Awaitable, Callable

import pytest

from brokers.wire.frames import RequestHeader, encode_response_frame, parse_request_header
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from brokers.wire.messages.cluster import DescribeClusterBroker, DescribeClusterResponse
from brokers.wire.messages.configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from linker.errors import LinkError
from linker.shell.discovery import LINK_LISTENER, DiscoveryError, discover

SECONDS = 60  # of each address, where nothing is to take long
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def broker(setting: str | None) -> Serve:
    """A Kafka listener of one broker with this `link.listener`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            (length,) = struct.unpack(">i", await reader.readexactly(4))
            header, _ = parse_request_header(await reader.readexactly(length))
            writer.writelines(answer(header, setting))
        await writer.drain()
        writer.close()

    return serve


def answer(header: RequestHeader, setting: str | None) -> list[bytes]:
    body: Message
    if header.api_key == ApiKey.API_VERSIONS:
        served = [
            ApiVersion(api_key=key, max_version=1)
            for key in (ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_CONFIGS)
        ]
        body = ApiVersionsResponse(api_keys=served)
    elif header.api_key == ApiKey.DESCRIBE_CLUSTER:
        one = DescribeClusterBroker(broker_id=5, host="h", port=1)
        body = DescribeClusterResponse(cluster_id="c", controller_id=5, brokers=[one])
    else:
        config = DescribeConfigsResourceResult(name="link.listener", value=setting)
        result = DescribeConfigsResult(resource_type=4, resource_name="5", configs=[config])
        body = DescribeConfigsResponse(results=[result])
    frame = encode_response_frame(header.api_key, header.api_version, header.correlation_id, body)
    return [bytes(part) for part in frame]


def find(*serves: Serve, seconds: float = SECONDS) -> str:
    """What discovery makes of listeners that behave like this, tried in turn."""

    async def run() -> str:
        servers = [await asyncio.start_server(serve, "127.0.0.1", 0) for serve in serves]
        addresses = tuple(f"127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in servers)
        try:
            return await discover(addresses, LINK_LISTENER, seconds)
        finally:
            for server in servers:
                server.close()

    return asyncio.run(run())


async def gibberish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


async def silent_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


def test_the_setting_of_the_broker_is_the_endpoint() -> None:
    assert find(broker("10.1.2.3:9094")) == "10.1.2.3:9094"


def test_an_endpoint_on_every_address_is_where_the_broker_was_found() -> None:
    assert find(broker("0.0.0.0:9094")) == "127.0.0.1:9094"
    assert find(broker("[::]:9094")) == "127.0.0.1:9094"


def test_the_next_address_is_tried() -> None:
    assert find(gibberish, silent_end, broker("h:1")) == "h:1"


@pytest.mark.parametrize("serve", [gibberish, silent_end, broker(None), broker("")])
def test_what_is_not_a_region_that_serves_links_is_told_apart(serve: Serve) -> None:
    with pytest.raises(DiscoveryError) as failure:
        find(serve)
    assert failure.value.error is LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR


def test_an_address_that_says_nothing_leaves_time_for_the_next_one() -> None:
    """So it is where a path drops what is sent. The first one took all the time, at each attempt."""

    async def silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    assert find(silence, broker("h:1"), seconds=0.3) == "h:1"
    with pytest.raises(DiscoveryError, match=r"does not answer within 0\.1 s") as failure:
        find(silence, silence, seconds=0.1)
    assert failure.value.error is LinkError.TIMEOUT_ERROR


def test_an_address_where_nobody_listens() -> None:
    with pytest.raises(DiscoveryError) as failure:
        asyncio.run(discover(("127.0.0.1:1",), LINK_LISTENER, SECONDS))
    assert failure.value.error is LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70])
def test_a_name_that_does_not_resolve(host: str) -> None:
    """Two of these no host can have: they ended the task that dialed, and nobody was told."""
    with pytest.raises(DiscoveryError, match="does not resolve") as failure:
        asyncio.run(discover((f"{host}:9092",), LINK_LISTENER, SECONDS))
    assert failure.value.error is LinkError.UNRESOLVABLE_BOOTSTRAP_ERROR
