"""A compacted topic through a link, between two regions as a user starts them: cleaned on both sides, failed over,
restored, and audited.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from linker.config_values import SYNCED_BY_DEFAULT
from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.regions import TIMEOUT_S, Regions
from tests.process.test_compaction import checkpoint, produced, read, updates

TOPIC = "table"
SETTINGS = {
    "cleanup.policy": "compact",
    "internal.segment.bytes": "30000",
    "min.cleanable.dirty.ratio": "0.01",
}
SYNCED = (*SYNCED_BY_DEFAULT, "min.cleanable.dirty.ratio")
Table = dict[bytes, bytes | None]


class Node:
    """A region of one node, as the helpers of other tests want it."""

    def __init__(self, regions: Regions, name: str) -> None:
        self.address = regions.bootstrap(name)
        self.data = regions.data(name)


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[Regions]:
    both = Regions(tmp_path)
    both.up()
    yield both
    both.down()


def clean_soon(regions: Regions, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": regions.bootstrap(name)})
    soon = ConfigEntry("log.cleaner.backoff.ms", "100", incremental_operation=AlterConfigOpType.SET)
    every = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[soon])
    admin.incremental_alter_configs([every])[every].result(TIMEOUT_S)


def wait_until(is_so: Any) -> None:
    until(is_so, TIMEOUT_S, lambda: "it is not so")


def table(node: Any) -> Table:
    latest = {key: value for _, key, value in read(node, TOPIC) if key is not None}
    return {key: value for key, value in latest.items() if value is not None}


def expected(*written: list[tuple[bytes, bytes | None]]) -> Table:
    latest = dict(pair for each in written for pair in each)
    return {key: value for key, value in latest.items() if value is not None}


def audited(regions: Regions, source: str, mirror: str, output: Path) -> Any:
    """Of the directories, and by Fetch alone, which must come to the same."""
    how = ("--engine", "local", "--topic", TOPIC)
    found = causeway(
        "audit", "run", "--dir", str(regions._directory), "--source", source, "--mirror", mirror,
        *how, "--output", str(output), timeout=TIMEOUT_S,
    )  # fmt: skip
    fetched = causeway(
        "audit", "run",
        "--source-bootstrap", regions.bootstrap(source),
        "--mirror-bootstrap", regions.bootstrap(mirror),
        *how, "--output", f"{output}-fetched", timeout=TIMEOUT_S,
    )  # fmt: skip
    for name in (
        "verdict",
        "compared_from",
        "compared_to",
        "records",
        "source_digest",
        "mirror_digest",
    ):
        assert [row[name] for row in fetched["partitions"]] == [
            row[name] for row in found["partitions"]
        ]
    return found


@pytest.mark.timeout(400)
def test_a_compacted_topic_is_mirrored_failed_over_restored_and_audited(
    regions: Regions, rng: random.Random, tmp_path: Path
) -> None:
    west, east = Node(regions, "west"), Node(regions, "east")
    admin = AdminClient({"bootstrap.servers": west.address})
    admin.create_topics([NewTopic(TOPIC, 1, 1, config=SETTINGS)])[TOPIC].result(TIMEOUT_S)
    for name in ("west", "east"):
        clean_soon(regions, name)
    first = updates(rng, 600)
    produced(west, TOPIC, first)  # type: ignore[arg-type]
    wait_until(lambda: checkpoint(west, f"{TOPIC}-0") > 400)  # type: ignore[arg-type]
    regions.run(
        "link", "create", regions.LINK, *regions._east,
        "--source-bootstrap-server", west.address,
        "--config", "source.fencing.enable=false",
        "--config", "topic.config.sync.include=" + ",".join(SYNCED),
    )  # fmt: skip
    regions.run("mirror", "create", TOPIC, "--link", regions.LINK, *regions._east)
    second = updates(rng, 600)
    produced(west, TOPIC, second)  # type: ignore[arg-type]
    regions.wait_caught_up(TOPIC, {0: 1_200})
    wait_until(lambda: checkpoint(east, f"{TOPIC}-0") > 600)  # type: ignore[arg-type]
    assert table(east) == expected(first, second) == table(west)
    assert regions.mirror(TOPIC)["holes"] == []
    found = audited(regions, "west", "east", tmp_path / "before")
    assert found["verdict"] == "kept", found
    facts = regions.run("audit", "facts", "--bootstrap-server", west.address)
    (told,) = [one["partitions"][0] for one in facts["topics"] if one["name"] == TOPIC]
    assert told["complete_from"][0]["offset"] > 400

    # West goes on alone, and cleans beyond the cut.
    regions.run(
        "link", "configs", regions.LINK, "--config", "cluster.link.paused=true", *regions._east
    )
    orphans = updates(rng, 600)
    produced(west, TOPIC, orphans)  # type: ignore[arg-type]
    wait_until(lambda: checkpoint(west, f"{TOPIC}-0") > 1_300)  # type: ignore[arg-type]
    regions.stop_mirroring("failover", TOPIC)
    third = updates(rng, 100)
    produced(east, TOPIC, third)  # type: ignore[arg-type]
    back = ("--bootstrap-server", west.address)
    regions.run("link", "create", "east-west", *back, "--source-bootstrap-server", east.address)
    regions.run("mirror", "truncate-and-restore", TOPIC, "--link", "east-west", *back)
    wait_until(lambda: table(west) == expected(first, second, third))
    assert table(east) == expected(first, second, third)
    (tail,) = regions.run("orphans", "list", *back)["orphans"]
    assert 1_200 <= tail["base_offset"] < tail["next_offset"] == 1_800  # what compaction left of it
    assert tail["records"] < 500
    found = audited(regions, "east", "west", tmp_path / "after")
    assert found["verdict"] == "kept", found
