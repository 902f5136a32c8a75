"""Nodes of this release beside nodes of an earlier one, built from git: one region, and regions that are linked.

The earlier one is the oldest with which this release must mix: of a region the first that could be mixed with a later
one, of a link the first that has a `link.listener` and agrees with the other end on a version of the link protocol.
"""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tests.bench.processes import free_port
from tests.process.asking import until
from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.releases import PACKAGES, ROOT, environment
from tests.process.test_mixed_releases import (
    NODES,
    PARTITIONS,
    PASSING,
    TIMEOUT_S,
    TOPIC,
    Administrator,
    MixedRegion,
    administer,
    check_same,
    put_a_document,
)

NODES_FROM = "72e90161c31d86b9f414d2d4f22755ddee34a2e1"
LINKS_FROM = "2cbd1db970931a1fd47468147d70aee5c3641f60"
RECORDS = 200

# Three nodes are restarted six times, under load: two to five minutes.
pytestmark = pytest.mark.soak


def earlier_release(commit: str, directory: Path) -> Path:
    """Its tree, in a new folder of `directory`."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("there is no git here")
    command = [git, "-C", str(ROOT), "archive", "--format=zip", commit, *PACKAGES]
    archive = subprocess.run(command, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip(f"the history does not go back to {commit}: {archive.stderr.decode()}")
    tree = directory / "earlier"
    with ZipFile(BytesIO(archive.stdout)) as archived:
        archived.extractall(tree)
    return tree


@pytest.fixture
def region(tmp_path: Path) -> Iterator[MixedRegion]:
    region = MixedRegion(tmp_path)
    yield region
    for node in region.nodes:
        node.end(signal.SIGKILL)


def test_a_region_is_rolled_to_this_release_and_back(region: MixedRegion, tmp_path: Path) -> None:
    earlier = earlier_release(NODES_FROM, tmp_path)
    region.up(earlier)
    create_topic(region.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    region.wait_in_sync(TOPIC)
    ledger = Ledger(region.bootstrap, TOPIC, PARTITIONS, pause_s=0.002)
    admin = Administrator(region.bootstrap)
    ledger.start()
    admin.start()
    steps = [(node, tree) for tree in (ROOT, earlier) for node in region.nodes]
    for step, (node, tree) in enumerate(steps):
        node.end()
        node.start(tree)
        node.wait_ready()
        region.wait_in_sync(TOPIC)
        put_a_document(region.active(), f"step-{step}")
        for each in region.nodes:
            administer(region, each, f"step-{step}-{each.id}")
        ledger.wait_for(len(ledger.acknowledged) + 200)
        admin.wait_for_more(1)
    admin.close()
    ledger.close()
    assert {error.name() for error in admin.errors if error.code() not in PASSING} == set()
    check_same(region, ledger)


class Linked:
    """A region of one node, of a release; its commands are those of its release."""

    def __init__(self, directory: Path, tree: Path) -> None:
        directory.mkdir()
        self.tree = tree
        settings = {
            "node.id": 1,
            "log.dirs": str(directory / "data"),
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "admin.listener": f"127.0.0.1:{free_port()}",
            "link.listener": f"127.0.0.1:{free_port()}",
        }
        config = directory / "node.toml"
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        config.write_text("".join(lines))
        with (directory / "log").open("w") as log:
            self._process = subprocess.Popen(
                self._command("node", "run", "--config", str(config)),
                env=environment(tree),
                cwd=tree,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, (directory / "log").read_text()
        self.address = str(json.loads(line)["kafka"])

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-P", "-m", "federation", *arguments]

    def run(self, *arguments: str) -> Any:
        done = subprocess.run(
            [*self._command(*arguments), "--bootstrap-server", self.address, "--json"],
            env=environment(self.tree),
            cwd=self.tree,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout} {done.stderr}"
        return json.loads(done.stdout)

    def held(self, topic: str) -> dict[int, int]:
        lags = self.run("mirror", "describe", topic)["mirror_lags"]
        return {each["partition"]: each["local_log_end_offset"] for each in lags}

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(TIMEOUT_S)


@pytest.mark.parametrize("source_is_earlier", [True, False], ids=["to-this", "to-the-earlier"])
def test_regions_of_two_releases_are_linked(tmp_path: Path, source_is_earlier: bool) -> None:
    earlier = earlier_release(LINKS_FROM, tmp_path)
    trees = (earlier, ROOT) if source_is_earlier else (ROOT, earlier)
    source, mirror = (
        Linked(tmp_path / name, tree)
        for name, tree in zip(("source", "mirror"), trees, strict=True)
    )
    try:
        create_topic(source.address, TOPIC, PARTITIONS)
        ledger = Ledger(source.address, TOPIC, PARTITIONS, pause_s=0.002)
        ledger.start()
        mirror.run("link", "create", "link", "--source-bootstrap-server", source.address)
        mirror.run("mirror", "create", TOPIC, "--link", "link")
        ledger.wait_for(RECORDS)
        ledger.close()
        written = read_all(source.address, TOPIC, PARTITIONS)
        ends = {
            each: 1 + max(offset for partition, offset in written if partition == each)
            for each in range(PARTITIONS)
        }
        until(lambda: mirror.held(TOPIC) == ends, TIMEOUT_S, lambda: mirror.held(TOPIC))
        mirror.run("mirror", "promote", TOPIC)
        check(ledger, read_all(mirror.address, TOPIC, PARTITIONS))
    finally:
        source.kill()
        mirror.kill()
