"""The way back, with real processes: a frozen region returns with records that nobody took over, and loses none."""

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.commands import causeway
from tests.process.ledger import Ledger, create_topic, read_all
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

BACK = "east-west"
# What is under way while west is frozen becomes orphans, each of which is shown several times.
SLOWLY: dict[str, Any] = {"in_flight_max": 500, "pause_s": 0.002}
EVERY_CLASS = [f"--class={each}" for each in ("unique", "resent", "present")]


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    both.link(source_dials=False)
    # So that its producer goes on, as one does that the link does not reach.
    both.run("link", "configs", LINK, "--config", "source.fencing.enable=false")
    yield both
    both.down()


def at_west(regions: LinkedRegions, *arguments: str) -> Any:
    return causeway(*arguments, "--bootstrap-server", regions.west.bootstrap, timeout=TIMEOUT_S)


def fail_over_under_load(regions: LinkedRegions) -> Ledger:
    """West is frozen, east takes over; then west returns, and its producer goes on there. -> what west acknowledged"""
    ledger = Ledger(regions.west.bootstrap, TOPIC, PARTITIONS, **SLOWLY)
    ledger.start()
    ledger.wait_for(500)
    for node in regions.west.ids:
        regions.west.signal(node, signal.SIGSTOP)
    regions.run("mirror", "failover", TOPIC)
    for node in regions.west.ids:
        regions.west.signal(node, signal.SIGCONT)
    ledger.wait_for(len(ledger.acknowledged) + 1_000)
    ledger.close()
    return ledger


def orphans(regions: LinkedRegions) -> dict[tuple[int, int], int]:
    """What the sealed tails hold: (partition, offset) -> number."""
    found = {}
    for tail in at_west(regions, "orphans", "list")["orphans"]:
        shown = at_west(regions, "orphans", "show", tail["name"], "--limit", "1000000")
        assert len(shown["records"]) == tail["records"]
        for record in shown["records"]:
            found[tail["partition"], record["offset"]] = int(record["value"])
    return found


@pytest.mark.timeout(600)
def test_what_a_region_acknowledged_after_it_was_failed_over_is_kept_and_replayed_once(
    regions: LinkedRegions, rng: random.Random
) -> None:
    ledger = fail_over_under_load(regions)
    successor = Ledger(regions.east.bootstrap, TOPIC, PARTITIONS, **SLOWLY)
    successor.start()
    successor.wait_for(300)
    source = ("--source-bootstrap-server", regions.east.bootstrap)
    at_west(regions, "link", "create", BACK, *source)
    at_west(regions, "mirror", "truncate-and-restore", TOPIC, "--link", BACK, "--no-wait")
    killed = regions.west.leader(TOPIC, rng.randrange(PARTITIONS))
    regions.west.end(killed, signal.SIGKILL)
    regions.west.up()
    regions.wait_until(
        lambda: at_west(regions, "mirror", "describe", TOPIC)["mirror_status"] == "ACTIVE"
    )
    regions.west.wait_in_sync(TOPIC, PARTITIONS)
    successor.wait_for(len(successor.acknowledged) + 300)
    successor.close()
    sealed = orphans(regions)
    _check_held(regions, ledger, sealed)
    _check_lost(regions, sealed)
    _check_equal(regions)
    _check_replay(regions, sealed, rng)


Sealed = dict[tuple[int, int], int]


def _check_held(regions: LinkedRegions, ledger: Ledger, sealed: Sealed) -> None:
    """Each record is where it was acknowledged, or in the orphan store."""
    held = read_all(regions.east.bootstrap, TOPIC, PARTITIONS)
    assert len(sealed) >= 1_000
    for number, where in ledger.acknowledged.items():
        assert number in (held.get(where), sealed.get(where)), (number, where)
    regions.wait_until(
        lambda: ends(read_all(regions.west.bootstrap, TOPIC, PARTITIONS)) == ends(held)
    )


def _check_lost(regions: LinkedRegions, sealed: Sealed) -> None:
    """The region that took over lists exactly what lies in the orphan store of the other."""
    found = regions.run("mirror", "lost", TOPIC, "--limit", "1000000")
    assert found["is_exact"]
    listed = {(one["partition"], one["offset"]): int(one["value"]) for one in found["records"]}
    assert listed == sealed and len(listed) == found["lost_records"]


def _check_equal(regions: LinkedRegions) -> None:
    regions.west.wait_in_sync(TOPIC, PARTITIONS)
    regions.down()
    for partition in range(PARTITIONS):
        first, *others = segments(regions.east, partition) + segments(regions.west, partition)
        assert all(other == first for other in others)
    regions.up()


def _check_replay(regions: LinkedRegions, sealed: Sealed, rng: random.Random) -> None:
    """A replay that is killed and repeated appends each record once."""
    create_topic(regions.east.bootstrap, "replayed", PARTITIONS, replicas=NODES)
    tails = at_west(regions, "orphans", "list")["orphans"]
    names = [tail["name"] for tail in tails]
    command = [
        "orphans", "replay", *names, "--to", regions.east.bootstrap, "--to-topic", "replayed",
        *EVERY_CLASS,
    ]  # fmt: skip
    _kill_soon(rng, *command, "--bootstrap-server", regions.west.bootstrap)
    at_west(regions, *command)
    again = at_west(regions, *command)
    assert [one["appended"] for one in again["replayed"]] == [0] * len(names)
    appended = Counter(read_all(regions.east.bootstrap, "replayed", PARTITIONS).values())
    assert appended == Counter(sealed.values())
    gone = at_west(regions, "orphans", "discard", *names, "--yes")["discarded"]
    assert gone == {tail["name"]: tail["brokers"] for tail in tails}
    # The one that was killed was perhaps not in sync when the tails were sealed.
    assert all(len(brokers) >= NODES - 1 for brokers in gone.values())
    assert at_west(regions, "orphans", "list")["orphans"] == []


def _kill_soon(rng: random.Random, *arguments: str) -> None:
    replay = subprocess.Popen(
        [sys.executable, "-m", "federation", *arguments, "--json"], stdout=subprocess.PIPE
    )
    try:
        out, _ = replay.communicate(timeout=rng.uniform(0.3, 1.5))
        assert json.loads(out)["replayed"], "it was quicker"
    except subprocess.TimeoutExpired:
        replay.kill()
        replay.wait()
