"""A region whose nodes are processes on hosts of their own: dedicated controllers and brokers, or others."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from signal import Signals

from tests.process.asking import Partition, Placed, leads_the_quorum, placed, until
from tests.process.hosts import Hosts

TIMEOUT_S = 90
CLUSTER_ID = "AQIDBAUGBwgJCgsMDQ4PEA"


class Node:
    """One process at a time; its address and directory stay the same over restarts."""

    MODULE = ("brokers",)

    def __init__(self, node_id: int, hosts: Hosts, directory: Path, *, is_broker: bool) -> None:
        self.id, self.is_broker = node_id, is_broker
        self.data = directory / f"node-{node_id}"
        self.address = f"{hosts.address(node_id)}:{hosts.port()}"
        self._hosts = hosts
        self._settings = directory / f"node-{node_id}.toml"
        self._log = directory / f"node-{node_id}.log"
        self._process: subprocess.Popen[str] | None = None

    def configure(self, settings: Mapping[str, object]) -> None:
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        self._settings.write_text("".join(lines))

    def start(self) -> None:
        """Begins to; `wait_ready` tells when it answers."""
        program = (sys.executable, "-P", "-m", *self.MODULE, "--config", str(self._settings))
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._hosts.command(self.id, *program),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def wait_ready(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        assert self._process.stdout.readline(), f"node {self.id}: {self.log()[-2000:]}"

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def signal(self, number: Signals) -> None:
        if self.is_running:
            assert self._process is not None
            os.kill(self._process.pid, number)

    def end(self, number: Signals) -> None:
        """Signals it and waits until it is dead."""
        self.signal(number)
        self.wait_dead()

    def wait_dead(self) -> None:
        if self._process is not None:
            self._process.wait(TIMEOUT_S)

    def log(self) -> str:
        return self._log.read_text()


class NodesRegion:
    """Its nodes by id, and which of them decide."""

    def __init__(self, nodes: Iterable[Node], controllers: Iterable[Node]) -> None:
        self.nodes = {node.id: node for node in nodes}
        self.controllers = [*controllers]
        self.brokers = [node for node in self.nodes.values() if node.is_broker]

    @property
    def bootstrap(self) -> str:
        return ",".join(each.address for each in self.brokers)

    def up(self, nodes: Iterable[Node] | None = None) -> None:
        """Starts what is not running, all at once."""
        asleep = [each for each in nodes or self.nodes.values() if not each.is_running]
        for node in asleep:
            node.start()
        for node in asleep:
            node.wait_ready()

    def down(self) -> None:
        """In order: brokers hand over and end before the controllers do."""
        for group in (self.brokers, self.controllers):
            for node in group:
                node.signal(Signals.SIGTERM)
            for node in group:
                node.wait_dead()

    def kill(self) -> None:
        """Whatever still runs."""
        for node in self.nodes.values():
            node.signal(Signals.SIGKILL)
            node.wait_dead()

    def active_controller(self, *, but: Node | None = None) -> Node:
        """Waits until one, another than `but`, says that it leads."""
        found: list[Node] = []

        def is_found() -> bool:
            found[:] = [each for each in self.controllers if each is not but and _leads(each)]
            return len(found) > 0

        until(is_found, TIMEOUT_S, lambda: "no controller is active")
        return found[0]

    def placed(self, topics: Iterable[str], *, by: Node | None = None) -> dict[Partition, Placed]:
        """As one broker knows it: the first that runs."""
        asked = by or next(each for each in self.brokers if each.is_running)
        return placed(asked.address, topics)

    def wait_whole(self, topics: Iterable[str]) -> None:
        """Until every partition has all its replicas in sync, wherever one asks."""
        seen: dict[int, dict[Partition, Placed]] = {}

        def is_whole() -> bool:
            seen.update({each.id: self.placed(topics, by=each) for each in self.brokers})
            return all(one.is_whole for each in seen.values() for one in each.values())

        until(is_whole, TIMEOUT_S, lambda: f"not in sync: {seen}")


class BigRegion(NodesRegion):
    """Controllers have the ids from 1 on, brokers those after them."""

    def __init__(
        self,
        directory: Path,
        hosts: Hosts,
        *,
        controllers: int,
        brokers: int,
        settings: Mapping[str, object],
    ) -> None:
        count = controllers + brokers
        nodes = [
            Node(node_id, hosts, directory, is_broker=node_id > controllers)
            for node_id in range(1, count + 1)
        ]
        super().__init__(nodes, nodes[:controllers])
        voters = ",".join(f"{each.id}@{each.address}" for each in self.controllers)
        for node in self.nodes.values():
            role, listener = (
                ("broker", "PLAINTEXT") if node.is_broker else ("controller", "CONTROLLER")
            )
            own = {
                "node.id": node.id,
                "cluster.id": CLUSTER_ID,
                "log.dirs": str(node.data),
                "process.roles": role,
                "listeners": f"{listener}://{node.address}",
                "controller.quorum.voters": voters,
            }
            node.configure(own | dict(settings))


def _leads(node: Node) -> bool:
    try:
        return node.is_running and leads_the_quorum(node.address)
    except OSError:
        return False
