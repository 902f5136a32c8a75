"""From the log to groups, and what is asked meanwhile."""

import struct
from typing import Any

import pytest

from brokers.effects import Changed
from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.groups.records import GroupImage, GroupMetadataRecord, OffsetCommitRecord, encode
from brokers.groups.requests import (
    CommitResult,
    DeleteGroupsResult,
    DeleteOffsetsResult,
    HeartbeatRequest,
    HeartbeatResult,
    JoinResult,
    LeaveRequest,
    LeaveResult,
    LinkCommitResult,
    MemberName,
    SyncRequest,
    SyncResult,
)
from brokers.ids import OffsetAndMetadata
from brokers.region import GroupOffsetsChanged
from tests.playbooks.groups.world import Stored, World, offsets_by_group, opened
from tests.unit.brokers.groups.requests import T0, T1, U0, commit, join
from tests.unit.brokers.groups.stable import stable


def answers_of(world: World) -> list[tuple[str, KafkaError]]:
    """What everyone is told of group `g`, whose coordinator is not ready."""
    asked: list[tuple[str, Any]] = [
        ("join", join()),
        ("sync", SyncRequest(group="g", generation=1, member_id="m")),
        ("heartbeat", HeartbeatRequest(group="g", generation=1, member_id="m")),
        ("leave", LeaveRequest("g", (MemberName("m"),))),
        ("commit", commit()),
        ("delete", ["g"]),
    ]
    told = []
    for verb, request in asked:
        match world.answer(verb, request):
            case JoinResult() | SyncResult() | HeartbeatResult() | LeaveResult() as answer:
                told.append((verb, answer.error))
            case CommitResult(errors):
                told += [(verb, error) for error in errors.values()]
            case DeleteGroupsResult(errors):
                told += [(verb, error) for error in errors.values()]
    for verb, arguments in (
        ("delete_offsets", [T0]),
        ("commit_from_link", {T0: OffsetAndMetadata(1)}),
    ):
        ticket = world.ticket(verb)
        world.perform(getattr(world.coordinator, verb)(ticket, "g", arguments, world.now))
        answer = world.answers[ticket]
        assert isinstance(answer, DeleteOffsetsResult | LinkCommitResult)
        told.append((verb, answer.error))
    told.append(("fetch", world.coordinator.fetch_offsets("g", [T0]).error))
    told.append(("describe", world.coordinator.describe(["g"])[0].error))
    return told


def test_a_partition_that_is_not_here_is_not_coordinated_here() -> None:
    told = answers_of(World(loaded=False))
    assert len(told) == 10
    assert {error for _, error in told} == {KafkaError.NOT_COORDINATOR}


def test_while_a_partition_is_loaded_everyone_waits_but_members_are_not_troubled() -> None:
    world = World(loaded=False)
    for partition in world.log:
        world.coordinator.start_loading(partition)
    told = dict(answers_of(world))
    assert told.pop("heartbeat") is KafkaError.NONE
    assert len(told) == 9
    assert set(told.values()) == {KafkaError.COORDINATOR_LOAD_IN_PROGRESS}
    listing = world.coordinator.list_groups()
    assert listing.error is KafkaError.COORDINATOR_LOAD_IN_PROGRESS


def test_one_partition_serves_while_another_is_loaded() -> None:
    world = World(loaded=False)
    home = world.coordinator.partition_for("g")
    for partition in world.log:
        world.coordinator.start_loading(partition)
    world.perform(world.coordinator.finish_loading(home, world.now))
    assert world.answer("commit", commit()) == CommitResult({T0: KafkaError.NONE})
    listing = world.coordinator.list_groups()
    assert listing.error is KafkaError.COORDINATOR_LOAD_IN_PROGRESS
    assert [group.group for group in listing.groups] == ["g"]


def test_records_may_come_in_pieces() -> None:
    world = World()
    stable(world, "a", "b")
    world.answer("commit", commit(U0, group="s"))
    other = World(world.config, loaded=False)
    for partition, records in world.log.items():
        other.coordinator.start_loading(partition)
        for record in records:
            other.coordinator.replay(partition, opened([record]))
        other.perform(other.coordinator.finish_loading(partition, other.now))
    assert other.coordinator.describe(["g", "s"]) == world.coordinator.describe(["g", "s"])
    assert offsets_by_group(other.coordinator) == offsets_by_group(world.coordinator)


def test_loading_begins_again_when_the_log_is_opened_again() -> None:
    world = World()
    world.answer("commit", commit(T0, T1))
    home = world.coordinator.partition_for("g")
    other = World(world.config, loaded=False)
    other.coordinator.start_loading(home)
    other.coordinator.replay(home, opened(world.log[home][:1]))
    other.perform(other.coordinator.unload(home, other.now))
    other.coordinator.start_loading(home)
    other.coordinator.replay(home, opened(world.log[home]))
    other.perform(other.coordinator.finish_loading(home, other.now))
    assert set(other.coordinator.fetch_offsets("g", None).offsets) == {T0, T1}


def test_the_last_word_on_a_key_counts() -> None:
    world = World(loaded=False)
    home = world.coordinator.partition_for("g")
    offsets = [OffsetAndMetadata(1), None, OffsetAndMetadata(2), OffsetAndMetadata(3), None]
    world.log[home] = [Stored(*encode(OffsetCommitRecord("g", T0, offset))) for offset in offsets]
    world.log[home] += [
        Stored(*encode(OffsetCommitRecord("g", T1, offset))) for offset in offsets[:4]
    ]
    world.load()
    assert offsets_by_group(world.coordinator) == {"g": {T1: OffsetAndMetadata(3)}}


