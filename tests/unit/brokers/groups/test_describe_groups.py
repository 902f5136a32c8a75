"""What administrators see."""

import pytest

from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.groups.requests import GroupDescription
from tests.playbooks.groups.consumer import subscription
from tests.playbooks.groups.world import World
from tests.unit.brokers.groups.requests import commit, join
from tests.unit.brokers.groups.stable import stable


def test_a_stable_group_shows_all_of_its_members() -> None:
    world = World()
    a, b = stable(world, "a", "b", client_host="/10.0.0.1")
    (found,) = world.coordinator.describe(["g"])
    assert (found.state, found.protocol_type, found.protocol) == (
        GroupState.STABLE,
        "consumer",
        "range",
    )
    assert [member.member_id for member in found.members] == [a, b]
    assert [member.assignment for member in found.members] == [b"a", b"b"]
    assert {member.metadata for member in found.members} == {subscription(["t"])}
    assert {member.client_host for member in found.members} == {"/10.0.0.1"}


def test_a_group_in_motion_shows_who_is_there_and_nothing_unsettled() -> None:
    world = World()
    stable(world, "a")
    world.ask("join", join(client_id="b", instance_id="i"))
    (found,) = world.coordinator.describe(["g"])
    assert (found.state, found.protocol) == (GroupState.PREPARING_REBALANCE, "")
    assert [member.instance_id for member in found.members] == [None, "i"]
    assert {member.metadata + member.assignment for member in found.members} == {b""}


def test_unknown_groups_are_described_in_order() -> None:
    found = World().coordinator.describe(["b", "a", ""])
    assert [each.group for each in found] == ["b", "a", ""]
    assert {each.error for each in found} == {KafkaError.GROUP_ID_NOT_FOUND}


@pytest.mark.parametrize(
    ("states", "types", "expected"),
    [
        ([], [], ["g", "s"]),
        (["Stable"], [], ["g"]),
        (["EMPTY", "dead"], [], ["s"]),
        (["Stable", "Empty"], ["classic"], ["g", "s"]),
        ([], ["Classic"], ["g", "s"]),
        ([], ["consumer"], []),
        ([], ["consumer", "classic"], ["g", "s"]),
        (["NoSuchState"], [], []),
    ],
)
def test_lists_are_filtered_by_state_and_type(
    states: list[str], types: list[str], expected: list[str]
) -> None:
    world = World()
    stable(world, "a")
    world.answer("commit", commit(group="s"))
    listing = world.coordinator.list_groups(states, types)
    assert listing.error is KafkaError.NONE
    assert sorted(group.group for group in listing.groups) == expected


def test_a_standalone_group_has_no_protocol_type() -> None:
    world = World()
    world.answer("commit", commit())
    (group,) = world.coordinator.list_groups().groups
    assert (group.protocol_type, group.state) == ("", GroupState.EMPTY)
    assert world.coordinator.describe(["g"]) == [
        GroupDescription(group="g", state=GroupState.EMPTY)
    ]
