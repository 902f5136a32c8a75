"""Two regions of three nodes, and a wide area between them that delays, limits and cuts.

Each node's Kafka and link listener have a proxy, and the other region knows the proxies' addresses only. On hosts of
their own, nothing else leads from one region to the other.
"""

import subprocess
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from tests.process.asking import until
from tests.process.big_region import Node, NodesRegion
from tests.process.commands import CAUSEWAY, causeway
from tests.process.delay_proxy import DelayProxy
from tests.process.hosts import Hosts, Namespaces
from tests.process.storm import check_equal

NODES, REPLICAS = 3, 3
TIMEOUT_S = 120
LINK = "west-east"


class LinkedNode(Node):
    """A broker and controller with its links."""

    MODULE = ("federation", "node", "run")


class FarRegion(NodesRegion):
    """`bootstrap` is for its own clients, `far` for the other region."""

    def __init__(
        self, name: str, first: int, directory: Path, hosts: Hosts, proxies: "Proxies"
    ) -> None:
        (directory / name).mkdir()
        self.name = name
        ids = range(first, first + NODES)
        nodes = [LinkedNode(each, hosts, directory / name, is_broker=True) for each in ids]
        super().__init__(nodes, nodes)
        self.far = ",".join(proxies.to(node.address) for node in nodes)
        decide = {node.id: f"{hosts.address(node.id)}:{hosts.port()}" for node in nodes}
        voters = ",".join(f"{node_id}@{address}" for node_id, address in decide.items())
        for node in nodes:
            host = hosts.address(node.id)
            links = f"{host}:{hosts.port()}"
            own: Mapping[str, object] = {
                "node.id": node.id,
                "cluster.id": name,
                "log.dirs": str(node.data),
                "listeners": f"PLAINTEXT://{node.address},CONTROLLER://{decide[node.id]}",
                "controller.quorum.voters": voters,
                "admin.listener": f"{host}:{hosts.port()}",
                "link.listener": links,
                "link.advertised.listener": proxies.to(links),
                "default.replication.factor": REPLICAS,
                "group.initial.rebalance.delay.ms": 0,
            }
            node.configure(own)

    def at(self, *arguments: str) -> Any:
        """What a command of an operator of this region answers."""
        return causeway(*arguments, "--bootstrap-server", self.bootstrap, timeout=TIMEOUT_S)

    def leader(self, topic: str, partition: int) -> Node:
        """Waits until it has one that runs."""
        found: list[Node] = []

        def is_led() -> bool:
            leader = self.nodes.get(self.placed([topic])[topic, partition].leader)
            found[:] = [leader] if leader is not None and leader.is_running else []
            return len(found) > 0

        until(is_led, TIMEOUT_S, lambda: f"{topic}-{partition} has no leader in {self.name}")
        return found[0]

    def status(self, topic: str) -> str:
        return str(self.at("mirror", "describe", topic)["mirror_status"])

    def wait_mirrors(self, topics: Iterable[str]) -> None:
        """Until each is an ACTIVE mirror here."""
        for topic in topics:
            self.wait(lambda topic=topic: self.status(topic) == "ACTIVE")  # type: ignore[misc]

    def wait_caught_up(self, topic: str, ends: Mapping[int, int]) -> None:
        """Until the mirror ends there."""
        self.wait(lambda: self.held(topic) == ends)

    def held(self, topic: str) -> dict[int, int]:
        """Where the mirror's partitions end."""
        lags = self.at("mirror", "describe", topic)["mirror_lags"]
        return {one["partition"]: one["local_log_end_offset"] for one in lags}

    def wait(self, is_so: Callable[[], bool]) -> None:
        until(is_so, TIMEOUT_S, lambda: f"{self.name} does not come to it")


class Proxies:
    """One for each listener; what the other region knows of it."""

    def __init__(self, hosts: Hosts, delay_ms: float, bytes_per_second: int) -> None:
        self._here = hosts.here
        self._delay_ms, self._bytes_per_second = delay_ms, bytes_per_second
        self.all: list[DelayProxy] = []

    def to(self, address: str) -> str:
        """The address of a new one that leads there."""
        host, _, port = address.rpartition(":")
        proxy = DelayProxy(
            host,
            int(port),
            delay_ms=self._delay_ms,
            bytes_per_second=self._bytes_per_second,
            listener=self._here,
        )
        self.all.append(proxy.start())
        return f"{self._here}:{proxy.port}"


class NoProxies(Proxies):
    """Each node reaches every other one, unless the link of their hosts is cut."""

    def to(self, address: str) -> str:
        return address


