"""The TOML files of a region's nodes: written at the first start of a node, read at every other one."""

import base64
import json
import os
import random
import re
import socket
import tomllib
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from federation.local.layout import LocalError

# Below the range of ports of outgoing connections (from 32768 in Linux, 49152 by IANA), so that no connection takes a
# node's port while the node is down.
PORTS = range(10_000, 30_000)
REPLICAS = 3  # of each partition, where a region has so many nodes
PORTS_VARIABLE = (
    "CAUSEWAY_LOCAL_PORTS"  # FROM-TO in the environment: the ports that may be taken instead
)


@dataclass(frozen=True, slots=True)
class Addresses:
    """The listeners of one node, as host:port.

    `controller` is None on a node that is no controller of others, `metrics` where the file has no such listener.
    """

    kafka: str
    admin: str
    controller: str | None = None
    metrics: str | None = None


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """A node's number, TOML file and data directory."""

    node_id: int
    settings: Path
    data: Path


def write_settings(
    places: Sequence[NodeFiles], racks: Sequence[str] = (), taken: Collection[int] = ()
) -> list[Addresses]:
    """Writes the files that are missing; returns the addresses of all nodes, in order.

    The first one, three or five nodes are controllers and brokers, the others brokers. Nodes get these racks in turn.
    Ports in `taken` are not used. Raises LocalError where an existing file lacks what is needed.
    """
    found = {place.node_id: _read(place.settings) for place in places if place.settings.exists()}
    if len(places) > 1:
        _check_may_grow(found)
    chosen = _choose(places, found, taken)
    cluster_id = next((each.cluster_id for each in found.values()), None) or _random_id()
    for index, place in enumerate(places):
        if place.node_id not in found:
            rack = racks[index % len(racks)] if racks else None
            text = _toml(place, chosen, cluster_id, rack)
            place.settings.write_text(text, encoding="utf-8")
    return [chosen[place.node_id] for place in places]


def check_racks(files: Sequence[Path], racks: Sequence[str]) -> None:
    """Raises LocalError unless the files have these racks, in turn: existing nodes stay in their racks."""
    for index, settings in enumerate(files):
        rack, wanted = _read(settings).rack, racks[index % len(racks)]
        if rack != wanted:
            raise LocalError(
                f"{settings} has the rack {rack or 'none'}, not {wanted}",
                "leave --racks out, or change broker.rack in the settings of every node that is to move",
            )


def assigned_ports(directory: Path) -> set[int]:
    """Every port in the files of a federation, whether its nodes run or not."""
    files = directory.glob("*/node-*.toml")
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return {int(port) for text in texts for port in re.findall(r":(\d{1,5})\b", text)}


def controllers(nodes: int) -> int:
    """The number of controllers in a region with so many nodes; an even number would tolerate no more failures."""
    return 1 if nodes < 3 else 3 if nodes < 5 else 5


@dataclass(frozen=True, slots=True)
class _Settings:
    """The contents of a file."""

    settings: Path
    addresses: Addresses
    cluster_id: str | None
    rack: str | None


def _read(settings: Path) -> _Settings:
    try:
        values = tomllib.loads(settings.read_text(encoding="utf-8"))
        listeners = dict(item.strip().split("://") for item in values["listeners"].split(","))
        where = Addresses(
            listeners["PLAINTEXT"],
            str(values["admin"]["listener"]),
            listeners.get("CONTROLLER"),
            values.get("metrics", {}).get("listener"),
        )
        cluster, rack = values.get("cluster", {}), values.get("broker", {}).get("rack")
        return _Settings(settings, where, cluster.get("id"), rack)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as damage:
        raise LocalError(
            f"{settings} cannot be used: {damage!r}",
            "give it `listeners` and `admin.listener`, or remove it to have it written anew",
        ) from damage


def _check_may_grow(found: Mapping[int, _Settings]) -> None:
    """Raises LocalError for a region of one node: it has no controller listener, which other nodes need to join."""
    if not found:
        return
    alone = [known for known in found.values() if known.cluster_id is None]
    if alone or not any(known.addresses.controller for known in found.values()):
        first = (alone or list(found.values()))[0]
        raise LocalError(
            f"{first.settings} is of a region of one node, which others cannot join",
            "begin a region of several nodes under another name, or in an empty directory",
        )


