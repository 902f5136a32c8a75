"""Who becomes a member, who comes back, who is turned away."""

from typing import Any

import pytest

from brokers.errors import KafkaError
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.group_state import GroupState
from brokers.groups.requests import HeartbeatRequest, JoinResult
from tests.playbooks.groups.consumer import subscription
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import join
from tests.unit.brokers.groups.stable import stable


def error_of(answer: object) -> KafkaError:
    assert isinstance(answer, JoinResult)
    return answer.error


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group": ""}, KafkaError.INVALID_GROUP_ID),
        ({"group": "g" * 32_768}, KafkaError.INVALID_GROUP_ID),
        ({"session_timeout_ms": 5_999}, KafkaError.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, KafkaError.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": -1}, KafkaError.INVALID_SESSION_TIMEOUT),
        ({"member_id": "nobody"}, KafkaError.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody", "instance_id": "i"}, KafkaError.UNKNOWN_MEMBER_ID),
        ({"protocols": ()}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "p" * 32_768}, KafkaError.INVALID_REQUEST),
        ({"instance_id": "\N{SNOWMAN}" * 11_000}, KafkaError.INVALID_REQUEST),
        ({"protocols": (("p" * 32_768, b""),)}, KafkaError.INVALID_REQUEST),
    ],
)
def test_what_cannot_join_is_told_why_and_leaves_nothing_behind(
    fields: dict[str, Any], error: KafkaError
) -> None:
    world = World()
    assert error_of(world.answer("join", join(**fields))) is error
    assert world.coordinator.list_groups().groups == ()


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"member_id": "nobody"}, KafkaError.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody", "instance_id": "i"}, KafkaError.UNKNOWN_MEMBER_ID),
        ({"protocols": (("other", b""),)}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": "connect"}, KafkaError.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_a_stable_group_is_not_troubled_by_those_who_cannot_join(
    fields: dict[str, Any], error: KafkaError
) -> None:
    world = World()
    stable(world, "a")
    assert error_of(world.answer("join", join(**fields))) is error
    assert world.coordinator.group_state("g") is GroupState.STABLE


def test_a_member_id_is_the_clients_name_and_something_unique() -> None:
    world = World()
    first = world.answer("join", join(client_id="kafkacat", requires_member_id=True))
    second = world.answer("join", join(client_id="kafkacat", requires_member_id=True))
    assert isinstance(first, JoinResult)
    assert isinstance(second, JoinResult)
    assert first.error is second.error is KafkaError.MEMBER_ID_REQUIRED
    assert first.member_id.startswith("kafkacat-")
    assert len(first.member_id) == len("kafkacat-") + 36
    assert first.member_id != second.member_id


def test_the_longest_names_make_member_ids_that_the_log_can_hold() -> None:
    world = World()
    (member,) = stable(world, "\N{SNOWMAN}" * 10_000)
    assert len(member.encode()) < 32_768
    world.restart()
    assert world.coordinator.describe(["g"])[0].members[0].member_id == member


def test_an_id_that_was_handed_out_expires_with_the_session_timeout() -> None:
    world = World()
    answer = world.answer("join", join(requires_member_id=True))
    assert isinstance(answer, JoinResult)
    world.wait(9_999)
    assert world.coordinator._manager.groups["g"].pending_members
    world.wait(1)
    late = world.answer("join", join(requires_member_id=True, member_id=answer.member_id))
    assert error_of(late) is KafkaError.UNKNOWN_MEMBER_ID


def test_an_id_given_to_a_dynamic_member_is_no_static_members() -> None:
    world = World()
    answer = world.answer("join", join(requires_member_id=True))
    assert isinstance(answer, JoinResult)
    late = world.answer("join", join(member_id=answer.member_id, instance_id="i"))
    assert error_of(late) is KafkaError.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_those_who_were_given_an_id() -> None:
    world = World()
    stable(world, "a")
    given = world.answer("join", join(client_id="b", requires_member_id=True))
    assert isinstance(given, JoinResult)
    a = world.coordinator.describe(["g"])[0].members[0].member_id
    waiting = world.ask("join", join(member_id=a))
    assert waiting not in world.answers
    world.ask("join", join(client_id="b", member_id=given.member_id, requires_member_id=True))
    join_result = world.answers[waiting]
    assert isinstance(join_result, JoinResult)
    assert len(join_result.members) == 2


def test_a_newcomer_without_a_shared_protocol_does_not_keep_the_others_waiting() -> None:
    world = World()
    (a,) = stable(world, "a")
    given = world.answer("join", join(client_id="b", requires_member_id=True))
    assert isinstance(given, JoinResult)
    waiting = world.ask("join", join(member_id=a))
    refused = join(member_id=given.member_id, protocols=(("other", b""),), requires_member_id=True)
    assert error_of(world.answer("join", refused)) is KafkaError.INCONSISTENT_GROUP_PROTOCOL
    assert waiting in world.answers


def test_the_sole_member_may_change_all_its_protocols() -> None:
    world = World()
    (a,) = stable(world, "a")
    answer = world.answer("join", join(member_id=a, protocols=(("other", b"x"),)))
    assert isinstance(answer, JoinResult)
    assert (answer.error, answer.protocol) == (KafkaError.NONE, "other")


def test_a_follower_that_lost_its_answer_gets_it_again_without_a_rebalance() -> None:
    world = World()
    a, b = stable(world, "a", "b")
    answer = world.answer("join", join(member_id=b, client_id="b"))
    assert isinstance(answer, JoinResult)
    assert (answer.generation, answer.leader, answer.members) == (1, a, ())
    assert world.coordinator.group_state("g") is GroupState.STABLE


