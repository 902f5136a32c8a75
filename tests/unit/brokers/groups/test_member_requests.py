"""Sync, heartbeat and leave: every state against every question, and names that are nobody's."""

import pytest

from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.groups.requests import (
    HeartbeatRequest,
    HeartbeatResult,
    JoinResult,
    LeaveRequest,
    LeaveResult,
    MemberName,
    SyncRequest,
    SyncResult,
)
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import join
from tests.unit.brokers.groups.stable import stable


def heartbeat(world: World, member: str, generation: int = 1, **more: str | None) -> KafkaError:
    request = HeartbeatRequest(group="g", generation=generation, member_id=member, **more)  # type: ignore[arg-type]
    answer = world.answer("heartbeat", request)
    assert isinstance(answer, HeartbeatResult)
    return answer.error


def sync(world: World, member: str, generation: int = 1, **more: str | None) -> SyncResult | None:
    request = SyncRequest(group="g", generation=generation, member_id=member, **more)  # type: ignore[arg-type]
    answer = world.answer("sync", request)
    assert answer is None or isinstance(answer, SyncResult)
    return answer


def leave(world: World, *names: MemberName) -> LeaveResult:
    answer = world.answer("leave", LeaveRequest("g", names))
    assert isinstance(answer, LeaveResult)
    return answer


@pytest.mark.parametrize("verb", ["sync", "heartbeat", "leave"])
def test_a_group_needs_a_name_and_must_exist(verb: str) -> None:
    world = World()
    for group, error in (("", KafkaError.INVALID_GROUP_ID), ("none", KafkaError.UNKNOWN_MEMBER_ID)):
        requests = {
            "sync": SyncRequest(group=group, generation=1, member_id="m"),
            "heartbeat": HeartbeatRequest(group=group, generation=1, member_id="m"),
            "leave": LeaveRequest(group, (MemberName("m"),)),
        }
        answer = world.answer(verb, requests[verb])
        assert isinstance(answer, SyncResult | HeartbeatResult | LeaveResult)
        assert answer.error is error


def test_names_and_generations_are_checked_before_anything_else() -> None:
    world = World()
    (member,) = stable(world, "a", instance_id="i")
    assert heartbeat(world, "nobody") is KafkaError.UNKNOWN_MEMBER_ID
    assert heartbeat(world, member, instance_id="nobody") is KafkaError.UNKNOWN_MEMBER_ID
    assert heartbeat(world, "nobody", instance_id="i") is KafkaError.FENCED_INSTANCE_ID
    assert heartbeat(world, member, generation=0) is KafkaError.ILLEGAL_GENERATION
    assert heartbeat(world, member, generation=2) is KafkaError.ILLEGAL_GENERATION
    assert heartbeat(world, member, instance_id="i") is KafkaError.NONE
    assert heartbeat(world, member) is KafkaError.NONE
    refused = sync(world, "nobody", instance_id="i")
    assert refused == SyncResult(error=KafkaError.FENCED_INSTANCE_ID)
    assert sync(world, member, generation=9) == SyncResult(error=KafkaError.ILLEGAL_GENERATION)


def test_a_member_of_a_stable_group_may_ask_for_its_assignment_again() -> None:
    world = World()
    a, b = stable(world, "a", "b")
    told = sync(world, b, protocol_type="consumer", protocol="range")
    assert told == SyncResult(protocol_type="consumer", protocol="range", assignment=b"b")
    assert sync(world, a) == SyncResult(protocol_type="consumer", protocol="range", assignment=b"a")


@pytest.mark.parametrize(("name", "value"), [("protocol_type", "connect"), ("protocol", "sticky")])
def test_a_sync_for_another_protocol_is_refused(name: str, value: str) -> None:
    world = World()
    (a,) = stable(world, "a")
    assert sync(world, a, **{name: value}) == SyncResult(
        error=KafkaError.INCONSISTENT_GROUP_PROTOCOL
    )


def test_a_group_that_prepares_sends_everybody_to_join() -> None:
    world = World()
    a, b = stable(world, "a", "b")
    world.ask("join", join(client_id="c"))
    assert heartbeat(world, a) is KafkaError.REBALANCE_IN_PROGRESS
    assert sync(world, b) == SyncResult(error=KafkaError.REBALANCE_IN_PROGRESS)


def test_members_may_beat_while_the_leader_decides() -> None:
    world = World()
    ticket = world.ask("join", join())
    world.settle()
    join_result = world.answers[ticket]
    assert isinstance(join_result, JoinResult)
    assert heartbeat(world, join_result.member_id) is KafkaError.NONE


