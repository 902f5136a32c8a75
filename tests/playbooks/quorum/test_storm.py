"""Quorums through faults: what may not happen does not, and soon after it clears all is well."""

import pytest

from tests.playbooks.quorum.storm import Storm
from tests.playbooks.quorum.world import World
from tests.quick import some

HEALED_MS = 10_000  # the longest election is a few seconds, with all its repetitions


def drawn(seed: int, *, voters: int, observers: int, **scenario: bool) -> World:
    """A world after its storm, and after it has cleared up."""
    world = World(seed, voters=voters, observers=observers)
    if scenario.get("changes"):
        for node_id in (20, 21):
            world.add_node(node_id, may_vote=True)
    Storm(world, **scenario).run(10_000)
    world.heal()
    world.settle(HEALED_MS)
    return world


def check_nothing_is_lost(world: World) -> None:
    assert world.leader is not None
    assert world.checker.acknowledged, "somebody was answered"
    for life in world.lives.values():
        assert world.checker.lost(life.history) == set(), life.key


@pytest.mark.parametrize("seed", some(range(5)))
def test_a_lone_voter_and_its_observers(seed: int) -> None:
    check_nothing_is_lost(drawn(seed, voters=1, observers=2))


@pytest.mark.parametrize("seed", some(range(40)))
def test_three_voters(seed: int) -> None:
    check_nothing_is_lost(drawn(seed, voters=3, observers=seed % 3))


@pytest.mark.parametrize("seed", some(range(20)))
def test_five_voters(seed: int) -> None:
    check_nothing_is_lost(drawn(seed, voters=5, observers=seed % 2))


@pytest.mark.parametrize("seed", some(range(40)))
def test_voters_that_lose_their_disks_come_back_as_others_and_vote_again(seed: int) -> None:
    world = drawn(seed, voters=3, observers=1, wipes=True)
    check_nothing_is_lost(world)
    world.run_until(lambda: _all_vote(world, 3), 30_000)


@pytest.mark.parametrize("seed", some(range(40)))
def test_voters_that_come_and_go(seed: int) -> None:
    check_nothing_is_lost(drawn(seed, voters=3, observers=1, wipes=True, changes=True))


def _all_vote(world: World, count: int) -> bool:
    leader = world.leader
    if leader is None:
        return False
    voters = leader.raft.voters.latest
    return len(voters) == count and all(
        world.disks[voter.id].directory == voter.directory for voter in voters
    )
