"""Two real regions with a link between them: audited live, damaged, killed and failed over."""

import json
import os
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
TIMEOUT_S = 60
RECORDS = 20_000
ACKNOWLEDGED = RECORDS + 5 * 500 + 5_000
"""All that the tests below produce to west, in this order."""


def causeway(*arguments: str, allowed: tuple[int, ...] = (0,)) -> Any:
    """The JSON that a command answers with."""
    command = [sys.executable, "-m", "federation", *arguments, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode in allowed, (arguments, ran.returncode, ran.stdout, ran.stderr)
    return json.loads(ran.stdout)


class Regions:
    """west, east and the link from west to east, with a mirror of `flights`."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        up = causeway("local", "up", "--dir", self.folder, "--region", "west", "--region", "east")
        self.regions = {region["name"]: region for region in up["regions"]}
        self.at_east = ("--dir", self.folder, "--region", "east")

    def mirror(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.regions["west"]["bootstrap"]})
        admin.create_topics([NewTopic("flights", 3, 1)])["flights"].result()
        west = self.regions["west"]["bootstrap"]
        causeway("link", "create", "west-east", "--source-bootstrap-server", west, *self.at_east)
        causeway("mirror", "create", "flights", "--link", "west-east", *self.at_east)

    def produce(self, region: str, codec: str, count: int = RECORDS) -> None:
        address = self.regions[region]["bootstrap"]
        producer = Producer(
            {"bootstrap.servers": address, "compression.type": codec, "linger.ms": 5}
        )
        for number in range(count):
            producer.produce("flights", key=b"%d" % (number % 50), value=b"flight %d" % number)
        assert producer.flush(TIMEOUT_S) == 0

    def audit(self, *arguments: str) -> Any:
        sides = ["--dir", self.folder, "--source", "west", "--mirror", "east", "--engine", "local"]
        output = ["--out", f"{self.folder}/report", "--overwrite"]
        return causeway("audit", "run", *sides, *output, *arguments, allowed=(0, 1, 3, 5))

    def audit_by_fetch(self, *arguments: str) -> Any:
        """An audit that sees no directory of either region."""
        sides = [
            f"--{side}-bootstrap={self.regions[name]['bootstrap']}"
            for side, name in (("source", "west"), ("mirror", "east"))
        ]
        where = ["--topic", "flights", "--out", f"{self.folder}/fetched", "--overwrite"]
        return causeway("audit", "run", *sides, *where, *arguments, allowed=(0, 1, 3, 4, 5))

    def audit_when_even(self, *arguments: str) -> Any:
        """An audit of a mirror that has caught up."""
        give_up = time.monotonic() + TIMEOUT_S
        while True:
            said = self.audit(*arguments)
            if said["totals"]["lag_records"] == 0 or said["verdict"] != "kept":
                return said
            assert time.monotonic() < give_up, said
            time.sleep(0.2)

    def facts(self, *where: str) -> Any:
        path = f"{self.folder}/facts.json"
        command = [sys.executable, "-m", "federation", "audit", "facts", *where, "--output", path]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(Path(path).read_text())

    def segment(self, region: str, partition: int) -> Path:
        data = self.regions[region]["nodes"][0]["data"]
        return sorted(Path(data, f"flights-{partition}").glob("*.log"))[0]


@pytest.fixture(scope="module")
def regions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Regions]:
    folder = tmp_path_factory.mktemp("federation")
    regions = Regions(folder)
    try:
        regions.mirror()
        for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
            regions.produce("west", codec, RECORDS // 5)
        yield regions
    finally:
        causeway("local", "down", "--dir", str(folder), allowed=(0, 1))


def test_a_live_mirror_is_kept_by_what_the_regions_list(regions: Regions) -> None:
    said = regions.audit_when_even()
    assert (said["verdict"], said["exit_code"]) == ("kept", 0)
    assert said["totals"]["records"] == said["totals"]["offsets"] == RECORDS
    for side in ("source", "mirror"):
        assert said["cut"][side]["ends_from"] == "listed"
    assert {row["source_coverage"] for row in said["partitions"]} == {1.0}


def test_without_directories_the_same_is_read_from_the_brokers(regions: Regions) -> None:
    by_file = regions.audit_when_even()
    said = regions.audit_by_fetch("--engine", "local")
    assert said["verdict"] == "kept", said
    for name in ("compared_to", "records", "source_digest", "mirror_digest"):
        assert [row[name] for row in said["partitions"]] == [
            row[name] for row in by_file["partitions"]
        ]
    verdicts = {one["name"]: one["verdict"] for one in said["sections"]}
    assert verdicts == {
        "leader epochs": "unknown",  # files that Fetch does not carry
        "producer snapshots": "unknown",
        "group offsets": "kept",
        "partitions and configurations": "kept",
        "record counts": "kept",
    }
    assert "P10" not in {one["promise"] for one in said["judged"]}


def test_audits_while_records_arrive_never_see_a_fault(regions: Regions) -> None:
    for _ in range(5):
        regions.produce("west", "lz4", 500)
        said = regions.audit()
        assert said["verdict"] == "kept", said["findings"]


def test_one_flipped_bit_in_a_live_mirror_is_found_where_it_is(regions: Regions) -> None:
    path = regions.segment("east", 1)
    whole = path.read_bytes()
    with path.open("r+b") as file:  # in place: the region has the file open
        file.write(flipped(whole, middle_batch(whole)[1] - 1))
    try:
        found = [regions.audit_when_even(), regions.audit_by_fetch("--master", "local[2]")]
    finally:
        with path.open("r+b") as file:
            file.write(whole)
    for said in found:
        assert said["exit_code"] == 1
        faults = [one for one in said["findings"] if one["severity"] == "fault"]
        assert [(one["partition"], one["class"], one["side"]) for one in faults] == [
            (1, "damaged", "mirror")
        ]
    assert regions.audit_when_even()["verdict"] == "kept"


def test_a_killed_source_is_audited_from_what_it_left(regions: Regions) -> None:
    regions.produce("west", "none", 5_000)
    os.kill(regions.regions["west"]["nodes"][0]["pid"], signal.SIGKILL)
    said = regions.audit()
    assert said["verdict"] == "kept", said["findings"]
    assert said["cut"]["source"]["ends_from"] == "checkpoint"
    assert said["cut"]["source"]["because"]
    assert said["cut"]["mirror"]["ends_from"] == "listed"
    fetched = regions.audit_by_fetch("--engine", "local")
    assert "without its directories the region itself must answer" in fetched["hint"]


def test_after_a_failover_the_cut_says_how_far_the_promise_reached(regions: Regions) -> None:
    causeway("mirror", "failover", "flights", "--link", "west-east", *regions.at_east)
    give_up = time.monotonic() + TIMEOUT_S
    while "cut" not in (told := causeway("mirror", "describe", "flights", *regions.at_east)):
        assert time.monotonic() < give_up, told
        time.sleep(0.2)
    regions.produce("east", "zstd", 3_000)
    said = regions.audit()  # the region itself says where it was cut
    assert said["verdict"] == "kept", said["findings"]
    described = Path(regions.folder, "described.json")
    described.write_text(json.dumps(told))
    by_file = regions.audit("--cut", str(described), "--holes", str(described))
    assert by_file["partitions"] == said["partitions"]
    ends = {row["partition"]: row["offset"] for row in told["cut"]["partitions"]}
    assert {row["partition"]: row["compared_to"] for row in said["partitions"]} == ends
    # What was acknowledged and did not make it over, record by record, from the dead region's own files.
    orphans = sum(row["orphan_offsets"] for row in said["partitions"])
    assert sum(ends.values()) + orphans == ACKNOWLEDGED


def test_stopped_regions_are_audited_by_what_their_metadata_logs_hold(regions: Regions) -> None:
    east = regions.regions["east"]
    live = regions.facts("--bootstrap-server", east["bootstrap"])
    before = regions.audit()
    causeway("local", "down", "--dir", regions.folder, allowed=(0, 1))
    stopped = regions.facts("--data-dir", east["nodes"][0]["data"])
    assert stopped["mirrors"][0]["cut"] == live["mirrors"][0]["cut"] != []
    assert stopped["topics"] == live["topics"]
    said = regions.audit()
    assert said["verdict"] == "kept", said["findings"]
    for name in ("compared_to", "source_digest", "mirror_digest"):
        assert [row[name] for row in said["partitions"]] == [
            row[name] for row in before["partitions"]
        ]
