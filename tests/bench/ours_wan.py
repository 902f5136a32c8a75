"""Causeway as two regions of one node, of which links reach west through a port where a proxy listens, or straight."""

from pathlib import Path

from tests.bench.ours import mirror, unmirror
from tests.bench.processes import free_port
from tests.bench.systems import DESTINATION, SOURCE, Region
from tests.process.nodes import NodeProcess

# 10 Gbit/s carry 250 MB in 200 ms, and a window begins with 32 MiB. By default it grows by 128 MiB.
SETTINGS = {"link.window.growth.max.bytes": 256 << 20}
ADVERTISED = "link.advertised.listener"


class OurWan:
    """West and east under `directory`."""

    name = "causeway"

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._nodes: dict[str, NodeProcess] = {}
        self._listener = f"127.0.0.1:{free_port()}"
        self.port = free_port()

    def up(self) -> None:
        for name in (SOURCE, DESTINATION):
            (self._directory / name).mkdir(parents=True)
            self._nodes[name] = NodeProcess(self._directory / name, SETTINGS | {"cluster.id": name})
            self._nodes[name].start()

    def reached(self, *, through_proxy: bool) -> str:
        """Starts west again: which address a node advertises is in its settings."""
        west = self._nodes[SOURCE]
        west.stop()
        west.settings["link.listener"] = self._listener
        west.settings[ADVERTISED] = f"127.0.0.1:{self.port}" if through_proxy else self._listener
        west.start()
        return self._listener

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
