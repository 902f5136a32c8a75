"""Addresses as settings give them: Kafka's `NAME://HOST:PORT` for listeners, `ID@HOST:PORT` for voters.

Every function raises ValueError with a sentence for whoever wrote the setting.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from brokers.ids import Peer

DATA_LISTENER = "PLAINTEXT"

_HOST_AND_PORT = r"(?P<host>[^:/\[\]]*|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})"
_LISTENER = re.compile(rf"(?P<name>[A-Za-z0-9_-]+)://{_HOST_AND_PORT}")
_VOTER = re.compile(rf"(?P<id>\d{{1,10}})@{_HOST_AND_PORT}")
_ENDPOINT = re.compile(_HOST_AND_PORT)


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
    return _address(match)


def listeners(text: str) -> dict[str, Address]:
    """`NAME://HOST:PORT,...` -> addresses by name."""
    return dict(_listeners(text))


@lru_cache  # settings are asked for again and again, and are always the same few
def _listeners(text: str) -> Mapping[str, Address]:
    found: dict[str, Address] = {}
    for item in _items(text):
        match = _LISTENER.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r}: give NAME://HOST:PORT")
        if match["name"] in found:
            raise ValueError(f"listener {match['name']} is given twice")
        found[match["name"]] = _address(match)
    return found


@lru_cache
def voters(text: str) -> tuple[Peer, ...]:
    """`ID@HOST:PORT,...` -> who votes, in the order given."""
    found: dict[int, Peer] = {}
    for item in _items(text):
        match = _VOTER.fullmatch(item)
        if match is None or not match["host"]:
            raise ValueError(f"{item!r}: give ID@HOST:PORT")
        address, node_id = _address(match), int(match["id"])
        if node_id in found:
            raise ValueError(f"node {node_id} is given twice")
        if address.port == 0:
            raise ValueError(f"{item!r}: a voter's port must be known to the others, so not 0")
        found[node_id] = Peer(node_id, *address)
    return tuple(found.values())


@lru_cache
def names(text: str) -> tuple[str, ...]:
    """`NAME,...`."""
    return tuple(_items(text))


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def _address(match: "re.Match[str]") -> Address:
    port = int(match["port"])
    if port > 65_535:
        raise ValueError(f"port {port} is above 65535")
    return Address(match["host"].strip("[]"), port)
