"""Two regions of three nodes change places again and again, with a stock producer that follows and nodes that die."""

import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.commands import causeway
from tests.process.followers import ConfluentFollower
from tests.process.ledger import create_topic, read_all
from tests.process.members import Members
from tests.process.test_link import ends
from tests.process.test_linked_regions import (
    LINK,
    NODES,
    PARTITIONS,
    TIMEOUT_S,
    TOPIC,
    LinkedRegions,
    segments,
)

SWAPS = 4


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    create_topic(both.west.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    both.west.wait_in_sync(TOPIC, PARTITIONS)
    for here, there in ((both.east, both.west), (both.west, both.east)):
        at(here, "link", "create", LINK, "--remote-bootstrap-server", there.bootstrap)
    at(both.east, "mirror", "create", TOPIC, "--link", LINK)
    both.east.wait_in_sync(TOPIC, PARTITIONS)
    yield both
    both.down()


def at(region: Members, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", region.bootstrap, timeout=2 * TIMEOUT_S)


def status(region: Members) -> str:
    return str(at(region, "mirror", "describe", TOPIC)["mirror_status"])


def check_lineage(regions: LinkedRegions) -> None:
    """Each region wrote after each reversal, and both hold all of it."""
    servers = [
        argument
        for region in (regions.west, regions.east)
        for argument in ("--bootstrap-server", region.bootstrap)
    ]
    told = causeway("lineage", TOPIC, *servers, "--partition", "0", timeout=TIMEOUT_S)
    west, east = (each["cluster_id"] for each in told["regions"])
    (root,) = told["partitions"]
    writers = [each["writer"] for each in root["ranges"]]
    assert writers == [east if number % 2 else west for number in range(SWAPS + 1)]
    assert set(root["regions"]) == {west, east}


def test_the_producer_follows_four_reversals_and_no_record_is_lost_or_doubled(
    regions: LinkedRegions, rng: random.Random
) -> None:
    both = (regions.west.bootstrap, regions.east.bootstrap)
    follower = ConfluentFollower(both, TOPIC, PARTITIONS)
    follower.start()
    topic, mirror = regions.west, regions.east
    for swap in range(SWAPS):
        follower.wait_for(100)
        # Not of the region that is written to: a producer that does not know whether a batch is stored, and is refused
        # then, can only send it again.
        victim = mirror if swap % 2 else None
        if victim is not None:
            victim.end(victim.leader(TOPIC, rng.randrange(PARTITIONS)), signal.SIGKILL)
        (asked,) = at(mirror, "mirror", "reverse-and-start", TOPIC)["topics"]
        assert asked["mirror_status"] == "STOPPED", asked
        former = topic
        regions.wait_until(lambda former=former: status(former) == "ACTIVE")  # type: ignore[misc]
        follower.wait_for(100)
        if victim is not None:
            victim.up()
            victim.wait_in_sync(TOPIC, PARTITIONS)
        topic, mirror = mirror, topic
    follower.close()
    check_lineage(regions)
    found = read_all(topic.bootstrap, TOPIC, PARTITIONS)
    for number, where in follower.acknowledged.items():
        assert found.get(where) == number, (number, where)
    wanted = ends(found)
    regions.wait_until(
        lambda: (
            {
                one["partition"]: one["local_log_end_offset"]
                for one in at(mirror, "mirror", "describe", TOPIC)["mirror_lags"]
            }
            == wanted
        )
    )
    assert [number for number, count in Counter(found.values()).items() if count > 1] == []
    for region in (topic, mirror):
        region.wait_in_sync(TOPIC, PARTITIONS)
    regions.down()
    for partition in range(PARTITIONS):
        first, *others = segments(regions.west, partition) + segments(regions.east, partition)
        assert all(other == first for other in others)
    regions.up()
