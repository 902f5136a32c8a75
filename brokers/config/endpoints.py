"""Addresses as settings give them: `HOST:PORT`, and `ID@HOST:PORT` for voters. Listeners are in `listeners`.

Every function raises ValueError with a sentence for the operator.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple

from brokers.ids import Peer

HOST_AND_PORT = r"(?P<host>[^:/\[\]]*|\[[0-9a-fA-F:]+\]):(?P<port>[0-9]{1,5})"
ANY_HOST = ("", "0.0.0.0", "::")  # every interface
_VOTER = re.compile(rf"(?P<id>[0-9]{{1,10}})@{HOST_AND_PORT}")
_ENDPOINT = re.compile(HOST_AND_PORT)


class Address(NamedTuple):
    """Host and port; port 0 takes any free one, an empty host is every interface."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def endpoint(text: str) -> Address:
    """`HOST:PORT`."""
    match = _ENDPOINT.fullmatch(text)
    if match is None:
        raise ValueError("give HOST:PORT")
    return address(match)


@lru_cache
def voters(text: str) -> tuple[Peer, ...]:
    """`ID@HOST:PORT,...` -> who votes, in the order given."""
    found: dict[int, Peer] = {}
    for item in items(text):
        match = _VOTER.fullmatch(item)
        if match is None or not match["host"]:
            raise ValueError(f"{item!r}: give ID@HOST:PORT")
        where, node_id = address(match), int(match["id"])
        if node_id in found:
            raise ValueError(f"node {node_id} is given twice")
        if where.port == 0:
            raise ValueError(f"{item!r}: a voter's port must be known to the others, so not 0")
        found[node_id] = Peer(node_id, *where)
    return tuple(found.values())


@lru_cache
def hosts(text: str) -> tuple[Address, ...]:
    """`HOST:PORT,...`; none for an empty text."""
    found = tuple(endpoint(item) for item in items(text) if item)
    for where in found:
        if not where.host or where.port == 0:
            raise ValueError(f"{where}: give HOST:PORT as other nodes reach it")
    return found


@lru_cache
def counts(text: str) -> Mapping[str, int]:
    """`ADDRESS:COUNT,...` -> counts by IP address, as a socket names its peer."""
    found: dict[str, int] = {}
    for item in items(text):
        where, colon, count = item.rpartition(":")
        if not item:
            continue
        if not (colon and count.isascii() and count.isdigit()):
            raise ValueError(f"{item!r}: give ADDRESS:COUNT")
        try:
            found[str(ip_address(where.strip("[]")))] = int(count)
        except ValueError:
            raise ValueError(f"{item!r}: give the IP address of the host") from None
    return found


@lru_cache
def names(text: str) -> tuple[str, ...]:
    """`NAME,...`."""
    return tuple(items(text))


def items(text: str) -> list[str]:
    """The items between commas, without blanks."""
    return [item.strip() for item in text.split(",")]


def address(match: "re.Match[str]") -> Address:
    """What `HOST_AND_PORT` found."""
    port = int(match["port"])
    if port > 65_535:
        raise ValueError(f"port {port} is above 65535")
    return Address(match["host"].strip("[]"), port)
