"""A region of several nodes as a user starts it, and ways to make its nodes suffer."""

import os
import time
from pathlib import Path
from signal import Signals
from typing import Any

import psutil
from confluent_kafka.admin import AdminClient

from tests.process.commands import causeway, is_alive

TIMEOUT_S = 60


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
        deadline = time.monotonic() + TIMEOUT_S
        while is_alive(self._nodes[node]["pid"]):
            assert time.monotonic() < deadline, f"node {node} is still there"

    def leader(self, topic: str, partition: int, *, other_than: int = -1) -> int:
        """Waits until the partition is led, by another node if so wished."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            found = self._partition(topic, partition)
            if found is not None and found.leader not in (-1, other_than):
                return int(found.leader)
            assert time.monotonic() < deadline, f"{topic}-{partition} has no other leader"

    def replicas(self, topic: str) -> list[int]:
        """Of the topic's first partition, as one broker knows it."""
        found = self._partition(topic, 0)
        return [] if found is None else [*found.replicas]

    def wait_in_sync(self, topic: str, partitions: int) -> None:
        """Until every partition has all its replicas in sync."""
        deadline = time.monotonic() + TIMEOUT_S
        for partition in range(partitions):
            while True:
                found = self._partition(topic, partition)
                if found is not None and len(found.isrs) == len(found.replicas):
                    break
                assert time.monotonic() < deadline, f"{topic}-{partition} is not in sync: {found}"

    def _partition(self, topic: str, partition: int) -> Any:
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 2})
        known = admin.list_topics(topic, timeout=10).topics[topic]
        return known.partitions.get(partition)

    def _run(self, *arguments: str) -> Any:
        return causeway(*arguments, "--dir", str(self._directory), timeout=2 * TIMEOUT_S)
