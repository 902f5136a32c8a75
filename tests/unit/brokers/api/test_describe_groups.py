"""DescribeGroups, ListGroups and DeleteGroups in every version."""

import pytest

from brokers.api import delete_groups, describe_groups, list_groups
from brokers.errors import KafkaError
from brokers.wire.messages.group_admin import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from tests.unit.brokers.api.group_node import GroupNode
from tests.unit.brokers.groups.requests import commit
from tests.unit.brokers.groups.stable import stable

INT32_MIN = -(2**31)


@pytest.mark.parametrize("version", range(7))
def test_a_stable_group_is_described(version: int) -> None:
    node = GroupNode()
    (member_id,) = stable(node.world, "a", instance_id="i")
    (group,) = node.ask(describe_groups, version, DescribeGroupsRequest(groups=["g"])).groups
    assert (group.error_code, group.group_id, group.group_state) == (0, "g", "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    (member,) = group.members
    assert (member.member_id, member.client_id) == (member_id, "a")
    assert bytes(member.member_assignment) == b"a"
    assert member.group_instance_id == ("i" if version >= 4 else None)
    assert group.authorized_operations == INT32_MIN


@pytest.mark.parametrize("version", range(7))
def test_an_unknown_group_is_dead_and_from_6_on_not_found(version: int) -> None:
    node = GroupNode()
    (group,) = node.ask(describe_groups, version, DescribeGroupsRequest(groups=["none"])).groups
    assert group.group_state == "Dead"
    if version < 6:
        assert group.error_code == 0
    else:
        assert group.error_code == KafkaError.GROUP_ID_NOT_FOUND
        assert group.error_message == "Group none not found."


@pytest.mark.parametrize("version", range(7))
def test_a_coordinator_that_is_not_ready_says_so(version: int) -> None:
    node = GroupNode(loaded=False)
    (group,) = node.ask(describe_groups, version, DescribeGroupsRequest(groups=["g"])).groups
    assert (group.error_code, group.group_state) == (KafkaError.NOT_COORDINATOR, "")


def test_everything_is_allowed_where_nobody_guards() -> None:
    node = GroupNode()
    stable(node.world, "a")
    request = DescribeGroupsRequest(groups=["g", "none"], include_authorized_operations=True)
    known, unknown = node.ask(describe_groups, 6, request).groups
    assert known.authorized_operations == 1 << 3 | 1 << 6 | 1 << 8
    assert unknown.authorized_operations == INT32_MIN


@pytest.mark.parametrize("version", range(6))
def test_groups_are_listed(version: int) -> None:
    node = GroupNode()
    stable(node.world, "a")
    node.world.answer("commit", commit(group="s"))
    answer = node.ask(list_groups, version, ListGroupsRequest())
    listed = {group.group_id: group for group in answer.groups}
    assert {name: group.protocol_type for name, group in listed.items()} == {
        "g": "consumer",
        "s": "",
    }
    assert listed["g"].group_state == ("Stable" if version >= 4 else "")
    assert listed["s"].group_type == ("Classic" if version >= 5 else "")


def test_lists_are_filtered() -> None:
    node = GroupNode()
    stable(node.world, "a")
    for states, types, expected in (
        (["Stable"], [], 1),
        (["Empty"], [], 0),
        ([], ["classic"], 1),
        ([], ["consumer"], 0),
    ):
        request = ListGroupsRequest(states_filter=states, types_filter=types)
        assert len(node.ask(list_groups, 5, request).groups) == expected


@pytest.mark.parametrize("version", range(3))
def test_every_group_asked_for_is_answered(version: int) -> None:
    node = GroupNode()
    stable(node.world, "a")
    node.world.answer("commit", commit(group="s"))
    request = DeleteGroupsRequest(groups_names=["none", "s", "g"])
    answer = node.ask(delete_groups, version, request)
    assert [(each.group_id, each.error_code) for each in answer.results] == [
        ("none", KafkaError.GROUP_ID_NOT_FOUND),
        ("s", KafkaError.NONE),
        ("g", KafkaError.NON_EMPTY_GROUP),
    ]
    assert node.ask(delete_groups, version, DeleteGroupsRequest(groups_names=[])).results == []