class WideArea:
    """`delay_ms` is one way, `bytes_per_second` of each connection and direction (0: as fast as it goes).

    Where it `is_near` there are no proxies.
    """

    def __init__(
        self,
        directory: Path,
        hosts: Hosts,
        *,
        delay_ms: float = 0,
        bytes_per_second: int = 0,
        is_near: bool = False,
    ) -> None:
        self._hosts, self._is_near = hosts, is_near
        kind = NoProxies if is_near else Proxies
        self._proxies = kind(hosts, delay_ms, bytes_per_second)
        self.west = FarRegion("west", 1, directory, hosts, self._proxies)
        self.east = FarRegion("east", 1 + NODES, directory, hosts, self._proxies)
        self._separate()

    @property
    def regions(self) -> tuple[FarRegion, FarRegion]:
        return self.west, self.east

    def up(self) -> None:
        for region in self.regions:
            region.up()

    def down(self) -> None:
        for region in self.regions:
            region.down()

    def close(self) -> None:
        for region in self.regions:
            region.kill()
        for proxy in self._proxies.all:
            proxy.stop()

    def _separate(self) -> None:
        """There is no way around the proxies."""
        if isinstance(self._hosts, Namespaces) and not self._is_near:
            for one, other in product(self.west.nodes, self.east.nodes):
                self._hosts.cut_both_ways(one, other)

    # --- the wide area ---

    def cut(self, *ways: str) -> None:
        """Between the regions nothing passes, or not in these ways (of `delay_proxy`); nobody is told."""
        for proxy in self._proxies.all:
            proxy.cut(*ways)

    def mend(self) -> None:
        for proxy in self._proxies.all:
            proxy.mend()

    # --- links ---

    def link(self, initiation: str, *configs: str) -> None:
        """East has a link from west, of that initiation; both have it where it is bidirectional."""
        given = [word for each in configs for word in ("--config", each)]
        MAKE[initiation](self, given)
        links = self.regions if initiation.startswith("bidirectional") else (self.east,)
        for region in links:
            region.wait(
                lambda region=region: (  # type: ignore[misc]
                    region.at("link", "describe", LINK)["link_state"] == "ACTIVE"
                )
            )


def _from_destination(area: WideArea, given: list[str]) -> None:
    area.east.at("link", "create", LINK, "--source-bootstrap-server", area.west.far, *given)


def _from_source(area: WideArea, given: list[str]) -> None:
    made = area.east.at("link", "create", LINK, "--config", "connection.mode=INBOUND", *given)
    there = ("--destination-bootstrap-server", area.east.far, "--secret", made["secret"])
    area.west.at("link", "create", LINK, *there)


def _from_both(area: WideArea, given: list[str]) -> None:
    area.east.at("link", "create", LINK, "--remote-bootstrap-server", area.west.far, *given)
    area.west.at("link", "create", LINK, "--remote-bootstrap-server", area.east.far, *given)


def _from_west_for_both(area: WideArea, given: list[str]) -> None:
    """East cannot dial."""
    inbound = ("--config", "link.mode=BIDIRECTIONAL", "--config", "connection.mode=INBOUND")
    made = area.east.at("link", "create", LINK, *inbound, *given)
    there = ("--remote-bootstrap-server", area.east.far, "--secret", made["secret"])
    area.west.at("link", "create", LINK, *there, *given)


MAKE = {
    "destination": _from_destination,
    "source": _from_source,
    "bidirectional": _from_both,
    "bidirectional inbound": _from_west_for_both,
}


# --- the verdict, once both regions are down ---


def check_equal_everywhere(area: WideArea, topics: Iterable[str], partitions: int) -> None:
    """All replicas of both regions hold the same bytes."""
    nodes = [node for region in area.regions for node in region.nodes.values()]
    for topic, partition in product(topics, range(partitions)):
        check_equal([node.data / f"{topic}-{partition}" for node in nodes])


def check_audit(area: WideArea, topics: Iterable[str], output: Path) -> None:
    """It finds everything kept, from nothing but the data directories: nobody answers any more."""
    sides = zip(("--source-dir", "--mirror-dir"), area.regions, strict=True)
    directories = [
        word
        for option, region in sides
        for node in region.nodes.values()
        for word in (option, str(node.data))
    ]
    named = [word for topic in topics for word in ("--topic", topic)]
    how = ("--replicas", "all", "--engine", "local", "--output", str(output))
    command = [CAUSEWAY, "audit", "run", *directories, *named, *how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
