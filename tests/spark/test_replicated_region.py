"""A region of three nodes that went through kills and moves of leaders, audited against a copy: live, and stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.spark.generate import flipped, middle_batch

pytestmark = [pytest.mark.process, pytest.mark.timeout(300)]
PARTITIONS, RECORDS = 4, 3_000


def causeway(*arguments: str, allowed: tuple[int, ...] = (0,)) -> Any:
    command = [sys.executable, "-m", "federation", *arguments, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode in allowed, (arguments, ran.returncode, ran.stdout, ran.stderr)
    return json.loads(ran.stdout)


class Region:
    """Three nodes, one topic on all of them, and an idempotent producer that goes on while nodes are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.up("--nodes", "3")
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        admin.create_topics([NewTopic("orders", PARTITIONS, 3)])["orders"].result()

    def up(self, *options: str) -> None:
        said = causeway("local", "up", "--dir", str(self.folder), "--region", "west", *options)
        (self.region,) = said["regions"]

    @property
    def bootstrap(self) -> str:
        return str(self.region["bootstrap"])

    @property
    def data(self) -> list[str]:
        return [str(node["data"]) for node in self.region["nodes"]]

    def produce(self, kill: int | None = None) -> None:
        settings = {"bootstrap.servers": self.bootstrap, "enable.idempotence": True}
        producer = Producer({**settings, "linger.ms": 2, "compression.type": "lz4"})
        for number in range(RECORDS):
            producer.produce("orders", key=b"%d" % (number % 40), value=b"order %d" % number * 9)
            if number == RECORDS // 2 and kill is not None:
                producer.poll(0.1)
                os.kill(self.region["nodes"][kill]["pid"], signal.SIGKILL)
        assert producer.flush(60) == 0

    def audit(self, copy: list[str], *options: str, data: list[str] | None = None) -> Any:
        """`data` are the source's directories; what is in sync elsewhere is fetched."""
        sides = [f"--source-dir={path}" for path in (self.data if data is None else data)]
        sides += [f"--mirror-dir={path}" for path in copy]
        where = ["--engine", "local", "--topic", "orders"]
        where += ["--out", str(self.folder / "report"), "--overwrite"]
        return causeway("audit", "run", *sides, *where, *options, allowed=(0, 1, 3, 5))


def copied(data: list[str], folder: Path) -> list[str]:
    """The directories of another cluster that holds the same."""
    copies = []
    for number, path in enumerate(data):
        copy = folder / f"copy-{number}"
        shutil.copytree(path, copy)
        meta = copy / "meta.properties"
        lines = meta.read_text().splitlines()
        changed = [
            f"{line}x" if line.startswith(("cluster.id=", "directory.id=")) else line
            for line in lines
        ]
        meta.write_text("\n".join(changed) + "\n")
        copies.append(str(copy))
    return copies


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    folder = tmp_path_factory.mktemp("replicated")
    region = Region(folder)
    try:
        for victim in (None, 0, 1, 2):
            region.produce(kill=victim)
            region.up()
        yield region
    finally:
        causeway("local", "down", "--dir", str(folder), allowed=(0, 1))


def when_in_sync(region: Region) -> None:
    """Waits until the region says that every replica of `orders` is in sync: only then is a copy one of all records."""
    give_up = time.monotonic() + 60
    while True:
        facts = causeway("audit", "facts", "--bootstrap-server", region.bootstrap)
        (orders,) = [topic for topic in facts["topics"] if topic["name"] == "orders"]
        if all(len(one["isr"]) == 3 for one in orders["partitions"]):
            return
        assert time.monotonic() < give_up, orders
        time.sleep(0.2)


def a_follower_is_fetched(region: Region, copy: list[str], live: Any) -> None:
    """Every replica is read from its own broker: damage in one of three is found there, and only there."""
    for data in ([], region.data[:1]):
        said = region.audit(copy, "--source-bootstrap", region.bootstrap, data=data)
        assert said["verdict"] == "kept", (said["findings"], said["sections"])
        assert said["totals"]["source_bytes"] == live["totals"]["source_bytes"]
    path = sorted(Path(region.data[1], "orders-2").glob("*.log"))[0]
    whole = path.read_bytes()
    start, end = middle_batch(whole)
    # A record's bytes are read and differ; behind a length that can't be true nothing is.
    for byte, kind in ((end - 1, "replica_divergent"), (start + 8, "unreadable")):
        with path.open("r+b") as file:  # in place: the node has the file open
            file.write(flipped(whole, byte))
        said = region.audit(copy, "--source-bootstrap", region.bootstrap, data=[])
        with path.open("r+b") as file:
            file.write(whole)
        found = {(one["class"], one["replica"]) for one in said["findings"]}
        assert found == {(kind, "source node 2")}


def test_kills_and_moves_of_leaders_leave_nothing_that_an_audit_objects_to(
    region: Region, tmp_path: Path
) -> None:
    when_in_sync(region)
    copy = copied(region.data, tmp_path)
    live = region.audit(copy, "--source-bootstrap", region.bootstrap)
    assert live["verdict"] == "kept", (live["findings"], live["sections"])
    a_follower_is_fetched(region, copy, live)
    causeway("local", "down", "--dir", str(region.folder))
    stopped = copied(region.data, tmp_path / "stopped")
    # Orderly stops leave the last leader in sync; the others owe what they know to be committed.
    for replicas in ("in-sync", "all"):
        said = region.audit(stopped, "--replicas", replicas)
        assert said["verdict"] == "kept", (said["findings"][:2], said["sections"])
    assert said["totals"]["records"] == 4 * RECORDS
    judged = {one["promise"] for one in said["judged"]}
    assert {"P2", "P10", "P11"} <= judged
    path = sorted(Path(stopped[1], "orders-2").glob("*.log"))[0]
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, middle_batch(whole)[1] - 1))
    broken = region.audit(stopped[::-1], "--replicas", "all")
    assert broken["verdict"] == "broken"
    assert {one["class"] for one in broken["findings"]} == {"replica_divergent"}
    assert {one["replica"] for one in broken["findings"]} == {"mirror node 2"}
