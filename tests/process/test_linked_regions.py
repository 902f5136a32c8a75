"""A link between two regions of three nodes, whose nodes are killed and frozen on both sides under stock clients."""

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.process.asking import until
from tests.process.commands import causeway
from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.members import Members
from tests.process.test_link import consume, ends, produce
from tests.process.waiting_reader import WaitingReader

NODES, PARTITIONS, TOPIC, LINK = 3, 2, "orders", "west-east"
FETCHERS = 3  # where the source dials
TIMEOUT_S = 120
ELECTION_S = 15  # at most, on a machine that is busy; an election takes about a second
SEGMENT_BYTES, RECORD_BYTES = 1 << 20, 2_000  # so that there are sealed segments
GROUPS = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'


class LinkedRegions:
    """West and east, each of three nodes, and a link from west to east."""

    def __init__(self, directory: Path) -> None:
        self.west = Members(directory / "west", NODES)
        self.east = Members(directory / "east", NODES, "east")
        self.source_dials = False

    def up(self) -> None:
        for region in (self.west, self.east):
            region.up()

    def down(self) -> None:
        for region in (self.west, self.east):
            for node in region.ids:  # a stopped one would never end
                region.signal(node, signal.SIGCONT)
            region.down()

    def link(self, *, source_dials: bool, **settings: str) -> None:
        """`settings` are the topic's in both regions; those of `create_topic`, and that no link copies."""
        self.source_dials = source_dials
        create_topic(
            self.west.bootstrap,
            TOPIC,
            PARTITIONS,
            replicas=NODES,
            min_insync_replicas="2",
            segment_bytes=str(SEGMENT_BYTES),
            **settings,
        )
        self.west.wait_in_sync(TOPIC, PARTITIONS)
        who = ("--source-bootstrap-server", self.west.bootstrap)
        if source_dials:
            who = ("--config", "connection.mode=INBOUND")
        made = self.run(
            "link", "create", LINK, *who,
            "--config", "consumer.offset.sync.enable=true",
            "--config", f"consumer.offset.group.filters={GROUPS}",
        )  # fmt: skip
        if source_dials:
            there = ("--bootstrap-server", self.west.bootstrap)
            here = (
                "--destination-bootstrap-server",
                self.east.bootstrap,
                "--secret",
                made["secret"],
            )
            several = ("--config", f"num.cluster.link.fetchers={FETCHERS}")
            causeway("link", "create", LINK, *there, *here, *several, timeout=TIMEOUT_S)
            self.wait_until(lambda: self.run("link", "describe", LINK)["link_state"] == "ACTIVE")
        own = [f"--config={name.replace('_', '.')}={value}" for name, value in settings.items()]
        self.run("mirror", "create", TOPIC, "--link", LINK, *own)
        self.east.wait_in_sync(TOPIC, PARTITIONS)

    def run(self, *arguments: str) -> Any:
        """At whichever broker of east answers."""
        return causeway(*arguments, "--bootstrap-server", self.east.bootstrap, timeout=TIMEOUT_S)

    def wait_caught_up(self, wanted: dict[int, int]) -> None:
        self.wait_until(lambda: self._held() == wanted)

    def _held(self) -> dict[int, int]:
        lags = self.run("mirror", "describe", TOPIC)["mirror_lags"]
        return {one["partition"]: one["local_log_end_offset"] for one in lags}

    def streams(self) -> Counter[tuple[int, int]]:
        """Those of the link that stand, by node of west and node of east."""
        found: Counter[tuple[int, int]] = Counter()
        at = {port: node for node in self.east.ids for port in self.east.listens(node)}
        for west in self.west.ids:
            for _, port in self.west.connections(west):
                found.update([(west, at[port])] if port in at else [])
        return found

    def sharing(self) -> set[tuple[int, int]]:
        """Nodes of west and of east of which one mirrors what the other leads."""
        return {
            (self.west.leader(TOPIC, each), self.east.leader(TOPIC, each))
            for each in range(PARTITIONS)
        }

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        until(is_so, TIMEOUT_S, self._held)


@pytest.fixture(params=["destination"])
def regions(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LinkedRegions]:
    both = LinkedRegions(tmp_path)
    both.up()
    both.link(source_dials=request.param == "source")
    yield both
    both.down()


@pytest.fixture
def ledger(regions: LinkedRegions) -> Ledger:
    ledger = numbering(regions.west)
    ledger.wait_for(500)
    return ledger


def numbering(region: Members) -> Ledger:
    """At most 500 records a second, however long nodes take to come back."""
    ledger = Ledger(region.bootstrap, TOPIC, PARTITIONS, width=RECORD_BYTES, pause_s=0.002)
    ledger.start()
    return ledger


def segments(region: Members, partition: int) -> list[dict[str, bytes]]:
    """Of each replica: file names and bytes."""
    folders = [region.data(node) / f"{TOPIC}-{partition}" for node in region.ids]
    return [{path.name: path.read_bytes() for path in folder.glob("*.log")} for folder in folders]