def test_groups_of_which_nothing_is_left_are_not_there() -> None:
    world = World(loaded=False)
    home = world.coordinator.partition_for("g")
    world.log[home] = [Stored(*encode(OffsetCommitRecord("g", T0, None)))]
    world.load()
    assert world.coordinator.list_groups().groups == ()


def test_records_of_other_kinds_are_skipped_and_damaged_ones_reported() -> None:
    world = World()
    world.answer("commit", commit())
    home = world.coordinator.partition_for("g")
    foreign = [
        Stored(struct.pack(">h", kind) + b"...", b"...") for kind in (3, 4, 5, 6, 7, 8, 16, 99)
    ]
    damaged = [
        Stored(b"", b""),
        Stored(struct.pack(">h", 1) + b"\x00", b""),
        Stored(struct.pack(">h", 2), None),
    ]
    world.log[home] = [*foreign, *damaged, *world.log[home]]
    world.restart()
    assert set(world.coordinator.fetch_offsets("g", None).offsets) == {T0}
    reports = [effect for effect in world.told if isinstance(effect, Changed)]
    assert [(each.to, each.why.split()[0]) for each in reports] == [("partly unreadable", "3")]


def test_whoever_follows_offsets_hears_what_was_loaded() -> None:
    world = World()
    world.answer("commit", commit(T0, U0))
    world.answer("commit", commit(T1, group="h"))
    world.answer("delete", ["h"])
    seen = len(world.told)
    world.restart()
    heard = [each for each in world.told[seen:] if isinstance(each, GroupOffsetsChanged)]
    assert heard == [GroupOffsetsChanged("g", offsets_by_group(world.coordinator)["g"])]


def test_sessions_begin_anew_after_a_restart() -> None:
    world = World()
    stable(world, "a")
    world.wait(9_999)
    world.restart()
    world.wait(9_999)
    assert world.coordinator.group_state("g") is GroupState.STABLE
    world.wait(1)
    assert world.coordinator.group_state("g") is GroupState.EMPTY


def test_generations_go_on_after_a_restart() -> None:
    world = World()
    stable(world, "a")
    world.wait(60_000)
    world.write_all()
    world.restart()
    ticket = world.ask("join", join())
    world.settle()
    answer = world.answers[ticket]
    assert isinstance(answer, JoinResult)
    assert answer.generation == 3, "1 was stable, 2 was empty"


def test_a_group_that_came_with_another_partition_outlives_a_lost_commit_of_its_namesake() -> None:
    """The topic has grown: its old partition and its new one both know the group, and come to one node."""
    world = World(loaded=False)
    home = world.coordinator.partition_for("g")
    world.load_partition(home, [])
    world.ask("commit", commit(T0))
    offset = OffsetAndMetadata(3)
    records = [Stored(*encode(OffsetCommitRecord("g", T1, offset)))]
    world.load_partition((home + 1) % 3, records)
    world.lose()
    assert offsets_by_group(world.coordinator) == {"g": {T1: offset}}


@pytest.mark.parametrize("generation", [2**31 - 1, -(2**31)])
def test_after_the_last_generation_comes_the_first(generation: int) -> None:
    world = World(loaded=False)
    image = GroupImage(
        protocol_type="consumer",
        generation=generation,
        protocol=None,
        leader=None,
        state_timestamp=0,
        members=(),
    )
    home = world.coordinator.partition_for("g")
    world.log[home] = [Stored(*encode(GroupMetadataRecord("g", image)))]
    world.load()
    ticket = world.ask("join", join())
    world.settle()
    answer = world.answers[ticket]
    assert isinstance(answer, JoinResult)
    assert answer.generation == 1
    asked = SyncRequest(group="g", generation=1, member_id=answer.member_id)
    assert world.answer("sync", asked) == SyncResult(
        protocol_type="consumer", protocol="range", assignment=b""
    )


def test_an_unloaded_partition_answers_whoever_waits_and_forgets_its_timers() -> None:
    world = World()
    stable(world, "a", "b")
    joining = world.ask("join", join(client_id="c"))
    committing = world.ask("commit", commit(group="s"))
    for partition in world.log:
        world.unload(partition)
    for ticket in (joining, committing):
        assert ticket in world.answers
    answer = world.answers[joining]
    assert isinstance(answer, JoinResult)
    assert answer.error is KafkaError.NOT_COORDINATOR
    assert world.answers[committing] == CommitResult({T0: KafkaError.NOT_COORDINATOR})
    seen = len(world.told)
    world.wait(3_600_000)
    assert world.told[seen:] == []


def test_a_group_stays_where_it_is_when_the_topic_grows() -> None:
    world = World()
    home = world.coordinator.partition_for("g")
    world.answer("commit", commit())
    bigger = next(count for count in range(4, 100) if _home(world, count) != home)
    for partition in range(3, bigger):
        world.log[partition] = []
    world.restart()
    world.coordinator.set_partition_count(bigger)
    assert world.coordinator.partition_for("g") != home
    assert set(world.coordinator.fetch_offsets("g", None).offsets) == {T0}
    world.ask("commit", commit(T1))
    assert world.in_flight[0].partition == home


def _home(world: World, partitions: int) -> int:
    world.coordinator.set_partition_count(partitions)
    return world.coordinator.partition_for("g")


@pytest.mark.parametrize("step", ["replay", "finish_loading"])
def test_a_loaded_partition_takes_no_more_records(step: str) -> None:
    world = World()
    arguments = [0, []] if step == "replay" else [0, world.now]
    with pytest.raises(AssertionError, match="loaded already"):
        getattr(world.coordinator, step)(*arguments)
