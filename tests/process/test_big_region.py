"""Three dedicated controllers and five brokers under load from stock clients, while one thing after another goes wrong.

On loopback where processes and disks suffer, on hosts of their own where links do. What each scenario cost is printed.
"""

import itertools
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.big_region import BigRegion, Node
from tests.process.hosts import CannotIsolate, Hosts, Loopback, Namespaces
from tests.process.storm import PARTITIONS, Storm

CONTROLLERS, BROKERS = 3, 5
NODES = range(1, CONTROLLERS + BROKERS + 1)
ROUNDS = 3
LAG_MAX_MS = 6_000  # so that a follower that is cut off is missed within a test's time
DISK_BYTES = 24 << 20

pytestmark = [pytest.mark.soak, pytest.mark.timeout(420)]


@pytest.fixture
def links() -> Iterator[Namespaces]:
    try:
        hosts = Namespaces(NODES)
    except CannotIsolate as reason:
        pytest.skip(str(reason))
    yield hosts
    hosts.close()


@pytest.fixture
def hosts(request: pytest.FixtureRequest) -> Hosts:
    """Those whose links can be cut, for tests that ask for them."""
    if "links" not in request.fixturenames:
        return Loopback()
    found: Hosts = request.getfixturevalue("links")
    return found


@pytest.fixture
def storm(
    hosts: Hosts, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Iterator[Storm]:
    settings = {"replica.lag.time.max.ms": LAG_MAX_MS}
    region = BigRegion(tmp_path, hosts, controllers=CONTROLLERS, brokers=BROKERS, settings=settings)
    going = Storm(region)
    try:
        going.begin()
        yield going
    finally:
        region.kill()
        with capsys.disabled():
            print(f"\n{request.node.name}: {going.report()}")


def test_leaders_are_killed(storm: Storm) -> None:
    for _ in range(ROUNDS):
        leader = storm.busiest()
        storm.kill(leader)
        storm.go_on()
        storm.region.up()
        storm.wait_whole()
    storm.judge()


def test_a_leader_that_is_killed_comes_back_at_once(storm: Storm) -> None:
    """Before anybody has missed it."""
    for _ in range(ROUNDS):
        leader = storm.busiest()
        storm.takeover(leader, lambda node=leader: kill_and_restart(node))
        leader.wait_ready()
        storm.wait_whole()
    storm.judge()


def kill_and_restart(node: Node) -> None:
    node.end(signal.SIGKILL)
    node.start()


def test_followers_are_killed(storm: Storm) -> None:
    for _ in range(ROUNDS):
        known = storm.region.placed([storm.writers[0].topic])
        follower = storm.region.nodes[known[storm.writers[0].topic, 0].replicas[-1]]
        follower.end(signal.SIGKILL)
        storm.go_on(100)
        storm.region.up()
        storm.wait_whole()
    storm.judge()


def test_active_controllers_are_killed(storm: Storm) -> None:
    for _ in range(ROUNDS):
        active = storm.region.active_controller()
        active.end(signal.SIGKILL)
        leader = storm.busiest()
        storm.kill(leader)
        storm.go_on()
        storm.region.up()
        storm.wait_whole()
    storm.judge()


@pytest.mark.parametrize("seconds", [5, 20])
def test_a_leader_is_frozen(storm: Storm, seconds: int) -> None:
    """Five seconds are less than its session, twenty are more."""
    leader = storm.busiest()
    if seconds < 9:
        leader.signal(signal.SIGSTOP)
    else:
        storm.takeover(leader, lambda: leader.signal(signal.SIGSTOP))
    pause(seconds if seconds < 9 else seconds - max(storm.takeovers))
    leader.signal(signal.SIGCONT)
    storm.judge()


@pytest.mark.parametrize("seconds", [5, 20])
def test_the_active_controller_is_frozen(storm: Storm, seconds: int) -> None:
    active = storm.region.active_controller()
    active.signal(signal.SIGSTOP)
    pause(seconds)
    storm.region.active_controller(but=active)
    active.signal(signal.SIGCONT)
    storm.judge()


def pause(seconds: float) -> None:
    """The length of a trouble is part of its definition."""
    subprocess.run(["sleep", str(max(0.0, seconds))], check=True)


@pytest.mark.parametrize("way", ["both ways", "from the controllers", "to the controllers"])
def test_a_leader_is_cut_from_the_controllers(links: Namespaces, storm: Storm, way: str) -> None:
    leader = storm.busiest()

    def cut() -> None:
        for controller in storm.region.controllers:
            if way != "to the controllers":
                links.cut(controller.id, leader.id)
            if way != "from the controllers":
                links.cut(leader.id, controller.id)

    storm.takeover(leader, cut)
    storm.go_on()
    links.mend()
    storm.judge()


def test_a_leader_is_cut_from_the_active_controller_alone(links: Namespaces, storm: Storm) -> None:
    """The others would tell it nothing new: it is missed, and comes back."""
    leader, active = storm.busiest(), storm.region.active_controller()
    storm.takeover(leader, lambda: links.cut_both_ways(leader.id, active.id))
    storm.go_on()
    links.mend()
    storm.judge()


def test_the_active_controller_is_cut_from_the_others(links: Namespaces, storm: Storm) -> None:
    active = storm.region.active_controller()
    for other in storm.region.controllers:
        if other is not active:
            links.cut_both_ways(active.id, other.id)
    storm.region.active_controller(but=active)
    leader = storm.busiest()
    storm.kill(leader)
    storm.go_on()
    links.mend()
    storm.region.up()
    storm.judge()


def test_a_leader_is_cut_from_one_follower(links: Namespaces, storm: Storm) -> None:
    """It is missed after replica.lag.time.max.ms, and nobody waits for it any longer."""
    topic = storm.writers[0].topic
    leader, follower, *_ = storm.region.placed([topic])[topic, 0].replicas
    links.cut_both_ways(leader, follower)
    storm.go_on()
    links.mend()
    storm.judge()


def test_a_leader_is_cut_from_all_followers(links: Namespaces, storm: Storm) -> None:
    """Nobody can take over, as the controllers hear all of them: what is acknowledged waits for the links."""
    leader = storm.busiest()
    for other in storm.region.brokers:
        if other is not leader:
            links.cut_both_ways(leader.id, other.id)
    pause(2 * LAG_MAX_MS / 1_000)
    links.mend()
    storm.judge()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """The directory of the first broker is on a disk of its own."""
    if os.geteuid() != 0:
        pytest.skip("a disk of its own needs root")
    directory = tmp_path / f"node-{CONTROLLERS + 1}"
    directory.mkdir()
    size = f"size={DISK_BYTES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", directory], check=True)
    yield directory
    subprocess.run(["umount", directory], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as sink, pytest.raises(OSError, match="No space left"):
        sink.writelines(bytes(1 << 16) for _ in itertools.count())


def test_a_broker_whose_disk_is_full_leaves_its_leaderships_to_others(
    small_disk: Path, storm: Storm
) -> None:
    """It has no other log directory, so it ends."""
    broker, filler = storm.region.brokers[0], small_disk / "filler"
    storm.takeover(broker, lambda: fill(filler))
    broker.wait_dead()
    storm.go_on()
    filler.unlink()
    storm.region.up()
    storm.judge()


def test_every_node_is_restarted_in_turn(storm: Storm) -> None:
    for node in storm.region.nodes.values():
        if node.is_broker:
            storm.takeover(node, lambda node=node: node.signal(signal.SIGTERM))
        node.end(signal.SIGTERM)
        storm.go_on(PARTITIONS)
        storm.region.up()
        storm.wait_whole()
    storm.judge()


def test_all_nodes_are_killed_at_once(storm: Storm) -> None:
    for node in storm.region.nodes.values():
        node.signal(signal.SIGKILL)
    for node in storm.region.nodes.values():
        node.wait_dead()
    storm.region.up()
    storm.judge()
