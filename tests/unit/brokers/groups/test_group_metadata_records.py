"""A group as a record, and back; also when the record makes no sense."""

from dataclasses import replace

import pytest

from brokers.groups.classic_group import ClassicGroup
from brokers.groups.group_metadata_records import (
    new_empty_group_metadata_record,
    new_group_metadata_record,
    restore,
)
from brokers.groups.group_state import GroupState
from brokers.groups.records import GroupImage, MemberImage


def member(name: str, instance_id: str | None = None) -> MemberImage:
    return MemberImage(
        id=name,
        instance_id=instance_id,
        client_id="c",
        client_host="/h",
        rebalance_timeout_ms=7,
        session_timeout_ms=8,
        subscription=b"sub",
        assignment=name.encode(),
    )


IMAGE = GroupImage(
    protocol_type="consumer",
    generation=4,
    protocol="range",
    leader="b",
    state_timestamp=5,
    members=(member("a", "i"), member("b")),
)


def restored(image: GroupImage) -> ClassicGroup:
    group = ClassicGroup("g", 0)
    restore(group, image)
    return group


def test_a_group_comes_back_as_it_was() -> None:
    group = restored(IMAGE)
    assert group.state is GroupState.STABLE
    assert group.leader == "b"
    assert group.static_members == {"i": "a"}
    assert group.select_protocol() == "range"
    assignments = {each.id: each.assignment for each in group.members.values()}
    assert new_group_metadata_record(group, assignments, 5).image == IMAGE


def test_a_group_without_members_is_empty() -> None:
    empty = replace(IMAGE, members=(), leader=None, protocol=None)
    group = restored(empty)
    assert group.state is GroupState.EMPTY
    assert new_empty_group_metadata_record(group).image == empty


def test_a_later_record_leaves_nothing_of_an_earlier_one() -> None:
    group = restored(IMAGE)
    later = replace(IMAGE, members=(member("c", "j"),), leader="c", protocol="sticky")
    restore(group, later)
    assert list(group.members) == ["c"]
    assert group.static_members == {"j": "c"}
    assert group.supported_protocols == {"sticky": 1}


def test_a_member_without_an_id_is_nobody() -> None:
    group = restored(replace(IMAGE, members=(member(""), member("b"))))
    assert list(group.members) == ["b"]
    assert restored(replace(IMAGE, members=(member(""),))).state is GroupState.EMPTY


@pytest.mark.parametrize(
    "members",
    [
        (member("a"), member("a")),
        (member("a", "i"), member("b", "i")),
        (member("a"), member("a", "i"), member("b", "i")),
    ],
)
def test_names_that_come_twice_count_once(members: tuple[MemberImage, ...]) -> None:
    group = restored(replace(IMAGE, members=members))
    for each in list(group.members.values()):
        group.remove(each)
    assert not group.members
    assert not group.static_members
    assert not group.supported_protocols


def test_where_a_stranger_led_the_first_member_does() -> None:
    assert restored(replace(IMAGE, leader="stranger")).leader == "a"
    assert restored(replace(IMAGE, leader=None)).leader == "a"


def test_a_time_that_was_not_recorded_is_none() -> None:
    assert restored(replace(IMAGE, state_timestamp=-1)).state_timestamp is None
