"""A node's listeners: each has a name, a security protocol, an address to bind and one to advertise.

Kafka's settings, names in capitals as Kafka's `ListenerName.normalised` makes them. Functions that parse raise
ValueError with a sentence for the operator.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from brokers.config.endpoints import HOST_AND_PORT, Address, address, items

DEFAULT_PROTOCOL_MAP = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"
_LISTENER = re.compile(rf"(?P<name>[A-Za-z0-9_-]+)://{HOST_AND_PORT}")


class SecurityProtocol(Enum):
    """Kafka's, by the code that registrations carry. PLAINTEXT is the only one that is served."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3


@dataclass(frozen=True, slots=True)
class ListenerConfig:
    """One listener (Kafka's `Endpoint`): it binds `address`. Without `advertised` it is not registered."""

    name: str
    protocol: SecurityProtocol
    address: Address
    advertised: Address | None


def parse_listeners(text: str) -> dict[str, Address]:
    """`NAME://HOST:PORT,...` -> addresses by name."""
    return dict(_parsed(text))


@lru_cache  # called often, for the same few settings
def _parsed(text: str) -> Mapping[str, Address]:
    found: dict[str, Address] = {}
    for item in items(text):
        match = _LISTENER.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r}: give NAME://HOST:PORT")
        name = match["name"].upper()
        if name in found:
            raise ValueError(f"Each listener must have a unique name, and {name} is given twice")
        found[name] = address(match)
    return found


@lru_cache
def parse_protocol_map(text: str) -> Mapping[str, SecurityProtocol]:
    """`NAME:PROTOCOL,...` -> protocols by name."""
    found: dict[str, SecurityProtocol] = {}
    for item in items(text):
        name, colon, protocol = item.rpartition(":")
        if not (name and colon and protocol):
            raise ValueError(f"{item!r}: give NAME:PROTOCOL")
        if name.upper() in found:
            raise ValueError(f"listener {name.upper()} is given twice")
        found[name.upper()] = parse_protocol(protocol)
    return found


def parse_protocol(text: str) -> SecurityProtocol:
    try:
        return SecurityProtocol[text.strip()]
    except KeyError:
        known = ", ".join(each.name for each in SecurityProtocol)
        raise ValueError(f"Invalid security protocol `{text.strip()}`; Kafka has {known}") from None