def test_those_whom_the_leader_forgot_get_nothing() -> None:
    world = World()
    tickets = [world.ask("join", join(client_id=name)) for name in "ab"]
    world.settle()
    a, b = (world.answers[ticket] for ticket in tickets)
    assert isinstance(a, JoinResult)
    assert isinstance(b, JoinResult)
    decided = SyncRequest(
        group="g",
        generation=1,
        member_id=a.member_id,
        assignments={a.member_id: b"all", "stranger": b"some"},
    )
    world.answer("sync", decided)
    told = sync(world, b.member_id)
    assert told is not None
    assert (told.error, told.assignment) == (KafkaError.NONE, b"")


def test_a_leader_that_repeats_itself_is_answered_once_and_its_first_decision_counts() -> None:
    world = World()
    ticket = world.ask("join", join())
    world.settle()
    join_result = world.answers[ticket]
    assert isinstance(join_result, JoinResult)
    decisions = [
        SyncRequest(
            group="g",
            generation=1,
            member_id=join_result.member_id,
            assignments={join_result.member_id: part},
        )
        for part in (b"one", b"two")
    ]
    first, second = (world.ask("sync", decision) for decision in decisions)
    assert world.answers[first] == SyncResult(error=KafkaError.REBALANCE_IN_PROGRESS)
    assert len(world.in_flight) == 1
    world.write_all()
    told = world.answers[second]
    assert isinstance(told, SyncResult)
    assert told.assignment == b"one"


def test_many_leave_at_the_price_of_one_rebalance() -> None:
    world = World()
    a, b, c = stable(world, "a", "b", "c")
    answer = leave(world, MemberName(a), MemberName("nobody"), MemberName(b), MemberName(""))
    assert [error.name for _, error in answer.members] == [
        "NONE",
        "UNKNOWN_MEMBER_ID",
        "NONE",
        "UNKNOWN_MEMBER_ID",
    ]
    assert answer.error is KafkaError.NONE
    join_result = world.answer("join", join(member_id=c, client_id="c"))
    assert isinstance(join_result, JoinResult)
    assert (join_result.generation, join_result.leader) == (2, c)


def test_a_static_member_leaves_by_its_instance_or_by_both_names() -> None:
    world = World()
    a, _ = stable(world, "a", "b", instance_id=None)
    static = world.ask("join", join(client_id="s", instance_id="s"))
    for name in (MemberName(a, "s"), MemberName("nobody", "s")):
        assert leave(world, name).members == ((name, KafkaError.FENCED_INSTANCE_ID),)
    unknown = MemberName("", "nobody")
    assert leave(world, unknown).members == ((unknown, KafkaError.UNKNOWN_MEMBER_ID),)
    by_instance = MemberName("", "s")
    assert leave(world, by_instance).members == ((by_instance, KafkaError.NONE),)
    told = world.answers[static]
    assert isinstance(told, JoinResult)
    assert told.error is KafkaError.UNKNOWN_MEMBER_ID


def test_an_id_that_was_handed_out_can_be_given_back() -> None:
    world = World()
    (a,) = stable(world, "a")
    given = world.answer("join", join(client_id="b", requires_member_id=True))
    assert isinstance(given, JoinResult)
    waiting = world.ask("join", join(member_id=a))
    wrong = MemberName(given.member_id, "instance")
    assert leave(world, wrong).members == ((wrong, KafkaError.UNKNOWN_MEMBER_ID),)
    assert waiting not in world.answers
    right = MemberName(given.member_id)
    assert leave(world, right).members == ((right, KafkaError.NONE),)
    assert waiting in world.answers


def test_giving_an_id_back_troubles_nobody() -> None:
    world = World()
    stable(world, "a")
    given = world.answer("join", join(client_id="b", requires_member_id=True))
    assert isinstance(given, JoinResult)
    leave(world, MemberName(given.member_id))
    assert world.coordinator.group_state("g") is GroupState.STABLE


def test_leaving_nothing_changes_nothing() -> None:
    world = World()
    stable(world, "a")
    assert leave(world) == LeaveResult(KafkaError.NONE, ())
    assert world.coordinator.group_state("g") is GroupState.STABLE


def test_a_leaving_member_that_waits_for_its_assignment_is_answered() -> None:
    world = World()
    tickets = [world.ask("join", join(client_id=name)) for name in "ab"]
    world.settle()
    b = world.answers[tickets[1]]
    assert isinstance(b, JoinResult)
    waiting = world.ask("sync", SyncRequest(group="g", generation=1, member_id=b.member_id))
    leave(world, MemberName(b.member_id))
    assert world.answers[waiting] == SyncResult(error=KafkaError.UNKNOWN_MEMBER_ID)
