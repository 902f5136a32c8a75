"""The way back, with real processes: a frozen region returns with records that nobody took over, and loses none."""

import json
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.peer import jars
from tests.process.commands import CAUSEWAY, causeway
from tests.process.ledger import Ledger, create_topic, read_all
from tests.process.sealed_tails import (
    SealedTail,
    check_exports,
    check_replayed,
    cluster_id,
    sealed_tails,
)
from tests.process.stopped_logs import check_by_kafka, check_same
from tests.process.test_link import ends
from tests.process.test_linked_regions import (
    LINK,
    NODES,
    PARTITIONS,
    TIMEOUT_S,
    TOPIC,
    LinkedRegions,
)

BACK = "east-west"
# What is under way while west is frozen becomes orphans, each of which is shown several times.
SLOWLY: dict[str, Any] = {"in_flight_max": 200, "pause_s": 0.002}
# The tail, and what is before and after it, take several segments each, with some index entries in each.
SMALL_SEGMENTS = {"internal_segment_bytes": "3000", "index_interval_bytes": "500"}
EVERY_CLASS = [f"--class={each}" for each in ("unique", "resent", "present")]


@pytest.fixture
def regions(tmp_path: Path) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    both.link(source_dials=False, **SMALL_SEGMENTS)
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
    ledger.wait_for(700)
    for node in regions.west.ids:
        regions.west.signal(node, signal.SIGSTOP)
    regions.run("mirror", "failover", TOPIC)
    for node in regions.west.ids:
        regions.west.signal(node, signal.SIGCONT)
    ledger.wait_for(len(ledger.acknowledged) + 1_000)
    ledger.close()
    return ledger


