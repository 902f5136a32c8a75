"""Who may commit, what is stored, and how long it lives."""

from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import GroupState
from brokers.groups.offset_commits import utf16_length
from brokers.groups.requests import CommitResult, LinkCommitResult
from brokers.ids import OffsetAndMetadata, TopicPartition
from brokers.region import GroupOffsetsChanged
from tests.playbooks.groups.world import World, offsets_by_group
from tests.unit.brokers.groups.requests import T0, T1, U0, commit, join
from tests.unit.brokers.groups.stable import stable


def told(answer: object) -> KafkaError:
    assert isinstance(answer, CommitResult)
    (error,) = set(answer.errors.values())
    return error


def preparing(world: World, member: str) -> None:
    world.ask("join", join(client_id="newcomer"))
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE


def completing(world: World, member: str) -> None:
    world.ask("join", join(client_id="a", member_id=member))
    assert world.coordinator.group_state("g") is GroupState.COMPLETING_REBALANCE


def nothing(world: World, member: str) -> None:
    assert world.coordinator.group_state("g") is GroupState.STABLE


@pytest.mark.parametrize(
    ("arrange", "fields", "error"),
    [
        (nothing, {"generation": 1}, KafkaError.NONE),
        (preparing, {"generation": 1}, KafkaError.NONE),
        (completing, {"generation": 2}, KafkaError.REBALANCE_IN_PROGRESS),
        (nothing, {"generation": 0}, KafkaError.ILLEGAL_GENERATION),
        (nothing, {"generation": 2}, KafkaError.ILLEGAL_GENERATION),
        (nothing, {"generation": -1}, KafkaError.ILLEGAL_GENERATION),
        (completing, {"generation": 1}, KafkaError.ILLEGAL_GENERATION),
        (nothing, {"generation": 1, "member_id": "nobody"}, KafkaError.UNKNOWN_MEMBER_ID),
        (nothing, {"generation": 1, "instance_id": "nobody"}, KafkaError.UNKNOWN_MEMBER_ID),
        (nothing, {"member_id": ""}, KafkaError.UNKNOWN_MEMBER_ID),
        (preparing, {"member_id": ""}, KafkaError.UNKNOWN_MEMBER_ID),
        (completing, {"member_id": ""}, KafkaError.UNKNOWN_MEMBER_ID),
    ],
)
def test_only_members_of_this_generation_commit_while_there_are_members(
    arrange: Any, fields: dict[str, Any], error: KafkaError
) -> None:
    world = World()
    (member,) = stable(world, "a")
    arrange(world, member)
    assert told(world.answer("commit", commit(**({"member_id": member} | fields)))) is error
    committed = world.coordinator.fetch_offsets("g", [T0]).offsets[T0]
    assert (committed is not None) == (error is KafkaError.NONE)


def test_an_empty_group_takes_commits_from_outside_and_none_from_former_members() -> None:
    world = World()
    (member,) = stable(world, "a")
    world.wait(60_000)
    world.write_all()
    assert world.coordinator.group_state("g") is GroupState.EMPTY
    former = commit(generation=1, member_id=member)
    assert told(world.answer("commit", former)) is KafkaError.UNKNOWN_MEMBER_ID
    assert told(world.answer("commit", commit())) is KafkaError.NONE


def test_a_generation_of_a_group_that_does_not_exist_is_nobodys() -> None:
    world = World()
    answer = world.answer("commit", commit(generation=0, member_id="m"))
    assert told(answer) is KafkaError.GROUP_ID_NOT_FOUND
    assert world.coordinator.list_groups().groups == ()


def test_a_fenced_instance_commits_nothing() -> None:
    world = World()
    (member,) = stable(world, "a", instance_id="i")
    answer = world.answer("commit", commit(generation=1, member_id="old", instance_id="i"))
    assert told(answer) is KafkaError.FENCED_INSTANCE_ID
    answer = world.answer("commit", commit(generation=1, member_id=member, instance_id="i"))
    assert told(answer) is KafkaError.NONE


def test_the_nameless_group_may_commit() -> None:
    world = World()
    assert told(world.answer("commit", commit(group=""))) is KafkaError.NONE
    assert world.coordinator.fetch_offsets("", [T0]).offsets[T0] is not None


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("x" * 4_096, KafkaError.NONE),
        ("x" * 4_097, KafkaError.OFFSET_METADATA_TOO_LARGE),
        ("\N{GRINNING FACE}" * 2_048, KafkaError.NONE),
        ("\N{GRINNING FACE}" * 2_049, KafkaError.OFFSET_METADATA_TOO_LARGE),
        ("", KafkaError.NONE),
        ("\x00 \t\n\N{SNOWMAN}", KafkaError.NONE),
    ],
)
def test_metadata_comes_back_exactly_or_is_refused(metadata: str, error: KafkaError) -> None:
    world = World()
    given = commit(offsets={T0: OffsetAndMetadata(1, 2, metadata), T1: OffsetAndMetadata(3)})
    answer = world.answer("commit", given)
    assert isinstance(answer, CommitResult)
    assert answer.errors == {T0: error, T1: KafkaError.NONE}
    world.restart()
    stored = world.coordinator.fetch_offsets("g", [T0, T1]).offsets
    expected = None if error else OffsetAndMetadata(1, 2, metadata, world.now)
    assert stored == {T0: expected, T1: OffsetAndMetadata(3, -1, "", world.now)}


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ("x" * 32_767, KafkaError.NONE),
        ("x" * 32_768, KafkaError.OFFSET_METADATA_TOO_LARGE),
        ("\N{SNOWMAN}" * 10_923, KafkaError.OFFSET_METADATA_TOO_LARGE),
    ],
)
def test_a_record_has_room_for_32767_bytes_of_metadata_whatever_the_node_allows(
    metadata: str, error: KafkaError
) -> None:
    world = World(GroupCoordinatorConfig(metadata_length_max=2**31 - 1, offsets_partitions=3))
    offset = OffsetAndMetadata(1, 2, metadata)
    assert told(world.answer("commit", commit(offsets={T0: offset}))) is error
    assert link(world, {T1: offset}) is error


