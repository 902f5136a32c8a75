"""How long offsets live, and what ends them before."""

from typing import Any

from brokers.coordinator.effects import AppendRecords
from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import GroupState
from brokers.groups.offset_expiration import OFFSETS_A_STEP
from brokers.groups.requests import CommitResult, JoinResult
from brokers.ids import TopicPartition
from tests.playbooks.groups.consumer import subscription
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import T0, T1, U0, commit, join
from tests.unit.brokers.groups.stable import stable

RETENTION_MS = 100_000
EXPIRING = GroupCoordinatorConfig(
    offsets_partitions=3,
    initial_rebalance_delay_ms=0,
    offsets_retention_ms=RETENTION_MS,
    expiry_interval_ms=1_000,
)


def told(answer: object) -> KafkaError:
    assert isinstance(answer, CommitResult)
    (error,) = set(answer.errors.values())
    return error


def kept(world: World, group: str = "g") -> set[TopicPartition]:
    world.write_all()
    return set(world.coordinator.fetch_offsets(group, None).offsets)


def test_a_standalone_commit_lives_a_retention_from_the_commit() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit())
    world.wait(RETENTION_MS - 1)
    assert kept(world) == {T0}
    world.wait(1_000)
    assert kept(world) == set()
    assert world.coordinator.group_state("g") is GroupState.DEAD
    world.restart()
    assert world.coordinator.list_groups().groups == ()


def test_a_retention_of_its_own_comes_first_and_survives_a_restart() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0, retention_ms=5_000))
    world.answer("commit", commit(T1, retention_ms=1_000_000))
    world.answer("commit", commit(U0, retention_ms=2**63 - 1))
    world.restart()
    world.wait(6_000)
    assert kept(world) == {T1, U0}
    world.wait(RETENTION_MS)
    assert kept(world) == {T1, U0}
    world.wait(900_000)
    assert kept(world) == {U0}


def test_a_later_commit_without_a_retention_ends_the_earlier_ones() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0, retention_ms=5_000))
    world.answer("commit", commit(T0))
    world.wait(6_000)
    assert kept(world) == {T0}


def test_members_keep_the_offsets_of_what_they_read() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0, U0))
    stable(world, "a", session_timeout_ms=1_800_000)
    world.wait(RETENTION_MS + 1_000)
    assert kept(world) == {T0}, "nobody reads u"


def test_a_group_whose_subscription_cannot_be_read_keeps_everything() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0, U0))
    stable(world, "a", session_timeout_ms=1_800_000, protocols=(("range", b"?"),))
    world.wait(RETENTION_MS + 1_000)
    assert kept(world) == {T0, U0}


def test_a_group_of_another_kind_keeps_everything_while_it_has_members() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0))
    stable(world, "a", session_timeout_ms=1_800_000, protocol_type="connect")
    world.wait(RETENTION_MS + 1_000)
    assert kept(world) == {T0}


def test_nothing_expires_while_a_group_rebalances() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(U0))
    patient: dict[str, Any] = {"session_timeout_ms": 1_800_000, "rebalance_timeout_ms": 1_800_000}
    stable(world, "a", "b", **patient)
    world.ask("join", join(client_id="c", **patient))
    world.wait(RETENTION_MS + 1_000)
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE
    assert kept(world) == {U0}


def test_a_retention_begins_when_the_last_member_leaves() -> None:
    world = World(EXPIRING)
    (member,) = stable(world, "a", session_timeout_ms=60_000)
    world.answer("commit", commit(generation=1, member_id=member))
    world.wait(60_000)
    assert kept(world) == {T0}
    assert world.coordinator.group_state("g") is GroupState.EMPTY
    world.restart()
    world.wait(RETENTION_MS - 1_000)
    assert kept(world) == {T0}
    world.wait(2_000)
    assert kept(world) == set()
    assert world.coordinator.group_state("g") is GroupState.DEAD


def test_what_an_administrator_commits_for_an_empty_group_lives_from_then() -> None:
    world = World(EXPIRING)
    stable(world, "a")
    world.wait(RETENTION_MS)
    world.write_all()
    world.answer("commit", commit())
    world.wait(RETENTION_MS - 1_000)
    assert kept(world) == {T0}


def test_a_commit_on_its_way_does_not_meet_a_tombstone_decided_before_it() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit())
    world.wait(RETENTION_MS - 500)
    ticket = world.ask("commit", commit())
    world.wait(5_000)
    world.write_all()
    assert told(world.answers[ticket]) is KafkaError.NONE
    assert kept(world) == {T0}


def test_an_empty_group_without_offsets_ends_with_the_next_look() -> None:
    world = World(EXPIRING)
    stable(world, "a")
    world.wait(10_000)
    world.write_all()
    assert world.coordinator.group_state("g") is GroupState.EMPTY
    world.wait(1_000)
    world.write_all()
    assert world.coordinator.group_state("g") is GroupState.DEAD
    assert world.log[world.coordinator.partition_for("g")][-1].value is None


def test_an_id_that_never_came_back_leaves_no_group() -> None:
    world = World(EXPIRING)
    answer = world.answer("join", join(requires_member_id=True))
    assert isinstance(answer, JoinResult)
    world.wait(20_000)
    assert world.coordinator.group_state("g") is GroupState.DEAD
    assert not any(world.log.values())


def test_offsets_of_deleted_topics_go_even_those_on_their_way() -> None:
    world = World()
    world.answer("commit", commit(T0, U0))
    world.answer("commit", commit(U0, group="h"))
    world.ask("commit", commit(T1))
    world.perform(world.coordinator.on_topics_deleted(["t", "none"], world.now))
    assert kept(world) == {U0}
    assert kept(world, "h") == {U0}
    world.restart()
    assert kept(world) == {U0}


def test_no_deleted_topics_change_nothing() -> None:
    world = World()
    world.answer("commit", commit(T0))
    assert world.coordinator.on_topics_deleted([], world.now) == []
    assert world.coordinator.on_topics_deleted(["v"], world.now) == []


def test_subscriptions_of_all_protocols_count() -> None:
    world = World(EXPIRING)
    world.answer("commit", commit(T0, U0))
    both = (("range", subscription(["t"])), ("sticky", subscription(["u"])))
    stable(world, "a", session_timeout_ms=1_800_000, protocols=both)
    world.wait(RETENTION_MS + 1_000)
    assert kept(world) == {T0, U0}


def test_many_offsets_are_checked_in_steps_between_which_others_have_their_turn() -> None:
    world = World(EXPIRING)
    partitions = [TopicPartition("t", number) for number in range(OFFSETS_A_STEP)]
    for group in ("a", "b", "c"):
        world.answer("commit", commit(*partitions, group=group))
    world.write_all()
    due = world.now + RETENTION_MS
    world.wait(RETENTION_MS - 1)
    steps = []
    while world.coordinator.deadline is not None and world.coordinator.deadline <= due:
        effects = world.coordinator.on_time(due)
        steps.append(sum(isinstance(effect, AppendRecords) for effect in effects))
        world.perform(effects)
    assert steps == [1, 1, 1]
    assert world.coordinator.deadline == due + EXPIRING.expiry_interval_ms
    assert kept(world, "a") == kept(world, "b") == kept(world, "c") == set()
