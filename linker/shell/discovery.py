"""Asks a region's Kafka listeners, whose addresses an operator knows, for the endpoint that serves links, or commands.

After ApiVersions it sends DescribeCluster, then DescribeConfigs of the brokers, which have both as settings.
"""

import asyncio
import socket
from collections.abc import Iterable
from functools import partial
from typing import Any, Final, TypeAlias

from brokers.client.connection import ClientConnection, ClientResponse
from brokers.config.endpoints import ANY_HOST
from brokers.wire.message import Message
from brokers.wire.messages.api_keys import ApiKey
from brokers.wire.messages.cluster import DescribeClusterRequest
from brokers.wire.messages.configs import DescribeConfigsRequest, DescribeConfigsResource
from brokers.wire.primitives import WireError
from linker.errors import LinkError

LINK_LISTENER: Final = "link.listener"
ADMIN_LISTENER: Final = "admin.listener"
# Where it is reached, if that is elsewhere.
ADVERTISED: Final = {LINK_LISTENER: "link.advertised.listener"}
ANSWER_BYTES_MAX: Final = 1 << 20
_BROKER: Final = 4  # Kafka's resource type
Connection: TypeAlias = ClientConnection[None]


class DiscoveryError(Exception):
    """No address led to a region's link endpoint; `error` is that of the last address."""

    def __init__(self, error: LinkError, because: str) -> None:
        super().__init__(because)
        self.error = error


async def discover(bootstrap_servers: Iterable[str], setting: str, seconds_each: float) -> str:
    """The `host:port` that a broker has for this setting; raises DiscoveryError with the failure of every address.

    Each address has so long to answer: what drops all that is sent there does not keep the others from being asked.
    """
    failures: list[DiscoveryError] = []
    for address in bootstrap_servers:
        try:
            async with asyncio.timeout(seconds_each):
                return await _ask(address, setting)
        except DiscoveryError as failure:
            failures.append(failure)
        except TimeoutError:
            because = f"{address} does not answer within {seconds_each:g} s"
            failures.append(DiscoveryError(LinkError.TIMEOUT_ERROR, because))
    raise DiscoveryError(failures[-1].error, "; ".join(str(failure) for failure in failures))


async def _ask(address: str, setting: str) -> str:
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
    except (socket.gaierror, UnicodeError) as error:  # the latter for what no name can be
        because = f"{host} does not resolve: {getattr(error, 'strerror', None) or error}"
        raise DiscoveryError(LinkError.UNRESOLVABLE_BOOTSTRAP_ERROR, because) from error
    except OSError as error:
        because = f"{address} does not accept connections: {error.strerror or error}"
        raise DiscoveryError(LinkError.BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR, because) from error
    try:
        endpoint = await _value(setting, reader, writer)
    except (WireError, EOFError, OSError) as error:
        because = (
            f"{address} does not answer as a Kafka broker: {str(error) or type(error).__name__}"
        )
        raise DiscoveryError(
            LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR, because
        ) from error
    finally:
        writer.close()
    if not endpoint:
        because = f"the brokers behind {address} have no {setting}"
        raise DiscoveryError(LinkError.INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR, because)
    return reachable(endpoint, host)


async def _value(setting: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    connection: Connection = ClientConnection("causeway-link", response_bytes_max=ANSWER_BYTES_MAX)
    writer.writelines(connection.start())
    while connection.versions is None:
        await _receive(connection, reader)
    ask = partial(_ask_broker, connection, reader, writer)
    cluster = await ask(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
    settings = [ADVERTISED[setting], setting] if setting in ADVERTISED else [setting]
    resources = [
        DescribeConfigsResource(
            resource_type=_BROKER,
            resource_name=str(broker.broker_id),
            configuration_keys=settings,
        )
        for broker in cluster.brokers
    ]
    answer = await ask(ApiKey.DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=resources))
    for result in answer.results:
        values = {config.name: config.value for config in result.configs}
        for name in settings:
            if values.get(name):
                return str(values[name])
    return ""


async def _ask_broker(
    connection: Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    key: int,
    body: Message,
) -> Any:
    """The response, in the highest version that both sides support."""
    writer.writelines(connection.send(None, key, body))
    while True:
        for response in await _receive(connection, reader):
            return response.message


async def _receive(
    connection: Connection, reader: asyncio.StreamReader
) -> list[ClientResponse[None]]:
    room = connection.room()
    data = await reader.read(len(room))
    if not data:
        raise EOFError("the connection was closed")
    room[: len(data)] = data
    return list(connection.received(len(data)))


def reachable(endpoint: str, host: str) -> str:
    """An endpoint that listens on every address is reached at the host of its Kafka listener."""
    name, _, port = endpoint.rpartition(":")
    if name.strip("[]") in ANY_HOST:
        name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}"
