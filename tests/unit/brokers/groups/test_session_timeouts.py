"""Who is alive: the last sign of life counts, exactly."""

from hypothesis import given
from hypothesis import strategies as st

from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.groups.requests import HeartbeatRequest, JoinResult, SyncRequest
from brokers.groups.session_timeouts import NEW_MEMBER_JOIN_TIMEOUT_MS
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import commit, join
from tests.unit.brokers.groups.stable import stable


def beat(world: World, member: str) -> None:
    world.ask("heartbeat", HeartbeatRequest(group="g", generation=1, member_id=member))


def test_a_session_ends_exactly_when_it_was_to_end() -> None:
    world = World()
    stable(world, "a")
    world.wait(9_999)
    assert world.coordinator.group_state("g") is GroupState.STABLE
    world.wait(1)
    assert world.coordinator.group_state("g") is GroupState.EMPTY


@given(st.lists(st.integers(1, 9_999), max_size=20))
def test_a_session_lasts_from_the_last_sign_of_life(pauses: list[int]) -> None:
    world = World()
    (a,) = stable(world, "a")
    for pause in pauses:
        world.wait(pause)
        beat(world, a)
    world.wait(9_999)
    assert world.coordinator.group_state("g") is GroupState.STABLE
    world.wait(1)
    assert world.coordinator.group_state("g") is GroupState.EMPTY


def test_a_commit_and_a_sync_are_signs_of_life() -> None:
    world = World()
    (a,) = stable(world, "a")
    world.wait(6_000)
    world.answer("commit", commit(generation=1, member_id=a))
    world.wait(6_000)
    world.answer("sync", SyncRequest(group="g", generation=1, member_id=a))
    world.wait(6_000)
    assert world.coordinator.group_state("g") is GroupState.STABLE


def test_a_shorter_session_counts_from_the_next_join_on() -> None:
    world = World()
    (a,) = stable(world, "a", session_timeout_ms=60_000)
    world.answer("join", join(member_id=a, session_timeout_ms=6_000))
    world.wait(6_000)
    assert world.coordinator.group_state("g") is GroupState.EMPTY


def test_a_newcomer_waits_five_minutes_and_is_then_told_to_come_again() -> None:
    world = World()
    a, _ = stable(world, "a", "b", rebalance_timeout_ms=3_600_000, session_timeout_ms=1_800_000)
    ticket = world.ask("join", join(client_id="c", rebalance_timeout_ms=3_600_000))
    world.ask(
        "join", join(member_id=a, rebalance_timeout_ms=3_600_000, session_timeout_ms=1_800_000)
    )
    world.wait(NEW_MEMBER_JOIN_TIMEOUT_MS - 1)
    assert ticket not in world.answers
    world.wait(1)
    told = world.answers[ticket]
    assert isinstance(told, JoinResult)
    assert told.error is KafkaError.UNKNOWN_MEMBER_ID


def test_every_heartbeat_is_cheap() -> None:
    """A thousand heartbeats leave one timer, not a thousand."""
    world = World()
    (a,) = stable(world, "a")
    timers = world.coordinator._timers
    before = len(timers._heap)
    for _ in range(1_000):
        world.wait(5)
        beat(world, a)
    assert len(timers._heap) <= before + 1
