"""Apache Kafka as two regions of three nodes each, and MirrorMaker 2 between them."""

from pathlib import Path

from tests.bench.clusters import NODES, as_region, bootstrap
from tests.bench.peer.cluster import KafkaCluster
from tests.bench.peer.mirror import REFRESH, MirrorMaker
from tests.bench.systems import DESTINATION, SOURCE, Region


class KafkaRegions:
    """West and east under `directory` and, while a link is up, one MirrorMaker 2 process."""

    name = "kafka"

    def __init__(self, directory: Path) -> None:
        self._clusters = {
            name: KafkaCluster(directory / name, name) for name in (SOURCE, DESTINATION)
        }
        self._mirror = MirrorMaker(directory)

    def up(self) -> None:
        for cluster in self._clusters.values():
            cluster.up()

    def region(self, name: str) -> Region:
        return as_region(self._clusters[name])

    def link(self, topic: str) -> None:
        self._start_mirror(topic)

    def between(self) -> tuple[int, ...]:
        return self._mirror.pids

    def unlink(self, topic: str) -> None:
        self._mirror.stop()

    def down(self) -> None:
        self._mirror.stop()
        for cluster in self._clusters.values():
            cluster.down()

    def link_all(self, beginning: str) -> None:
        """Topics are found when it starts; looking for others every second would be no rest."""
        self._start_mirror(f"{beginning}.*", **{REFRESH: "600"})

    def unlink_all(self) -> None:
        self._mirror.stop()

    def _start_mirror(self, topics: str, **more: str) -> None:
        addresses = [bootstrap(self._clusters[name]) for name in (SOURCE, DESTINATION)]
        self._mirror.start(topics, *addresses, replicas=NODES, **more)
