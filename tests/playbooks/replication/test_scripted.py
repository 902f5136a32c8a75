"""Single stories over the replicas of one partition, without faults."""

from typing import Any

import pytest

from tests.playbooks.replication.checker import Checker, batches_of
from tests.playbooks.replication.controller import Controller
from tests.playbooks.replication.node import Node
from tests.playbooks.replication.world import World


class Calm:
    """Three nodes, all up; `acknowledged` is what a producer was told."""

    def __init__(
        self, *, min_insync: int = 1, sync: bool = False, minds_epochs: bool = True
    ) -> None:
        self.world = World(1)
        self.world.stormy = False
        self.controller = Controller(self.world, (1, 2, 3), minds_epochs=minds_epochs)
        self.checker = Checker()
        self.nodes = {
            number: Node(self.world, self.controller, number, sync, min_insync)
            for number in (1, 2, 3)
        }
        self.acknowledged: list[int] = []
        for node in self.nodes.values():
            node.peers, node.minds_epochs = self.nodes, minds_epochs
            node.start()
        self.world.run(1_000)

    def produce(self, node: int = 1) -> None:
        value = b"value %d." % len(batches_of(self.nodes[node]))
        self.nodes[node].produce(value, self.acknowledged.append)

    def ends(self) -> list[int]:
        return [len(batches_of(node)) for node in self.nodes.values()]

    def marks(self) -> list[int]:
        return [node.replica.high_watermark for node in self.nodes.values() if node.replica]

    def converge(self) -> None:
        self.world.run(5_000)
        self.checker.converged(list(self.nodes.values()))


def test_what_is_acknowledged_is_everywhere_and_all_know_soon() -> None:
    calm = Calm()
    calm.produce()
    calm.world.run(20)
    assert (calm.acknowledged, calm.ends()) == ([0], [1, 1, 1])
    calm.world.run(60)
    assert calm.marks() == [1, 1, 1]


def test_a_new_leader_commits_at_once_although_its_followers_are_in_a_long_poll() -> None:
    """A partition that changes hands is not held up by the requests that wait for others: here none waits."""
    calm = Calm()
    calm.produce()
    calm.world.run(100)
    calm.controller.move_leader()
    calm.world.run(60)
    leader = calm.controller.placed.leader
    calm.produce(leader)
    calm.world.run(40)
    assert calm.acknowledged == [0, 1]
    calm.controller.fence(leader)
    calm.world.run(60)
    calm.produce(calm.controller.placed.leader)
    calm.world.run(40)
    assert calm.acknowledged == [0, 1, 2]
    calm.converge()


def test_a_leader_that_was_cut_off_gives_up_what_nobody_else_has() -> None:
    calm = Calm()
    calm.produce()
    calm.world.run(100)
    calm.world.cuts |= {frozenset(pair) for pair in ((1, 2), (1, 3), (1, 0))}
    calm.produce(1)
    calm.produce(1)
    calm.world.run(100)
    calm.controller.fence(1)
    calm.world.run(100)
    leader = calm.controller.placed.leader
    calm.produce(leader)
    calm.world.run(50)
    assert calm.acknowledged == [0, 1]
    assert calm.ends()[0] == 3
    calm.world.cuts.clear()
    calm.converge()
    assert calm.ends() == [2, 2, 2]


def test_a_node_whose_disk_is_empty_copies_everything_and_joins_again() -> None:
    calm = Calm()
    for _ in range(30):
        calm.produce()
        calm.world.run(20)
    node = calm.nodes[3]
    node.kill()
    calm.world.run(1_000)
    assert calm.controller.placed.isr == (1, 2)
    node.disk.remove("orders-0")
    node.start()
    calm.converge()
    assert set(calm.controller.placed.isr) == {1, 2, 3}
    assert calm.ends() == [30, 30, 30]


def the_return_of_a_former_self(minds_epochs: bool) -> Calm:
    """Node 3 came up to the leader, is proposed, loses its disk and is back before the controller hears of it."""
    calm = Calm(minds_epochs=minds_epochs)
    calm.nodes[3].kill()
    calm.world.run(1_000)
    for _ in range(5):
        calm.produce()
        calm.world.run(20)
    for node in calm.nodes.values():
        node.controller_ms = 400
    calm.nodes[3].start()
    before = calm.controller.placed
    while calm.ends()[2] < 5 or not _proposes(calm, 3):
        calm.world.run(1)
    assert calm.controller.placed.isr == before.isr
    calm.nodes[3].kill()
    calm.nodes[3].disk.remove("orders-0")
    calm.nodes[3].start()
    for pair in ((3, 1), (3, 2)):
        calm.world.cuts.add(frozenset(pair))
    calm.world.run(600)
    return calm


def _proposes(calm: Calm, broker: int) -> bool:
    leadership: Any = calm.nodes[1].replica and calm.nodes[1].replica.leadership
    proposal = leadership and leadership.isr_state.proposal
    return bool(proposal) and broker in proposal.members


def test_an_earlier_life_lets_nobody_in() -> None:
    calm = the_return_of_a_former_self(minds_epochs=True)
    assert 3 not in calm.controller.placed.isr
    calm.world.cuts.clear()
    calm.converge()
    assert calm.acknowledged == [0, 1, 2, 3, 4]
    assert calm.ends() == [5, 5, 5]


def test_without_broker_epochs_it_would_and_what_was_acknowledged_would_be_lost() -> None:
    calm = the_return_of_a_former_self(minds_epochs=False)
    assert 3 in calm.controller.placed.isr
    for broker in (1, 2):
        calm.controller.fence(broker)
    calm.world.run(200)
    assert (calm.controller.placed.leader, calm.ends()[2]) == (3, 0)


@pytest.mark.parametrize("sync", [False, True])
def test_a_follower_says_that_it_has_what_its_topic_wants_it_to_have(sync: bool) -> None:
    calm = Calm(sync=sync)
    calm.produce()
    calm.world.run(200)
    assert calm.acknowledged == [0]
    for node in calm.nodes.values():
        node.cut_power()
        node.start()
    calm.world.run(10)
    if sync:
        assert calm.ends() == [1, 1, 1]
        calm.converge()
    else:
        assert sum(calm.ends()) < 3  # which is what `flush.messages` is for
