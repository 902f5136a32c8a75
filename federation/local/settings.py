"""The TOML of a region's nodes: written at their first start, and read back at every other one."""

import base64
import json
import random
import re
import socket
import tomllib
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from federation.local.layout import LocalError

# Below the range from which systems hand out ports to outgoing connections (Linux 32768, IANA 49152), so that no
# connection takes a node's port while the node is down.
PORTS = range(10_000, 30_000)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where one node listens, as host:port.

    `controller` is None on a node that no other asks for decisions, `metrics` where the file names none.
    """

    kafka: str
    admin: str
    controller: str | None = None
    metrics: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A node's number, TOML file and data directory."""

    node_id: int
    settings: Path
    data: Path


def settle(
    places: Sequence[Place], racks: Sequence[str] = (), taken: Collection[int] = ()
) -> list[Addresses]:
    """Addresses of a region's nodes, all of them in order; those without a file get one, and keep what it says.

    The first one, three or five decide together and serve too; the others just serve. Racks are given in turn. No port
    of `taken` is chosen. Raises LocalError where an edited file no longer says what is needed.
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
    """Nodes that have their settings stay in their racks; raises LocalError where these are others, in turn."""
    for index, settings in enumerate(files):
        rack, wanted = _read(settings).rack, racks[index % len(racks)]
        if rack != wanted:
            raise LocalError(
                f"{settings} has the rack {rack or 'none'}, not {wanted}",
                "leave --racks out, or change broker.rack in the settings of every node that is to move",
            )


def settled_ports(directory: Path) -> set[int]:
    """Every port that the nodes of a federation were given: nothing need listen there yet, or just now."""
    files = directory.glob("*/node-*.toml")
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return {int(port) for text in texts for port in re.findall(r":(\d{1,5})\b", text)}


def controllers(nodes: int) -> int:
    """How many of a region's nodes decide together: odd, so that each of them counts."""
    return 1 if nodes < 3 else 3 if nodes < 5 else 5


@dataclass(frozen=True, slots=True)
class _Known:
    """What a file says."""

    settings: Path
    addresses: Addresses
    cluster_id: str | None
    rack: str | None


def _read(settings: Path) -> _Known:
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
        return _Known(settings, where, cluster.get("id"), rack)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as damage:
        raise LocalError(
            f"{settings} cannot be used: {damage!r}",
            "give it `listeners` and `admin.listener`, or remove it to have it written anew",
        ) from damage


def _check_may_grow(found: Mapping[int, _Known]) -> None:
    """Nodes that were begun alone have nothing by which others could join them."""
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
    places: Sequence[Place], found: Mapping[int, _Known], taken: Collection[int]
) -> dict[int, Addresses]:
    """Addresses of all nodes; who decides was settled when the first of them were."""
    count = controllers(len(places)) if len(places) > 1 else 0
    if any(known.addresses.controller for known in found.values()):
        count = 0
    chosen = {node_id: known.addresses for node_id, known in found.items()}
    missing = [place for place in places if place.node_id not in found]
    ports = [f"127.0.0.1:{port}" for port in _free_ports(4 * len(missing), taken)]
    for index, place in enumerate(missing):
        kafka, admin, controller, metrics = ports[4 * index : 4 * index + 4]
        decides = place in places[:count]
        chosen[place.node_id] = Addresses(kafka, admin, controller if decides else None, metrics)
    return chosen


def _toml(place: Place, nodes: Mapping[int, Addresses], cluster_id: str, rack: str | None) -> str:
    own = nodes[place.node_id]
    # No wait before a group's first rebalance, as in Kafka's own quick start: here everyone joins at once anyway.
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
        f"default.replication.factor = {min(3, len(nodes))}",
    ]


def _random_id() -> str:
    """A Kafka uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[:22]).startswith("-"):
        pass
    return text


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _free_ports(count: int, taken: Collection[int]) -> list[int]:
    """Ports on which nothing listens, none of them taken; at random, so that federations begun at once seldom meet."""
    ports: list[int] = []
    if not count:
        return ports
    for port in random.sample(PORTS, k=1_000):
        if port not in taken and _is_free(port):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise LocalError("no free port was found", f"free some between {PORTS[0]} and {PORTS[-1]}")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As a server does: a port that only waits out old connections (TIME_WAIT) is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
