"""A small region under load from stock clients: a link is cut, a leader is killed. `test_big_region` has more of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.big_region import BigRegion
from tests.process.hosts import CannotIsolate, Hosts, Loopback, Namespaces
from tests.process.storm import Storm

CONTROLLERS, BROKERS = 1, 3
SETTINGS = {"broker.session.timeout.ms": 2_000, "broker.heartbeat.interval.ms": 500}


def stormy(directory: Path, hosts: Hosts) -> Iterator[Storm]:
    region = BigRegion(
        directory, hosts, controllers=CONTROLLERS, brokers=BROKERS, settings=SETTINGS
    )
    storm = Storm(region)
    try:
        storm.begin()
        yield storm
    finally:
        region.kill()
        print(storm.report())


@pytest.fixture
def links() -> Iterator[Namespaces]:
    try:
        hosts = Namespaces(range(1, CONTROLLERS + BROKERS + 1))
    except CannotIsolate as reason:
        pytest.skip(str(reason))
    yield hosts
    hosts.close()


@pytest.fixture
def on_loopback(tmp_path: Path) -> Iterator[Storm]:
    yield from stormy(tmp_path, Loopback())


@pytest.fixture
def on_hosts(tmp_path: Path, links: Namespaces) -> Iterator[Storm]:
    yield from stormy(tmp_path, links)


def test_a_leader_that_the_controllers_do_not_hear_is_replaced(
    on_hosts: Storm, links: Namespaces
) -> None:
    """It can't tell anyone, and it goes on taking records that nobody will ever acknowledge."""
    storm, (controller,) = on_hosts, on_hosts.region.controllers
    leader = storm.busiest()
    storm.takeover(leader, lambda: links.cut_both_ways(leader.id, controller.id))
    storm.go_on()
    links.mend()
    storm.judge()


def test_readers_see_only_what_outlives_a_killed_leader(on_loopback: Storm) -> None:
    storm = on_loopback
    storm.kill(storm.busiest())
    storm.go_on()
    storm.region.up()
    storm.judge()
