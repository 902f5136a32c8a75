"""A node's TOML: written at its first start, and read back at every other one."""

import json
import random
import socket
import tomllib
from pathlib import Path

from federation.local.layout import LocalError

# Below the range from which systems hand out ports to outgoing connections (Linux 32768, IANA 49152), so that no
# connection takes a node's port while the node is down.
PORTS = range(10_000, 30_000)


def addresses(settings: Path, *, node_id: int, data: Path) -> tuple[str, str]:
    """(kafka, admin) as host:port of this node, choosing and keeping them at its first start.

    Raises LocalError where an edited file no longer says both.
    """
    if not settings.exists():
        kafka, admin = _free_ports(2)
        text = _toml(node_id, data, f"127.0.0.1:{kafka}", f"127.0.0.1:{admin}")
        settings.write_text(text, encoding="utf-8")
    try:
        values = tomllib.loads(settings.read_text(encoding="utf-8"))
        kafka_address = str(values["listeners"]).removeprefix("PLAINTEXT://")
        return kafka_address, str(values["admin"]["listener"])
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as damage:
        raise LocalError(
            f"{settings} cannot be used: {damage!r}",
            "give it `listeners` and `admin.listener`, or remove it to have it written anew",
        ) from damage


def _toml(node_id: int, data: Path, kafka: str, admin: str) -> str:
    # No wait before a group's first rebalance, as in Kafka's own quick start: here everyone joins at once anyway.
    return f"""\
node.id = {node_id}
log.dirs = {_quoted(str(data))}
listeners = "PLAINTEXT://{kafka}"
admin.listener = "{admin}"
group.initial.rebalance.delay.ms = 0
"""


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are TOML's, but for DEL, which TOML wants escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _free_ports(count: int) -> list[int]:
    """Ports on which nothing listens. Drawn at random, so that federations started at once seldom meet."""
    ports: list[int] = []
    for port in random.sample(PORTS, k=1_000):
        if _is_free(port):
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
