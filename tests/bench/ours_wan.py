"""Causeway as two regions, of which links reach west through ports where proxies listen, or straight."""

from pathlib import Path

from tests.bench.clusters import NODES
from tests.bench.ours import SETTINGS, mirror, unmirror
from tests.bench.ours_regions import OurRegions
from tests.bench.processes import free_port
from tests.bench.systems import DESTINATION, SOURCE, Region
from tests.process.nodes import NodeProcess

# 10 Gbit/s carry 250 MB in 200 ms, and a window begins with 32 MiB. By default it grows by 128 MiB.
WINDOWS = {"link.window.growth.max.bytes": 256 << 20}


def link_listeners(listener: str, proxy_port: int | None) -> dict[str, str]:
    """Settings of a node that listens there for links, and may tell them to come through a proxy of this machine."""
    advertised = listener if proxy_port is None else f"127.0.0.1:{proxy_port}"
    return {"link.listener": listener, "link.advertised.listener": advertised}


class OurWan:
    """West and east under `directory`."""

    name = "causeway"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._nodes: dict[str, NodeProcess] = {}
        self._listener = f"127.0.0.1:{free_port()}"
        self.ports = (free_port(),)

    def up(self) -> None:
        for name in (SOURCE, DESTINATION):
            (self._directory / name).mkdir(parents=True)
            settings = SETTINGS | WINDOWS | {"cluster.id": name}
            self._nodes[name] = NodeProcess(self._directory / name, settings)
            self._nodes[name].start()

    def reached(self, *, through_proxy: bool) -> tuple[str, ...]:
        """Starts west again: which address a node advertises is in its settings."""
        west = self._nodes[SOURCE]
        west.stop()
        west.settings |= link_listeners(self._listener, self.ports[0] if through_proxy else None)
        west.start()
        return (self._listener,)

    def region(self, name: str) -> Region:
        return Region(self._nodes[name].address, (self._nodes[name].pid,))

    def link(self, topic: str) -> None:
        source, destination = (self._nodes[name].address for name in (SOURCE, DESTINATION))
        mirror(topic, source, destination)

    def between(self) -> tuple[int, ...]:
        return ()

    def unlink(self, topic: str) -> None:
        unmirror(topic, self._nodes[DESTINATION].address)

    def down(self) -> None:
        for node in self._nodes.values():
            if node.is_running():
                node.stop()


class OurWanRegions(OurRegions):
    """Regions of three nodes, with a proxy for each node of west."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._listeners = tuple(f"127.0.0.1:{free_port()}" for _ in range(NODES))
        self.ports = tuple(free_port() for _ in range(NODES))

    def reached(self, *, through_proxy: bool) -> tuple[str, ...]:
        """Starts west again: which address a node advertises is in its settings."""
        west = self._clusters[SOURCE]
        west.stop()
        ports = self.ports if through_proxy else (None,) * NODES
        for node, *addresses in zip(range(1, NODES + 1), self._listeners, ports, strict=True):
            west.configure(node, link_listeners(*addresses))
        west.up()
        return self._listeners
