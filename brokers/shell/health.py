"""Whether a node is live and ready, for supervisors and load balancers.

Live: its event loop runs and its core has not failed. Ready: all its logs are open, and it is registered as a broker
and not fenced.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brokers.config.disk_watermarks import DiskLevel
from brokers.node.parts import Parts
from brokers.shell.http import HttpResponse, Route
from brokers.shell.node import Node

JSON = "application/json"
UNAVAILABLE = 503


@dataclass(frozen=True, slots=True)
class Health:
    """`why` has a sentence for each reason why the node is not ready; `warnings`, of what else is not well: a disk that
    refuses producers is no reason to send its consumers away.
    """

    live: bool
    ready: bool
    why: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def health(node: Node, parts: Parts) -> Health:
    failure = node.stopped.exception() if node.stopped.done() else None
    if failure is not None:
        return Health(live=False, ready=False, why=(f"the node has stopped: {failure!r}",))
    why = tuple(_obstacles(node, parts))
    return Health(live=True, ready=not why, why=why, warnings=tuple(_warnings(parts)))


def _warnings(parts: Parts) -> Iterator[str]:
    for each in parts.log_dirs.all:
        if each.failure:
            yield f"log directory {each.path} is offline: {each.failure}"
        elif each.level and each.volume is not None:
            free, total = each.volume.usable_bytes, each.volume.total_bytes
            what = "producers are refused" if each.level >= DiskLevel.REFUSE else "space is short"
            yield f"log directory {each.path}: {what}, {free} of {total} bytes are free"


def _obstacles(node: Node, parts: Parts) -> Iterator[str]:
    if node.stopped.done():
        yield "the node is stopping"
    elif not node.ready.done():
        missing = sum(replica.offline == "opening" for replica in parts.partitions.all.values())
        held = len(parts.partitions.all)
        yield (
            f"{missing} of {held} logs are not open yet"
            if missing
            else "the metadata of the region is not known yet"
        )
    elif parts.config.is_broker:
        broker = parts.raft.image.brokers.get(parts.config.node_id)
        if broker is None:
            yield "the controller has not registered this broker"
        elif broker.fenced:
            yield "the controller has fenced this broker"
        elif broker.in_controlled_shutdown:
            yield "this broker is handing over what it leads, to stop"


def health_routes(node: Node, parts: Parts) -> Mapping[str, Route]:
    def live() -> HttpResponse:
        found = health(node, parts)
        return _answer({"live": found.live}, found.live)

    def ready() -> HttpResponse:
        found = health(node, parts)
        return _answer(_ready(found), found.ready)

    def both() -> HttpResponse:
        found = health(node, parts)
        return _answer({"live": found.live, **_ready(found)}, found.ready)

    return {"/health": both, "/health/live": live, "/health/ready": ready}


def _ready(found: Health) -> Mapping[str, object]:
    return {"ready": found.ready, "why": found.why, "warnings": found.warnings}


def _answer(answer: Mapping[str, object], is_good: bool) -> HttpResponse:
    return HttpResponse([json.dumps(answer) + "\n"], JSON, 200 if is_good else UNAVAILABLE)
