"""Whether a node answers a Kafka request, or accepts connections."""

import socket

from brokers.wire.primitives import WireError
from federation.shell.broker_connection import BrokerConnection

_RESPONSE_BYTES_MAX = 64 * 1024


def answers_kafka(address: str, *, timeout_s: float = 1.0) -> bool:
    """Whether the broker at host:port answers ApiVersions without an error."""
    try:
        BrokerConnection(
            address,
            "causeway-local",
            response_bytes_max=_RESPONSE_BYTES_MAX,
            connect_seconds=timeout_s,
        ).close()
    except (OSError, WireError):
        return False
    return True


def accepts(address: str, *, timeout_s: float = 1.0) -> bool:
    """Whether anything accepts connections at host:port."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=timeout_s).close()
    except OSError:
        return False
    return True
