"""A region of three nodes under a stock idempotent producer.

Whatever happens to its nodes: nothing acknowledged is lost, nothing is stored twice, and the replicas end up equal.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.process.ledger import Ledger, check, create_topic, read_all
from tests.process.members import Members

NODES, PARTITIONS, TOPIC = 3, 3, "orders"
PAUSE_S = 0.002  # several requests are under way all the time, and the nodes have time to come back


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Members]:
    members = Members(tmp_path, NODES)
    members.up()
    create_topic(members.bootstrap, TOPIC, PARTITIONS, replicas=NODES, min_insync_replicas="2")
    members.wait_in_sync(TOPIC, PARTITIONS)
    yield members
    for node in members.ids:  # a stopped one would never end
        members.signal(node, signal.SIGCONT)
    members.down()


@pytest.fixture
def ledger(region: Members) -> Ledger:
    return going(region)


def going(region: Members, *, is_idempotent: bool = True) -> Ledger:
    ledger = Ledger(
        region.bootstrap, TOPIC, PARTITIONS, is_idempotent=is_idempotent, pause_s=PAUSE_S
    )
    ledger.start()
    ledger.wait_for(500)
    return ledger


def check_kept(region: Members, ledger: Ledger) -> None:
    ledger.wait_for(len(ledger.acknowledged) + 200)
    ledger.close()
    region.wait_in_sync(TOPIC, PARTITIONS)
    check(ledger, read_all(region.bootstrap, TOPIC, PARTITIONS))
    assert len(ledger.acknowledged) == ledger.written
    region.down()
    for partition in range(PARTITIONS):
        copies = {_bytes(region.data(node) / f"{TOPIC}-{partition}") for node in region.ids}
        assert len(copies) == 1, f"the replicas of partition {partition} differ"
    region.up()


def _bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))


def test_leaders_are_killed(region: Members, ledger: Ledger) -> None:
    for partition in range(PARTITIONS):
        leader = region.leader(TOPIC, partition)
        region.end(leader, signal.SIGKILL)
        region.leader(TOPIC, partition, other_than=leader)
        ledger.wait_for(len(ledger.acknowledged) + 500)
        region.up()
        region.wait_in_sync(TOPIC, PARTITIONS)
    check_kept(region, ledger)


def test_a_leader_is_frozen_and_wakes_up(region: Members, ledger: Ledger) -> None:
    leader = region.leader(TOPIC, 0)
    region.signal(leader, signal.SIGSTOP)
    region.leader(TOPIC, 0, other_than=leader)
    ledger.wait_for(len(ledger.acknowledged) + 500)
    region.signal(leader, signal.SIGCONT)
    check_kept(region, ledger)


@pytest.mark.parametrize("is_idempotent", [True, False])
def test_every_node_is_restarted_in_turn(region: Members, *, is_idempotent: bool) -> None:
    """Who leads hands over in order: nothing is there twice for producers that are not idempotent either."""
    ledger = going(region, is_idempotent=is_idempotent)
    for node in region.ids:
        region.end(node, signal.SIGTERM)
        ledger.wait_for(len(ledger.acknowledged) + 200)
        region.up()
        region.wait_in_sync(TOPIC, PARTITIONS)
    check_kept(region, ledger)


def test_all_nodes_are_killed_at_once(region: Members, ledger: Ledger) -> None:
    for node in region.ids:
        region.signal(node, signal.SIGKILL)
    for node in region.ids:
        region.wait_dead(node)
    region.up()
    check_kept(region, ledger)
