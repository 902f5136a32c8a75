"""Failover and failback over and over between two regions of three nodes, with stock producers that follow.

Each round the wide area falls silent, west goes on taking records that east never gets, and east takes over. West
returns, seals what it had beyond the cut, mirrors east, and takes its place again in a reversal. In the end every
record that was acknowledged is in its place in the log, or in an orphan store, and an audit of nothing but the data
directories says that the regions hold the same.

All of it belongs to the soak. Ten rounds on hosts of their own, 80 ms apart, took 4 minutes on 2 quiet cores and 18 on
busy ones.
"""

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bench.peer import jars
from tests.process.followers import (
    AioFollower,
    ConfluentFollower,
    Follower,
    JavaFollower,
    number_of,
)
from tests.process.hosts import CannotIsolate, Loopback, Namespaces
from tests.process.ledger import create_topic, read_all
from tests.process.wide_area import (
    LINK,
    NODES,
    REPLICAS,
    FarRegion,
    WideArea,
    check_audit,
    check_equal_everywhere,
)

PARTITIONS = 3
ROUNDS = 10
RECORDS = 30  # of each topic in each part of a round
ONE_WAY_MS, BYTES_PER_SECOND = 40, 4 << 20
WEST, EAST = 0, 1


class Failback:
    """`begin`, then rounds, then `judge`."""

    def __init__(self, area: WideArea) -> None:
        self.area = area
        self.followers: Sequence[Follower] = ()

    @property
    def topics(self) -> list[str]:
        return [each.topic for each in self.followers]

    def begin(self, initiation: str, followers: Sequence[Follower]) -> None:
        self.followers = followers
        west, east = self.area.regions
        for topic in self.topics:
            create_topic(
                west.bootstrap, topic, PARTITIONS, replicas=REPLICAS, min_insync_replicas="2"
            )
        self.area.link(initiation)
        for topic in self.topics:
            east.at("mirror", "create", topic, "--link", LINK)
        east.wait_mirrors(self.topics)
        for follower in followers:
            follower.start()

    def go_on(self) -> None:
        for follower in self.followers:
            follower.wait_for(RECORDS)

    def round(self, while_away: Callable[[], None] = lambda: None) -> None:
        west, east = self.area.regions
        self.go_on()
        self.area.cut()
        self.go_on()
        failed_over = east.at("mirror", "failover", *self.topics, "--link", LINK)["topics"]
        assert {one["mirror_status"] for one in failed_over} == {"STOPPED"}, failed_over
        for follower in self.followers:
            follower.go(EAST)
        self.go_on()
        while_away()
        self.area.mend()
        self._restore(west)
        west.wait_mirrors(self.topics)
        reversed_ = west.at("mirror", "reverse-and-start", *self.topics)["topics"]
        assert {one["mirror_status"] for one in reversed_} == {"STOPPED"}, reversed_
        east.wait_mirrors(self.topics)
        self.go_on()
        assert {follower.place for follower in self.followers} == {WEST}

    def _restore(self, west: FarRegion) -> None:
        """As soon as the link reaches the other side again."""
        west.wait(lambda: west.at("link", "describe", LINK)["link_state"] == "ACTIVE")
        west.at("mirror", "truncate-and-restore", *self.topics, "--link", LINK)

    def stop(self) -> None:
        for follower in self.followers:
            follower.stop()

    # --- the verdict ---

    def judge(self, audit: Path) -> int:
        """-> orphan records"""
        for follower in self.followers:
            follower.close()
        orphans = self._orphans()
        for follower in self.followers:
            self._check_kept(follower, orphans)
        for region in self.area.regions:
            region.wait_whole(self.topics)
            # What was cut is in the ledger, and nothing else: the mirrors lack no record of their sources.
            holes = region.at("mirror", "holes")["holes"]
            assert {one["cause"] for one in holes} <= {"DIVERGENCE_CUT"}, holes
        self.area.down()
        check_equal_everywhere(self.area, self.topics, PARTITIONS)
        check_audit(self.area, self.topics, audit)
        return sum(orphans.values())

    def _orphans(self) -> Counter[tuple[str, int, int, int]]:
        """(topic, partition, offset, number) of each sealed record."""
        found: Counter[tuple[str, int, int, int]] = Counter()
        for region in self.area.regions:
            for tail in region.at("orphans", "list")["orphans"]:
                shown = region.at("orphans", "show", tail["name"], "--limit", "1000000")
                for one in shown["records"]:
                    number = number_of(one["value"].encode())
                    found[tail["topic"], tail["partition"], one["offset"], number] += 1
        return found

    def _check_kept(self, follower: Follower, orphans: Counter[tuple[str, int, int, int]]) -> None:
        west, east = self.area.regions
        held = read_all(west.bootstrap, follower.topic, PARTITIONS, number_of)
        ends = Counter(partition for partition, _ in held)
        east.wait_caught_up(follower.topic, dict(ends))
        twice = [number for number, count in Counter(held.values()).items() if count > 1]
        assert not twice, f"{follower.topic}: stored twice: {twice[:5]}"
        lost = [
            (number, where)
            for number, where in follower.acknowledged.items()
            if held.get(where) != number and (follower.topic, *where, number) not in orphans
        ]
        assert not lost, f"{follower.topic}: {len(lost)} are neither there nor sealed: {lost[:3]}"


@pytest.fixture
def resources() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def both(area: WideArea) -> tuple[str, str]:
    return area.west.bootstrap, area.east.bootstrap


@pytest.mark.soak
def test_a_producer_follows_a_failover_and_a_failback(tmp_path: Path, resources: ExitStack) -> None:
    area = WideArea(tmp_path, Loopback(), delay_ms=5)
    resources.callback(area.close)
    area.up()
    failback = Failback(area)
    resources.callback(failback.stop)
    failback.begin("bidirectional", [ConfluentFollower(both(area), "orders", PARTITIONS, 0.01)])
    failback.round()
    assert failback.judge(tmp_path / "audit") >= RECORDS


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("initiation", ["bidirectional", "bidirectional inbound"])
def test_ten_failovers_and_failbacks_in_a_row(
    initiation: str, tmp_path: Path, resources: ExitStack, rng: random.Random
) -> None:
    try:
        hosts = Namespaces(range(1, 2 * NODES + 1))
        jars.fetch()
    except (CannotIsolate, jars.Unavailable) as reason:
        pytest.skip(str(reason))
    resources.callback(hosts.close)
    area = WideArea(tmp_path, hosts, delay_ms=ONE_WAY_MS, bytes_per_second=BYTES_PER_SECOND)
    resources.callback(area.close)
    area.up()
    failback = Failback(area)
    resources.callback(failback.stop)
    followers = [
        ConfluentFollower(both(area), "by-librdkafka", PARTITIONS, 0.01),
        AioFollower(both(area), "by-aiokafka", PARTITIONS),
        JavaFollower(both(area), "by-java", PARTITIONS, tmp_path),
    ]
    failback.begin(initiation, followers)

    def bounce() -> None:
        """A node of the region that is away."""
        rng.choice([*area.west.nodes.values()]).end(signal.SIGKILL)
        area.west.up()

    for number in range(ROUNDS):
        failback.round(bounce if number % 3 == 2 else lambda: None)
    orphans = failback.judge(tmp_path / "audit")
    print(f"{orphans} orphan records in {ROUNDS} rounds, none lost")
    assert orphans >= ROUNDS * RECORDS
