"""Causeway as two regions of three nodes each, and links between them, driven by its own command."""

import json
from pathlib import Path

from tests.bench.clusters import as_region, bootstrap
from tests.bench.ours import causeway, mirror, unmirror
from tests.bench.ours_cluster import OurCluster
from tests.bench.systems import DESTINATION, SOURCE, Region

LINK = "both"  # bidirectional: a mirror and its source can change places


class OurRegions:
    """West and east under `directory`; links run inside them, so they have no processes of their own."""

    name = "causeway"

    def __init__(self, directory: Path) -> None:
        self._clusters = {
            name: OurCluster(directory / name, name) for name in (SOURCE, DESTINATION)
        }

    def up(self) -> None:
        for cluster in self._clusters.values():
            cluster.up()

    def region(self, name: str) -> Region:
        return as_region(self._clusters[name])

    def link(self, topic: str) -> None:
        mirror(topic, bootstrap(self._clusters[SOURCE]), bootstrap(self._clusters[DESTINATION]))

    def between(self) -> tuple[int, ...]:
        return ()

    def unlink(self, topic: str) -> None:
        unmirror(topic, bootstrap(self._clusters[DESTINATION]))

    def down(self) -> None:
        for cluster in self._clusters.values():
            cluster.down()

    # --- many topics at once, which may change places ---

    def link_all(self, beginning: str) -> None:
        """A bidirectional link, by which east mirrors all topics whose names begin so."""
        one = {"name": beginning, "patternType": "PREFIXED", "filterType": "INCLUDE"}
        filters = json.dumps({"topicFilters": [one]})
        there = ("link", "create", LINK, "--remote-bootstrap-server")
        self._ask(SOURCE, *there, self._at(DESTINATION))
        self._ask(
            DESTINATION, *there, self._at(SOURCE),
            "--config", "auto.create.mirror.topics.enable=true",
            "--config", f"auto.create.mirror.topics.filters={filters}",
        )  # fmt: skip

    def unlink_all(self) -> None:
        """Mirrors that are left become writable."""
        for name in (SOURCE, DESTINATION):
            self._ask(name, "link", "delete", LINK, "--force")

    def fail_over(self, region: str) -> None:
        """Every mirror of the region becomes writable, in one decision."""
        self._ask(region, "mirror", "failover", "--link", LINK)

    def restore(self, region: str, names: list[str]) -> None:
        """The region's topics become mirrors of those that they were failed over to."""
        self._ask(region, "mirror", "truncate-and-restore", *names, "--link", LINK)

    def reverse(self, region: str) -> None:
        """Every mirror of the region and its source change places."""
        self._ask(region, "mirror", "reverse-and-start", "--link", LINK)

    def _ask(self, name: str, *words: str) -> str:
        return causeway(*words, "--bootstrap-server", self._at(name))

    def _at(self, name: str) -> str:
        return bootstrap(self._clusters[name])