def _choose(
    places: Sequence[NodeFiles], found: Mapping[int, _Settings], taken: Collection[int]
) -> dict[int, Addresses]:
    """Addresses of all nodes. Nodes that are added to a region become no controllers."""
    count = controllers(len(places)) if len(places) > 1 else 0
    if any(known.addresses.controller for known in found.values()):
        count = 0
    chosen = {node_id: known.addresses for node_id, known in found.items()}
    missing = [place for place in places if place.node_id not in found]
    ports = [f"127.0.0.1:{port}" for port in free_ports(4 * len(missing), taken)]
    for index, place in enumerate(missing):
        kafka, admin, controller, metrics = ports[4 * index : 4 * index + 4]
        decides = place in places[:count]
        chosen[place.node_id] = Addresses(kafka, admin, controller if decides else None, metrics)
    return chosen


def _toml(
    place: NodeFiles, nodes: Mapping[int, Addresses], cluster_id: str, rack: str | None
) -> str:
    own = nodes[place.node_id]
    # No delay of a group's first rebalance, as in Kafka's quick start.
    lines = [
        f"node.id = {place.node_id}",
        f"log.dirs = {_quoted(str(place.data))}",
        f"listeners = {_quoted(_listeners(own))}",
        f'admin.listener = "{own.admin}"',
        f'metrics.listener = "{own.metrics}"',
        "group.initial.rebalance.delay.ms = 0",
    ]
    if len(nodes) > 1:
        lines += _of_several(own, nodes, cluster_id)
    if rack is not None:
        lines.append(f"broker.rack = {_quoted(rack)}")
    return "".join(f"{line}\n" for line in lines)


def _listeners(own: Addresses) -> str:
    to_nodes = f",CONTROLLER://{own.controller}" if own.controller else ""
    return f"PLAINTEXT://{own.kafka}{to_nodes}"


def _of_several(own: Addresses, nodes: Mapping[int, Addresses], cluster_id: str) -> list[str]:
    voters = [
        f"{node_id}@{each.controller}" for node_id, each in sorted(nodes.items()) if each.controller
    ]
    return [
        f'cluster.id = "{cluster_id}"',
        f'process.roles = "{"broker,controller" if own.controller else "broker"}"',
        f'controller.quorum.voters = "{",".join(voters)}"',
        f"default.replication.factor = {min(REPLICAS, len(nodes))}",
        # With three replicas, no acknowledged record is on one disk only; with two, the loss of one would stop writers.
        *(["min.insync.replicas = 2"] if len(nodes) >= REPLICAS else []),
    ]


def _random_id() -> str:
    """A Kafka uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[:22]).startswith("-"):
        pass
    return text


def _quoted(text: str) -> str:
    """A TOML basic string: escaped as in JSON; TOML requires that DEL is escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def free_ports(count: int, taken: Collection[int]) -> list[int]:
    """Free ports that are not in `taken`; random, so that federations that start at the same time rarely collide."""
    ports: list[int] = []
    if not count:
        return ports
    allowed = allowed_ports()
    for port in random.sample(allowed, k=min(1_000, len(allowed))):
        if port not in taken and _is_free(port):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise LocalError("no free port was found", f"free some between {allowed[0]} and {allowed[-1]}")


def allowed_ports(environment: Mapping[str, str] = os.environ) -> range:
    """Those of `CAUSEWAY_LOCAL_PORTS`, or the default. Raises LocalError for what is no range of ports."""
    text = environment.get(PORTS_VARIABLE)
    if text is None:
        return PORTS
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last) < 1 << 16):
        because = f"{PORTS_VARIABLE}={text} is no range of ports"
        raise LocalError(because, "give FROM-TO, as 10000-29999")
    return range(int(first), int(last) + 1)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers set it: a port with connections in TIME_WAIT only is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
