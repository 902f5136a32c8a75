"""A region of several nodes as a user starts it, and ways to make its nodes suffer."""

import os
from collections.abc import Callable
from pathlib import Path
from signal import Signals
from typing import Any

import psutil
from confluent_kafka.admin import AdminClient

from tests.process.asking import until
from tests.process.commands import causeway, is_alive

TIMEOUT_S = 60
ASK_PAUSE_S = 0.05


class Members:
    """`causeway local up --nodes N`; nodes are named by id."""

    def __init__(self, directory: Path, nodes: int, region: str = "west") -> None:
        self._directory = directory
        self._region = region
        self._count = nodes
        self._nodes: dict[int, Any] = {}
        self.bootstrap = ""

    def up(self) -> None:
        """Starts what is not running; addresses stay the same."""
        said = self._run("local", "up", "--region", self._region, "--nodes", str(self._count))
        (region,) = said["regions"]
        self._nodes = {node["id"]: node for node in region["nodes"]}
        self.bootstrap = region["bootstrap"]

    def grow(self, nodes: int) -> None:
        """Until it has so many."""
        self._count = nodes
        self.up()

    def down(self) -> None:
        self._run("local", "down")

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._nodes)

    def data(self, node: int) -> Path:
        return Path(self._nodes[node]["data"])

    def log(self, node: int) -> str:
        return Path(self._nodes[node]["log"]).read_text()

    def connections(self, node: int) -> list[tuple[int, int]]:
        """The ports at both ends of those that stand: its own and the other one."""
        found = psutil.Process(self._nodes[node]["pid"]).net_connections("tcp")
        return [
            (one.laddr.port, one.raddr.port)
            for one in found
            if one.status == psutil.CONN_ESTABLISHED and one.raddr
        ]

    def listens(self, node: int) -> set[int]:
        """The ports of all of its listeners."""
        found = psutil.Process(self._nodes[node]["pid"]).net_connections("tcp")
        return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}

    def signal(self, node: int, number: Signals) -> None:
        """To a node that is running, or has been."""
        if is_alive(self._nodes[node]["pid"]):
            os.kill(self._nodes[node]["pid"], number)

    def end(self, node: int, number: Signals) -> None:
        """Signals it and waits until it is dead."""
        self.signal(node, number)
        self.wait_dead(node)

    def wait_dead(self, node: int) -> None:
        pid = self._nodes[node]["pid"]
        until(lambda: not is_alive(pid), TIMEOUT_S, lambda: f"node {node} is still there")

    def leader(self, topic: str, partition: int, *, other_than: int = -1) -> int:
        """Waits until the partition is led, by another node if so wished."""

        def is_led(found: Any) -> bool:
            return found.leader not in (-1, other_than)

        return int(self._until(topic, partition, is_led, "has no other leader").leader)

    def replicas(self, topic: str) -> list[int]:
        """Of the topic's first partition, as one broker knows it."""
        found = _partition(self._admin(), topic, 0)
        return [] if found is None else [*found.replicas]

    def wait_in_sync(self, topic: str, partitions: int) -> None:
        """Until every partition has all its replicas in sync."""
        for partition in range(partitions):
            self._until(
                topic,
                partition,
                lambda found: len(found.isrs) == len(found.replicas),
                "is not in sync",
            )

    def _until(self, topic: str, partition: int, is_so: Callable[[Any], bool], what: str) -> Any:
        """The partition once it is so, as one broker knows it."""
        admin, found = self._admin(), None

        def holds() -> bool:
            nonlocal found
            found = _partition(admin, topic, partition)
            return found is not None and is_so(found)

        until(holds, TIMEOUT_S, lambda: f"{topic}-{partition} {what}: {found}", pause_s=ASK_PAUSE_S)
        return found

    def _admin(self) -> AdminClient:
        return AdminClient(
            {
                "bootstrap.servers": self.bootstrap,
                "log_level": 2,
                "reconnect.backoff.max.ms": 100,  # nodes come back while it asks
            }
        )

    def _run(self, *arguments: str) -> Any:
        return causeway(*arguments, "--dir", str(self._directory), timeout=2 * TIMEOUT_S)


def _partition(admin: AdminClient, topic: str, partition: int) -> Any:
    """None where the broker that is asked does not know it yet."""
    return admin.list_topics(topic, timeout=10).topics[topic].partitions.get(partition)
