"""Deleting groups and offsets."""

import pytest

from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.groups.requests import DeleteGroupsResult, DeleteOffsetsResult
from brokers.ids import TopicPartition
from tests.playbooks.groups.world import World, offsets_by_group
from tests.unit.brokers.groups.requests import T0, T1, U0, commit, join
from tests.unit.brokers.groups.stable import stable


def delete(world: World, *groups: str) -> dict[str, KafkaError]:
    answer = world.answer("delete", groups)
    assert isinstance(answer, DeleteGroupsResult)
    return dict(answer.errors)


def delete_offsets(
    world: World, *partitions: TopicPartition, group: str = "g"
) -> DeleteOffsetsResult | None:
    ticket = world.ticket("delete offsets")
    world.perform(world.coordinator.delete_offsets(ticket, group, partitions, world.now))
    world.write_all()
    answer = world.answers.get(ticket)
    assert answer is None or isinstance(answer, DeleteOffsetsResult)
    return answer


def test_every_group_asked_for_is_answered_in_order_and_once() -> None:
    world = World()
    stable(world, "a")
    for group in ("one", "two"):
        world.answer("commit", commit(group=group))
    errors = delete(world, "two", "none", "g", "one", "two")
    assert list(errors) == ["two", "none", "g", "one"]
    assert errors == {
        "two": KafkaError.NONE,
        "none": KafkaError.GROUP_ID_NOT_FOUND,
        "g": KafkaError.NON_EMPTY_GROUP,
        "one": KafkaError.NONE,
    }
    assert [group.group for group in world.coordinator.list_groups().groups] == ["g"]


def test_no_groups_are_deleted_at_once() -> None:
    assert delete(World()) == {}


def test_a_deletion_is_answered_when_all_of_it_is_written() -> None:
    world = World()
    for group in ("one", "two"):
        world.answer("commit", commit(group=group))
    ticket = world.ask("delete", ["one", "two"])
    world.write()
    assert ticket not in world.answers
    world.lose(KafkaError.COORDINATOR_NOT_AVAILABLE)
    answer = world.answers[ticket]
    assert isinstance(answer, DeleteGroupsResult)
    assert answer.errors == {"one": KafkaError.NONE, "two": KafkaError.COORDINATOR_NOT_AVAILABLE}
    assert world.coordinator.fetch_offsets("two", [T0]).offsets[T0] is not None


def test_a_deleted_group_stays_deleted() -> None:
    world = World()
    stable(world, "a")
    world.wait(60_000)
    world.write_all()
    world.answer("commit", commit(T0, T1))
    assert delete(world, "g") == {"g": KafkaError.NONE}
    world.restart()
    assert world.coordinator.group_state("g") is GroupState.DEAD
    assert offsets_by_group(world.coordinator) == {}


def test_a_member_that_joins_while_its_group_is_deleted_starts_without_offsets() -> None:
    world = World()
    world.answer("commit", commit())
    ticket = world.ask("delete", ["g"])
    joining = world.ask("join", join())
    world.write_all()
    world.settle()
    assert world.answers[ticket] == DeleteGroupsResult({"g": KafkaError.NONE})
    assert joining in world.answers
    assert world.coordinator.is_active("g")
    assert offsets_by_group(world.coordinator) == {}


def test_offsets_that_someone_reads_stay() -> None:
    world = World()
    world.answer("commit", commit(T0, U0))
    stable(world, "a")
    answer = delete_offsets(world, T0, U0, T1)
    assert answer is not None
    assert answer.errors == {
        T0: KafkaError.GROUP_SUBSCRIBED_TO_TOPIC,
        U0: KafkaError.NONE,
        T1: KafkaError.GROUP_SUBSCRIBED_TO_TOPIC,
    }
    assert set(world.coordinator.fetch_offsets("g", None).offsets) == {T0}


def test_offsets_of_an_empty_group_go_and_the_group_with_the_last() -> None:
    world = World()
    world.answer("commit", commit(T0, T1))
    assert delete_offsets(world, T0) == DeleteOffsetsResult(KafkaError.NONE, {T0: KafkaError.NONE})
    assert world.coordinator.group_state("g") is GroupState.EMPTY
    delete_offsets(world, T1)
    assert world.coordinator.group_state("g") is GroupState.DEAD


def test_offsets_that_do_not_exist_are_deleted_without_a_write() -> None:
    world = World()
    world.answer("commit", commit(T0))
    ticket = world.ticket("delete offsets")
    effects = world.coordinator.delete_offsets(ticket, "g", [T1], world.now)
    assert len(effects) == 1
    world.perform(effects)
    assert world.answers[ticket] == DeleteOffsetsResult(KafkaError.NONE, {T1: KafkaError.NONE})


def test_a_living_group_of_another_kind_keeps_all_its_offsets() -> None:
    world = World()
    world.answer("commit", commit(T0))
    stable(world, "a", protocol_type="connect")
    assert delete_offsets(world, T0) == DeleteOffsetsResult(KafkaError.NON_EMPTY_GROUP)


@pytest.mark.parametrize(
    ("group", "error"), [("", KafkaError.INVALID_GROUP_ID), ("none", KafkaError.GROUP_ID_NOT_FOUND)]
)
def test_offsets_of_no_group_cannot_be_deleted(group: str, error: KafkaError) -> None:
    assert delete_offsets(World(), T0, group=group) == DeleteOffsetsResult(error)


def test_a_lost_deletion_of_offsets_is_told() -> None:
    world = World()
    world.answer("commit", commit(T0))
    ticket = world.ticket("delete offsets")
    world.perform(world.coordinator.delete_offsets(ticket, "g", [T0], world.now))
    world.lose(KafkaError.NOT_COORDINATOR)
    assert world.answers[ticket] == DeleteOffsetsResult(KafkaError.NOT_COORDINATOR)
    assert set(world.coordinator.fetch_offsets("g", None).offsets) == {T0}
