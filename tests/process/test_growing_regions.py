"""Both regions of a link get a node, move what the link copies to it, and give up a node that had it and voted.

About a minute, whoever dials.
"""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.commands import causeway, run
from tests.process.ledger import check, read_all
from tests.process.members import Members
from tests.process.storm import check_equal
from tests.process.test_link import ends
from tests.process.test_linked_regions import (
    NODES,
    PARTITIONS,
    TIMEOUT_S,
    TOPIC,
    LinkedRegions,
    numbering,
)

LATER, LEAVING = NODES + 1, 1
STAYING = [LATER, *(node for node in range(1, NODES + 1) if node != LEAVING)]

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.fixture(params=["destination", "source"])
def regions(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    both.link(source_dials=request.param == "source")
    yield both
    both.down()


def at(region: Members, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", region.bootstrap, timeout=TIMEOUT_S)


def status(regions: LinkedRegions) -> Any:
    return regions.run("mirror", "describe", TOPIC)["mirror_status"]


def move(region: Members, plan: Path) -> None:
    """Every partition of the topic to the node that came later, which leads it then."""
    wanted = [
        {"topic": TOPIC, "partition": partition, "replicas": STAYING}
        for partition in range(PARTITIONS)
    ]
    plan.write_text(json.dumps({"version": 1, "partitions": wanted}))
    at(region, "region", "reassign", "execute", "--reassignment-json-file", str(plan))
    while set(region.replicas(TOPIC)) != set(STAYING):
        pass
    region.wait_in_sync(TOPIC, PARTITIONS)
    at(region, "region", "elect", "--election-type", "preferred", "--topic", TOPIC)
    for partition in range(PARTITIONS):
        while region.leader(TOPIC, partition) != LATER:
            pass


def give_up(region: Members, node: int) -> None:
    """For good: it votes no more, and nobody waits for it."""
    region.end(node, signal.SIGTERM)
    remove_voter(region, node)
    at(region, "region", "unregister", str(node))


def remove_voter(region: Members, node: int) -> None:
    """Two are left, of which none may be lost. If it led the quorum, the next leader refuses at first (KIP-853)."""
    command = ["region", "voters", "remove", str(node), "--force"]
    command += ["--bootstrap-server", region.bootstrap]
    while (done := run(*command, timeout=TIMEOUT_S)).returncode:
        assert "try again" in done.stderr, done


def brokers(region: Members) -> list[int]:
    return sorted(one["id"] for one in at(region, "region", "brokers")["brokers"])


def test_the_link_follows_what_it_copies_to_nodes_that_come_and_from_nodes_that_go(
    regions: LinkedRegions, tmp_path: Path
) -> None:
    ledger = numbering(regions.west)
    for region in (regions.west, regions.east):
        region.grow(LATER)
        move(region, tmp_path / "plan.json")
        give_up(region, LEAVING)
        ledger.wait_for(len(ledger.acknowledged) + 500)
    ledger.close()
    found = read_all(regions.west.bootstrap, TOPIC, PARTITIONS)
    check(ledger, found)
    regions.wait_caught_up(ends(found))
    assert brokers(regions.west) == brokers(regions.east) == sorted(STAYING)
    regions.run("mirror", "promote", TOPIC)
    regions.wait_until(lambda: status(regions) == "STOPPED")
    regions.down()
    for partition in range(PARTITIONS):
        check_equal(
            region.data(node) / f"{TOPIC}-{partition}"
            for region in (regions.west, regions.east)
            for node in STAYING
        )