def test_lengths_are_javas() -> None:
    assert utf16_length("a\N{SNOWMAN}\N{GRINNING FACE}") == 4


def test_a_commit_of_nothing_appends_nothing() -> None:
    world = World()
    answer = world.answer("commit", commit(offsets={}))
    assert answer == CommitResult({})
    assert world.coordinator.list_groups().groups == ()
    too_long = commit(offsets={T0: OffsetAndMetadata(1, metadata="x" * 5_000)})
    assert told(world.answer("commit", too_long)) is KafkaError.OFFSET_METADATA_TOO_LARGE
    assert world.coordinator.list_groups().groups == ()
    assert not world.in_flight


def test_an_offset_counts_when_it_is_committed_and_not_before() -> None:
    world = World()
    ticket = world.ask("commit", commit())
    assert ticket not in world.answers
    assert world.coordinator.fetch_offsets("g", [T0]).offsets == {T0: None}
    assert offsets_by_group(world.coordinator) == {}
    effects = world.write()
    assert isinstance(effects[0], GroupOffsetsChanged)
    assert effects[0].offsets == {T0: OffsetAndMetadata(5, committed_at=world.now)}
    assert told(world.answers[ticket]) is KafkaError.NONE
    assert offsets_by_group(world.coordinator) == {"g": dict(effects[0].offsets)}


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.COORDINATOR_NOT_AVAILABLE),
        (KafkaError.NOT_COORDINATOR, KafkaError.NOT_COORDINATOR),
        (KafkaError.MESSAGE_TOO_LARGE, KafkaError.INVALID_COMMIT_OFFSET_SIZE),
        (KafkaError.RECORD_LIST_TOO_LARGE, KafkaError.INVALID_COMMIT_OFFSET_SIZE),
    ],
)
def test_a_lost_commit_is_told_in_words_that_clients_know(
    failure: KafkaError, error: KafkaError
) -> None:
    world = World()
    world.answer("commit", commit(U0))
    ticket = world.ask("commit", commit())
    world.lose(failure)
    assert told(world.answers[ticket]) is error
    assert world.coordinator.fetch_offsets("g", None).offsets.keys() == {U0}


def test_unknown_partitions_and_groups_have_no_offset() -> None:
    world = World()
    assert world.coordinator.fetch_offsets("none", [T0]).offsets == {T0: None}
    assert world.coordinator.fetch_offsets("none", None).offsets == {}
    world.answer("commit", commit(U0))
    assert world.coordinator.fetch_offsets("g", [T0]).offsets == {T0: None}
    assert world.coordinator.fetch_offsets("g", []).offsets == {}


# --- links ---


def link(
    world: World, offsets: dict[TopicPartition, OffsetAndMetadata], group: str = "g"
) -> KafkaError:
    ticket = world.ticket("link")
    coordinator = world.coordinator
    world.perform(coordinator.commit_from_link(ticket, group, offsets, world.now))
    world.write_all()
    answer = world.answers[ticket]
    assert isinstance(answer, LinkCommitResult)
    return answer.error


def test_a_link_keeps_the_instant_of_the_sources_commit() -> None:
    world = World()
    offset = OffsetAndMetadata(5, 1, "m", 1_234)
    assert link(world, {T0: offset}) is KafkaError.NONE
    assert offsets_by_group(world.coordinator) == {"g": {T0: offset}}


def test_a_link_never_commits_over_members() -> None:
    world = World()
    stable(world, "a")
    assert world.coordinator.is_active("g")
    assert link(world, {T0: OffsetAndMetadata(5)}) is KafkaError.NON_EMPTY_GROUP
    world.wait(60_000)
    world.write_all()
    assert not world.coordinator.is_active("g")
    assert link(world, {T0: OffsetAndMetadata(5)}) is KafkaError.NONE


def test_a_link_that_commits_nothing_makes_no_group() -> None:
    world = World()
    assert link(world, {}) is KafkaError.NONE
    assert world.coordinator.group_state("g") is GroupState.DEAD


def test_a_link_hears_of_a_lost_write_and_of_a_missing_coordinator() -> None:
    world = World()
    ticket = world.ticket("link")
    effects = world.coordinator.commit_from_link(ticket, "g", {T0: OffsetAndMetadata(5)}, world.now)
    world.perform(effects)
    world.lose(KafkaError.NOT_COORDINATOR)
    assert world.answers[ticket] == LinkCommitResult(KafkaError.NOT_COORDINATOR)
    elsewhere = World(loaded=False)
    assert link(elsewhere, {T0: OffsetAndMetadata(5)}) is KafkaError.NOT_COORDINATOR