@pytest.mark.parametrize(
    "regions", ["destination", pytest.param("source", marks=pytest.mark.soak)], indirect=True
)
def test_all_replicas_of_both_regions_are_equal_after_leaders_were_killed(
    regions: LinkedRegions, ledger: Ledger, rng: random.Random
) -> None:
    reader = WaitingReader(regions.east.bootstrap, TOPIC, PARTITIONS)
    for region in (regions.west, regions.east, regions.west, regions.east):
        partition = rng.randrange(PARTITIONS)
        leader, how = region.leader(TOPIC, partition), rng.choice((signal.SIGKILL, signal.SIGTERM))
        reader.wait_for(partition, time.time())
        ended = time.time()
        region.end(leader, how)
        waited = reader.wait_for(partition, ended)
        where = "west" if region is regions.west else "east"
        print(
            f"after {how.name} of its leader in {where}, the mirror's reader waited {waited:.2f} s"
        )
        assert waited < ELECTION_S
        ledger.wait_for(len(ledger.acknowledged) + 500)
        region.up()
        region.wait_in_sync(TOPIC, PARTITIONS)
    reader.close()
    ledger.close()
    found = read_all(regions.west.bootstrap, TOPIC, PARTITIONS)
    check(ledger, found)
    regions.wait_caught_up(ends(found))
    for region in (regions.west, regions.east):
        region.wait_in_sync(TOPIC, PARTITIONS)
    if regions.source_dials:
        regions.wait_until(lambda: has_streams_of_use(regions))
    regions.down()
    for partition in range(PARTITIONS):
        first, *others = segments(regions.west, partition) + segments(regions.east, partition)
        assert all(other == first for other in others)
    regions.up()


def has_streams_of_use(regions: LinkedRegions) -> bool:
    """Nodes that share partitions have all the link's streams. Of the others each node of west has one to the
    coordinator of the link, and each node of east is reached."""
    streams, sharing = regions.streams(), regions.sharing()
    others = {pair: count for pair, count in streams.items() if pair not in sharing}
    is_shared = all(streams[pair] == FETCHERS for pair in sharing)
    reached = {east for _, east in streams} == set(regions.east.ids)
    is_little = set(others.values()) <= {1} and len(others) <= 2 * NODES - 1
    return is_shared and reached and is_little


def test_the_link_follows_while_nodes_stay_away(regions: LinkedRegions, ledger: Ledger) -> None:
    """One is killed, the other does not answer: the records that come then are mirrored by those that are left."""
    regions.west.end(regions.west.leader(TOPIC, 0), signal.SIGKILL)
    frozen = regions.east.leader(TOPIC, 1)
    regions.east.signal(frozen, signal.SIGSTOP)
    regions.east.leader(TOPIC, 1, other_than=frozen)
    ledger.wait_for(len(ledger.acknowledged) + 500)
    ledger.close()
    found = read_all(regions.west.bootstrap, TOPIC, PARTITIONS)
    check(ledger, found)
    regions.wait_caught_up(ends(found))


def test_a_failover_with_nodes_down_on_both_sides_keeps_what_the_cut_says(
    regions: LinkedRegions, ledger: Ledger
) -> None:
    read_before = consume(regions.west.bootstrap, lambda seen: len(seen) >= 300)
    ledger.wait_for(len(ledger.acknowledged) + 500)
    regions.east.end(regions.east.leader(TOPIC, 0), signal.SIGKILL)
    for node in regions.west.ids:
        regions.west.end(node, signal.SIGKILL)
    regions.run("mirror", "failover", TOPIC)
    acknowledged = dict(ledger.acknowledged)
    held = read_all(regions.east.bootstrap, TOPIC, PARTITIONS)
    cut = regions.run("mirror", "describe", TOPIC)["cut"]["partitions"]
    by_partition = {one["partition"]: one["offset"] for one in cut}
    assert ends(held) == by_partition
    for number, where in acknowledged.items():
        partition, offset = where
        assert held.get(where) == (number if offset < by_partition[partition] else None)
    everything = set(held.values())
    read_after = consume(regions.east.bootstrap, lambda seen: everything <= read_before | seen)
    assert everything <= read_before | read_after
    produce(regions.east.bootstrap, b"now here")


def sealed(region: Members, partition: int) -> list[dict[str, str]]:
    """Of each replica: names and digests of its segments but the one that is written to."""
    found = []
    for node in region.ids:
        *old, _ = sorted((region.data(node) / f"{TOPIC}-{partition}").glob("*.log"))
        found.append({path.name: sha256(path.read_bytes()).hexdigest() for path in old})
    return found


def check_sealed(regions: LinkedRegions) -> list[dict[str, str]]:
    """What KIP-1279's tests compare: whole segments, file by file. Here of all replicas. -> by partition"""
    agreed = []
    for partition in range(PARTITIONS):
        first, *others = sealed(regions.west, partition) + sealed(regions.east, partition)
        assert first and all(other == first for other in others), (partition, first, others)
        agreed.append(first)
    return agreed


def test_a_promotion_proves_lag_0_at_every_leader_and_segments_are_the_same_files(
    regions: LinkedRegions, ledger: Ledger
) -> None:
    """After leaders changed and nodes were restarted on both sides, before the promotion and after it."""
    for region in (regions.west, regions.east):
        region.end(region.leader(TOPIC, 0), signal.SIGTERM)
        ledger.wait_for(len(ledger.acknowledged) + PARTITIONS * SEGMENT_BYTES // RECORD_BYTES)
        region.up()
    ledger.close()
    (asked,) = regions.run("mirror", "promote", TOPIC)["topics"]
    assert asked["mirror_status"] == "STOPPED", asked
    held = read_all(regions.east.bootstrap, TOPIC, PARTITIONS)
    check(ledger, held)
    cut = regions.run("mirror", "describe", TOPIC)["cut"]
    assert cut["kind"] == "PROMOTE"
    assert [one["missing"] for one in cut["partitions"]] == [0] * PARTITIONS
    for region in (regions.west, regions.east):
        region.wait_in_sync(TOPIC, PARTITIONS)
    before = check_sealed(regions)
    successor = numbering(regions.east)
    successor.wait_for(PARTITIONS * SEGMENT_BYTES // RECORD_BYTES)
    successor.close()
    for partition, agreed in enumerate(before):
        for now in sealed(regions.east, partition):
            assert agreed.items() <= now.items()