def test_a_leader_that_joins_again_calls_a_rebalance() -> None:
    world = World()
    a, _ = stable(world, "a", "b")
    assert world.answer("join", join(member_id=a)) is None
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE


def test_a_member_that_lost_its_answer_while_the_leader_decides_gets_it_again() -> None:
    world = World()
    tickets = [world.ask("join", join(client_id=name)) for name in "ab"]
    world.settle()
    leader = world.answers[tickets[0]]
    assert isinstance(leader, JoinResult)
    again = world.answer("join", join(member_id=leader.member_id, client_id="a"))
    assert again == leader
    assert world.coordinator.group_state("g") is GroupState.COMPLETING_REBALANCE


def test_a_repeated_join_takes_the_place_of_the_first() -> None:
    world = World(GroupCoordinatorConfig(offsets_partitions=3))
    answer = world.answer("join", join(requires_member_id=True))
    assert isinstance(answer, JoinResult)
    request = join(requires_member_id=True, member_id=answer.member_id)
    first, second = world.ask("join", request), world.ask("join", request)
    assert error_of(world.answers[first]) is KafkaError.REBALANCE_IN_PROGRESS
    world.wait(3_000)
    assert error_of(world.answers[second]) is KafkaError.NONE


def test_a_static_member_that_restarts_while_it_waits_fences_its_former_self() -> None:
    world = World(GroupCoordinatorConfig(offsets_partitions=3))
    first = world.ask("join", join(instance_id="i"))
    second = world.ask("join", join(instance_id="i"))
    assert error_of(world.answers[first]) is KafkaError.FENCED_INSTANCE_ID
    world.wait(3_000)
    join_result = world.answers[second]
    assert isinstance(join_result, JoinResult)
    assert [member.instance_id for member in join_result.members] == ["i"]
    assert join_result.leader == join_result.member_id


def test_a_static_member_that_restarts_before_the_assignment_calls_everybody_again() -> None:
    world = World()
    tickets = [world.ask("join", join(client_id=name, instance_id=name)) for name in "ab"]
    world.settle()
    a, b = (world.answers[ticket] for ticket in tickets)
    assert isinstance(a, JoinResult)
    assert isinstance(b, JoinResult)
    assert world.answer("join", join(client_id="b", instance_id="b")) is None
    assert world.coordinator.group_state("g") is GroupState.PREPARING_REBALANCE


def test_a_static_member_whose_record_is_lost_is_told_and_tries_again() -> None:
    world = World()
    ids = stable(world, "a", instance_id="i")
    ticket = world.ask("join", join(instance_id="i"))
    world.lose(KafkaError.NOT_COORDINATOR)
    assert error_of(world.answers[ticket]) is KafkaError.NOT_COORDINATOR
    answer = world.answer("join", join(instance_id="i", supports_skipping_assignment=True))
    assert isinstance(answer, JoinResult)
    assert answer.skip_assignment
    assert answer.member_id not in ids


def test_an_older_static_leader_is_told_that_its_former_self_leads() -> None:
    """It would assign in vain otherwise: a stable group spreads no assignment."""
    world = World()
    (before,) = stable(world, "a", instance_id="i")
    answer = world.answer("join", join(instance_id="i"))
    assert isinstance(answer, JoinResult)
    assert (answer.leader, answer.members, answer.skip_assignment) == (before, (), False)


def test_only_the_topics_of_a_static_member_decide_whether_its_restart_is_news() -> None:
    """A sticky consumer's metadata changes with every generation, its subscription does not."""
    world = World()
    stable(world, "a", instance_id="i")
    restarted = join(instance_id="i", protocols=(("range", subscription(["t"], b"owned")),))
    assert isinstance(world.answer("join", restarted), JoinResult)
    assert world.coordinator.group_state("g") is GroupState.STABLE
    changed = join(instance_id="i", protocols=(("range", subscription(["t", "u"])),))
    answer = world.answer("join", changed)
    assert isinstance(answer, JoinResult)
    assert answer.generation == 2


def test_metadata_of_connect_is_opaque() -> None:
    world = World()
    connect: dict[str, Any] = {
        "protocol_type": "connect",
        "protocols": (("sessioned", b"\x00\x01"), ("eager", b"\xff")),
    }
    (worker,) = stable(world, "w", **connect)
    (found,) = world.coordinator.describe(["g"])
    assert found.protocol_type == "connect"
    assert found.members[0].metadata == b"\x00\x01"
    assert found.members[0].member_id == worker


def test_the_wait_for_newcomers_ends_with_the_rebalance_timeout() -> None:
    world = World(GroupCoordinatorConfig(initial_rebalance_delay_ms=3_000, offsets_partitions=3))
    first = world.ask("join", join(rebalance_timeout_ms=7_000))
    for _ in range(3):
        world.wait(2_000)
        world.ask("join", join(rebalance_timeout_ms=7_000))
    world.wait(999)
    assert first not in world.answers
    world.wait(1)
    join_result = world.answers[first]
    assert isinstance(join_result, JoinResult)
    assert len(join_result.members) == 4


def test_without_a_rebalance_timeout_the_session_timeout_does_for_both() -> None:
    world = World()
    stable(world, "a", rebalance_timeout_ms=-1)
    (member,) = world.coordinator._manager.groups["g"].members.values()
    assert member.rebalance_timeout_ms == 10_000


def test_members_follow_the_answer_of_their_own_generation_only() -> None:
    world = World()
    (a,) = stable(world, "a")
    world.answer("join", join(member_id=a, protocols=(("other", b""),)))
    beat = HeartbeatRequest(group="g", generation=1, member_id=a)
    answer = world.answer("heartbeat", beat)
    assert answer == type(answer)(KafkaError.ILLEGAL_GENERATION)
