"""Compacted topics through a link to or from a release that does not mirror them, built from git, and upgraded while
the link runs.
"""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.nodes import NodeProcess
from tests.process.releases import ROOT, environment
from tests.process.test_compaction import CLEANER, checkpoint, create, produced, read, updates
from tests.process.test_earlier_release import earlier_release

# The last one that speaks version 6 of the link protocol; it compacts topics, and mirrors others.
EARLIER = "92abcbcb43ae1ce08f2d9047b29c29ae7fbe19bc"
LINK, TIMEOUT_S = "west-east", 90
TABLE, LATER = "table", "later"  # compacted from the beginning, and while the link runs
UPDATES = 400

pytestmark = [pytest.mark.soak, pytest.mark.timeout(280)]


class Region:
    """One node of a release, whose commands are those of its release."""

    def __init__(self, directory: Path, tree: Path = ROOT) -> None:
        directory.mkdir()
        ports = {name: f"127.0.0.1:{free_port()}" for name in ("admin.listener", "link.listener")}
        self.node = NodeProcess(directory, {**CLEANER, **ports, "cluster.id": directory.name})
        self.start(tree)

    def start(self, tree: Path) -> None:
        self.tree = tree
        self.node.environment = environment(tree)
        self.node.start()

    def upgrade(self) -> None:
        assert self.node.stop() == 0
        self.start(ROOT)

    @property
    def address(self) -> str:
        return self.node.address

    def run(self, *arguments: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "federation", *arguments, "--bootstrap-server", self.address, "--json"],
            env=environment(self.tree),
            cwd=self.tree,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )  # fmt: skip
        assert done.returncode in (0, 3), f"{arguments}: {done.stdout} {done.stderr}"
        return json.loads(done.stdout)

    def mirror(self, topic: str) -> Any:
        return self.run("mirror", "describe", topic)

    def held(self, topic: str) -> int:
        return int(self.mirror(topic)["mirror_lags"][0]["local_log_end_offset"])

    def table(self, topic: str) -> dict[bytes, bytes]:
        latest = {key: value for _, key, value in read(self.node, topic) if key is not None}
        return {key: value for key, value in latest.items() if value is not None}

    def set(self, topic: str, name: str, value: str) -> None:
        change = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
        admin = AdminClient({"bootstrap.servers": self.address})
        admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)


@pytest.fixture(params=["source", "destination"])
def regions(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Region]]:
    """`earlier` is one of `west`, the source, and `east`."""
    tree = earlier_release(EARLIER, tmp_path)
    is_source = request.param == "source"
    west = Region(tmp_path / "west", tree if is_source else ROOT)
    east = Region(tmp_path / "east", ROOT if is_source else tree)
    yield {"west": west, "east": east, "earlier": west if is_source else east}
    for region in (west, east):
        assert region.node.stop() == 0
        assert "Traceback" not in region.node.log()


def test_compacted_topics_wait_for_the_upgrade_of_an_earlier_release_and_lose_nothing(
    regions: dict[str, Region], rng: random.Random, tmp_path: Path
) -> None:
    west, east = regions["west"], regions["east"]
    small = {"internal_segment_bytes": 30_000, "min_cleanable_dirty_ratio": 0.01}
    create(west.node, TABLE, cleanup_policy="compact", **small)
    create(west.node, LATER, **small)
    for topic in (TABLE, LATER):
        produced(west.node, topic, updates(rng, UPDATES))
    until(lambda: checkpoint(west.node, f"{TABLE}-0") > UPDATES // 2, TIMEOUT_S, west.node.log)
    east.run("link", "create", LINK, "--source-bootstrap-server", west.address)
    for topic in (TABLE, LATER):
        east.run("mirror", "create", topic, "--link", LINK)
    until(lambda: east.held(LATER) == UPDATES, TIMEOUT_S, lambda: east.mirror(LATER))
    until(lambda: waits(east, TABLE), TIMEOUT_S, lambda: east.mirror(TABLE))
    assert east.held(TABLE) == 0
    west.set(LATER, "cleanup.policy", "compact")
    for topic in (TABLE, LATER):
        produced(west.node, topic, updates(rng, UPDATES))
    until(lambda: checkpoint(west.node, f"{LATER}-0") > UPDATES, TIMEOUT_S, west.node.log)
    if regions["earlier"] is east:
        until(lambda: waits(east, LATER), TIMEOUT_S, lambda: east.mirror(LATER))
    regions["earlier"].upgrade()
    for topic in (TABLE, LATER):
        until(
            lambda topic=topic: east.held(topic) == 2 * UPDATES,  # type: ignore[misc]
            TIMEOUT_S,
            lambda topic=topic: east.mirror(topic),  # type: ignore[misc]
        )
        assert east.table(topic) == west.table(topic)
        described = east.mirror(topic)
        assert (described["mirror_status"], described["holes"]) == ("ACTIVE", []), described
    found = causeway(
        "audit", "run", "--engine", "local", "--output", str(tmp_path / "audit"),
        "--source-bootstrap", west.address, "--mirror-bootstrap", east.address,
        "--topic", TABLE, "--topic", LATER, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert found["verdict"] == "kept", found


def waits(region: Region, topic: str) -> bool:
    """It says what has to be done, and has not given up."""
    described = region.mirror(topic)
    because = json.dumps(described)
    return "upgrade" in because and described["mirror_status"] not in ("FAILED", "STOPPED")