@pytest.mark.timeout(600)
def test_what_a_region_acknowledged_after_it_was_failed_over_is_kept_and_replayed_once(
    regions: LinkedRegions, rng: random.Random, tmp_path: Path, subtests: pytest.Subtests
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
    _wait_caught_up(regions)
    tails = sealed_tails(regions.west.bootstrap)
    sealed = {
        (tail.partition, record["offset"]): int(record["value"])
        for tail in tails
        for record in tail.records
    }
    _check_held(regions, ledger, sealed)
    _check_lost(regions, sealed)
    check_exports(regions.west.bootstrap, tails, tmp_path)
    _check_lineage(regions)
    _check_equal(regions, subtests)
    _check_replay_beside(regions, tails)
    _check_replay_into_the_topic(regions, tails, rng)
    _check_discard(regions, tails)


Sealed = dict[tuple[int, int], int]


def _wait_caught_up(regions: LinkedRegions) -> None:
    wanted = ends(read_all(regions.east.bootstrap, TOPIC, PARTITIONS))
    regions.wait_until(lambda: ends(read_all(regions.west.bootstrap, TOPIC, PARTITIONS)) == wanted)


def _check_held(regions: LinkedRegions, ledger: Ledger, sealed: Sealed) -> None:
    """Each record is where it was acknowledged, or in the orphan store."""
    held = read_all(regions.east.bootstrap, TOPIC, PARTITIONS)
    assert len(sealed) >= 1_000
    for number, where in ledger.acknowledged.items():
        assert number in (held.get(where), sealed.get(where)), (number, where)


def _check_lost(regions: LinkedRegions, sealed: Sealed) -> None:
    """The region that took over lists exactly what lies in the orphan store of the other."""
    found = regions.run("mirror", "lost", TOPIC, "--limit", "1000000")
    assert found["is_exact"]
    listed = {(one["partition"], one["offset"]): int(one["value"]) for one in found["records"]}
    assert listed == sealed and len(listed) == found["lost_records"]


def _check_lineage(regions: LinkedRegions) -> None:
    """As text: west wrote up to the cut, then east, and both hold all of it."""
    servers = [regions.west.bootstrap, regions.east.bootstrap]
    asked = [part for each in servers for part in ("--bootstrap-server", each)]
    done = subprocess.run(
        [CAUSEWAY, "lineage", TOPIC, *asked, "--partition", "1"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    west, east = map(cluster_id, servers)
    taken = regions.run("mirror", "describe", TOPIC)
    cut, generation = taken["cut"]["partitions"][1]["offset"], taken["generation"]
    first, before, after, held = (line.strip("│├└─ ") for line in done.stdout.splitlines())
    assert first == f"{TOPIC}-1"
    assert before.startswith(f"[0, {cut}) written in {west}, leader epoch")
    assert after.startswith(f"[{cut}, ") and f") written in {east}, leader epoch" in after
    assert ", since failover 2" in after and after.endswith(f" (generation {generation})")
    assert held.startswith("held by ") and f"{west} (mirror, ACTIVE)" in held and east in held


def _check_equal(regions: LinkedRegions, subtests: pytest.Subtests) -> None:
    """Segments, leader epochs, digests and indexes of all six replicas."""
    cut = regions.run("mirror", "describe", TOPIC)["cut"]["partitions"]
    regions.west.wait_in_sync(TOPIC, PARTITIONS)
    regions.down()
    replicas = [
        [
            region.data(node) / f"{TOPIC}-{partition}"
            for region in (regions.east, regions.west)
            for node in region.ids
        ]
        for partition in range(PARTITIONS)
    ]
    for folders, one in zip(replicas, cut, strict=True):
        bases = check_same(folders, one["offset"])
        assert bases[1] < one["offset"] < bases[-2], "no sealed segments on both sides of the cut"
    with subtests.test("what Kafka's log tool says"):
        try:
            jars.fetch()
        except jars.Unavailable as reason:
            pytest.skip(str(reason))
        check_by_kafka([folder for folders in replicas for folder in folders])
    regions.up()


def _replay(regions: LinkedRegions, tails: list[SealedTail], topic: str) -> tuple[str, ...]:
    """The command, for all of their records."""
    names = (tail.name for tail in tails)
    to = ("--to", regions.east.bootstrap, "--to-topic", topic)
    return "orphans", "replay", *names, *to, *EVERY_CLASS


def _appended(regions: LinkedRegions, command: tuple[str, ...]) -> int:
    return sum(one["appended"] for one in at_west(regions, *command)["replayed"])


def _check_replay_beside(regions: LinkedRegions, tails: list[SealedTail]) -> None:
    """The leader of the topic that it appends to dies once it has the first records: the replay goes on."""
    create_topic(regions.east.bootstrap, "replayed", PARTITIONS, replicas=NODES)
    regions.east.wait_in_sync("replayed", PARTITIONS)
    first = tails[0].partition
    leader = regions.east.leader("replayed", first)
    log = regions.east.data(leader) / f"replayed-{first}" / f"{0:020}.log"
    command = _replay(regions, tails, "replayed")
    replay = _begin(regions, command)
    regions.wait_until(lambda: log.stat().st_size > 0)
    regions.east.end(leader, signal.SIGKILL)
    assert replay.poll() is None, "it was quicker"
    out, _ = replay.communicate(timeout=TIMEOUT_S)
    appended = [one["appended"] for one in json.loads(out)["replayed"]]
    assert appended == [len(tail.records) for tail in tails]
    assert _appended(regions, command) == 0
    check_replayed(regions.west.bootstrap, regions.east.bootstrap, "replayed", tails)


def _check_replay_into_the_topic(
    regions: LinkedRegions, tails: list[SealedTail], rng: random.Random
) -> None:
    """A replay that is killed and repeated appends each record once."""
    # Its batches are larger than those segments, and a topic takes none that is.
    regions.run("topic", "alter", TOPIC, "--delete-config", "internal.segment.bytes")
    command = _replay(regions, tails, TOPIC)
    replay = _begin(regions, command)
    try:
        out, _ = replay.communicate(timeout=rng.uniform(0.3, 1.5))
        assert json.loads(out)["replayed"], "it was quicker"
    except subprocess.TimeoutExpired:
        replay.kill()
        replay.wait()
    _appended(regions, command)
    assert _appended(regions, command) == 0
    check_replayed(regions.west.bootstrap, regions.east.bootstrap, TOPIC, tails)


def _begin(regions: LinkedRegions, command: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    asked = ("--bootstrap-server", regions.west.bootstrap, "--json")
    return subprocess.Popen([CAUSEWAY, *command, *asked], stdout=subprocess.PIPE)


def _check_discard(regions: LinkedRegions, tails: list[SealedTail]) -> None:
    names = [tail.name for tail in tails]
    gone = at_west(regions, "orphans", "discard", *names, "--yes")["discarded"]
    assert gone == {tail.name: tail.described["brokers"] for tail in tails}
    # The one that was killed was perhaps not in sync when the tails were sealed.
    assert all(len(brokers) >= NODES - 1 for brokers in gone.values())
    assert at_west(regions, "orphans", "list")["orphans"] == []
