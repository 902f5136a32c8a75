"""Time and broken connections: who is waited for, how long, and who is given up."""

import pytest

from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import GroupState
from brokers.groups.requests import HeartbeatRequest, JoinResult, SyncRequest, SyncResult
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import join
from tests.unit.brokers.groups.stable import stable


def beat(world: World, member: str) -> None:
    world.ask("heartbeat", HeartbeatRequest(group="g", generation=1, member_id=member))


def test_a_member_that_waits_is_alive_however_long_it_takes() -> None:
    world = World()
    a, b = stable(world, "a", "b", rebalance_timeout_ms=60_000)
    waiting = world.ask("join", join(member_id=a, rebalance_timeout_ms=60_000))
    for _ in range(5):
        world.wait(9_000)
        beat(world, b)  # alive, but it does not join
    assert waiting not in world.answers
    world.wait(15_000)
    told = world.answers[waiting]
    assert isinstance(told, JoinResult)
    assert [member.member_id for member in told.members] == [a]


def test_who_does_not_join_in_time_is_given_up() -> None:
    world = World()
    a, b = stable(world, "a", "b", rebalance_timeout_ms=8_000)
    waiting = world.ask("join", join(member_id=a, rebalance_timeout_ms=8_000))
    world.wait(7_999)
    assert waiting not in world.answers
    world.wait(1)
    assert waiting in world.answers
    assert b not in world.coordinator._manager.groups["g"].members


def test_a_client_that_never_learnt_its_id_is_forgotten_with_its_connection() -> None:
    world = World()
    (a,) = stable(world, "a")
    newcomer = world.ask("join", join(client_id="b"))
    waiting = world.ask("join", join(member_id=a))
    assert waiting in world.answers  # both are there
    world = World()
    (a,) = stable(world, "a")
    newcomer = world.ask("join", join(client_id="b"))
    world.disconnect(newcomer)
    waiting = world.ask("join", join(member_id=a))
    told = world.answers[waiting]
    assert isinstance(told, JoinResult)
    assert [member.member_id for member in told.members] == [a]


@pytest.mark.parametrize("instance_id", [None, "i"])
def test_a_client_that_knows_its_name_is_waited_for_when_its_connection_breaks(
    instance_id: str | None,
) -> None:
    world = World()
    (a,) = stable(world, "a")
    if instance_id is None:
        given_id = world.answer("join", join(client_id="b", requires_member_id=True))
        assert isinstance(given_id, JoinResult)
        newcomer = join(client_id="b", member_id=given_id.member_id)
    else:
        newcomer = join(client_id="b", instance_id=instance_id)
    world.disconnect(world.ask("join", newcomer))
    waiting = world.ask("join", join(member_id=a))
    assert waiting not in world.answers
    world.ask("join", newcomer)
    assert waiting in world.answers


def test_a_client_that_does_not_come_back_is_waited_for_one_session() -> None:
    world = World()
    (a,) = stable(world, "a")
    world.disconnect(world.ask("join", join(client_id="b", instance_id="i")))
    waiting = world.ask("join", join(member_id=a))
    world.wait(9_999)
    assert waiting not in world.answers
    world.wait(1)
    assert waiting in world.answers


def test_tickets_of_others_mean_nothing() -> None:
    world = World()
    stable(world, "a")
    assert world.coordinator.disconnected([12_345, 99_999], world.now) == []


def test_a_silent_static_member_does_not_keep_a_node_busy() -> None:
    """With a rebalance timeout of 0 the group would call it again and again."""
    world = World()
    stable(world, "s", instance_id="s", rebalance_timeout_ms=0, session_timeout_ms=60_000)
    world.disconnect(world.ask("join", join(client_id="b")))
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE
    world.wait(59_999)
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE
    world.wait(1)
    assert world.coordinator.group_state("g") is GroupState.EMPTY


def test_a_leader_that_never_decides_is_given_up_with_all_that_did_not_ask() -> None:
    world = World()
    tickets = [
        world.ask("join", join(client_id=name, rebalance_timeout_ms=9_000)) for name in "abc"
    ]
    world.settle()
    b = world.answers[tickets[1]]
    assert isinstance(b, JoinResult)
    waiting = world.ask("sync", SyncRequest(group="g", generation=1, member_id=b.member_id))
    world.wait(8_999)
    assert waiting not in world.answers
    world.wait(1)
    assert world.answers[waiting] == SyncResult(error=KafkaError.REBALANCE_IN_PROGRESS)
    assert list(world.coordinator._manager.groups["g"].members) == [b.member_id]


def test_a_follower_that_never_asks_for_its_assignment_is_given_up() -> None:
    world = World()
    tickets = [world.ask("join", join(client_id=name, rebalance_timeout_ms=9_000)) for name in "ab"]
    world.settle()
    a = world.answers[tickets[0]]
    assert isinstance(a, JoinResult)
    world.answer("sync", SyncRequest(group="g", generation=1, member_id=a.member_id))
    assert world.coordinator.group_state("g") is GroupState.STABLE
    world.wait(9_000)
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE
    assert list(world.coordinator._manager.groups["g"].members) == [a.member_id]


def test_a_decision_that_comes_too_late_is_not_spread() -> None:
    """The write of generation 1 ends when generation 2 is being decided."""
    world = World()
    ticket = world.ask("join", join(client_id="a"))
    world.settle()
    a = world.answers[ticket]
    assert isinstance(a, JoinResult)
    old = world.ask(
        "sync",
        SyncRequest(
            group="g", generation=1, member_id=a.member_id, assignments={a.member_id: b"old"}
        ),
    )
    world.ask("join", join(client_id="b"))
    world.ask("join", join(client_id="a", member_id=a.member_id))
    assert world.coordinator.group_state("g") is GroupState.COMPLETING_REBALANCE
    world.write_all()
    assert world.coordinator.group_state("g") is GroupState.COMPLETING_REBALANCE
    assert world.answers[old] == SyncResult(error=KafkaError.REBALANCE_IN_PROGRESS)


def test_a_lower_limit_on_members_is_enforced_after_a_restart() -> None:
    world = World()
    stable(world, "a", "b", "c")
    world.config = GroupCoordinatorConfig(offsets_partitions=3, members_max=2)
    world.restart()
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE
