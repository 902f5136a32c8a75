"""JoinGroup, and with it SyncGroup, Heartbeat and LeaveGroup, in every version."""

import pytest

from brokers.api import heartbeat, join_group, leave_group, sync_group
from brokers.errors import KafkaError
from brokers.wire.messages.groups import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.unit.brokers.api.group_node import GroupNode

FIRST, LAST = join_group.VERSIONS


def asked(member_id: str = "", **fields) -> JoinGroupRequest:
    protocol = JoinGroupRequestProtocol(name="range", metadata=memoryview(b"bytes"))
    settled = {"group_id": "g", "session_timeout_ms": 10_000, "protocol_type": "consumer"}
    return JoinGroupRequest(
        **(settled | {"protocols": [protocol], "member_id": member_id} | fields)
    )


def joined(node: GroupNode, version: int, **fields):
    answer = node.ask(join_group, version, asked(**fields))
    if answer is not None and answer.error_code == KafkaError.MEMBER_ID_REQUIRED:
        answer = node.ask(join_group, version, asked(answer.member_id, **fields))
    return answer or node.wait(join_group, version, 0)


@pytest.mark.parametrize("version", range(FIRST, LAST + 1))
def test_a_member_is_given_its_id_first_only_where_it_knows_how(version: int) -> None:
    answer = GroupNode().ask(join_group, version, asked())
    if version < 4:
        assert answer is None
    else:
        assert answer.error_code == KafkaError.MEMBER_ID_REQUIRED
        assert answer.member_id.startswith("client-")
        assert answer.protocol_name == (None if version >= 7 else "")


@pytest.mark.parametrize("version", range(FIRST, LAST + 1))
def test_the_leader_learns_of_its_members(version: int) -> None:
    answer = joined(GroupNode(), version)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert answer.leader == answer.member_id
    ((member),) = answer.members
    assert (member.member_id, bytes(member.metadata)) == (answer.member_id, b"bytes")
    assert not answer.skip_assignment


@pytest.mark.parametrize("version", range(FIRST, LAST + 1))
def test_a_refusal_has_the_shape_of_its_version(version: int) -> None:
    answer = GroupNode().ask(join_group, version, asked(session_timeout_ms=1))
    assert answer.error_code == KafkaError.INVALID_SESSION_TIMEOUT
    assert answer.generation_id == -1
    assert answer.protocol_name == (None if version >= 7 else "")
    assert answer.members == []


@pytest.mark.parametrize("version", range(5, LAST + 1))
def test_a_static_leader_that_restarts_may_skip_the_assignment_from_9_on(version: int) -> None:
    node = GroupNode()
    first = joined(node, version, group_instance_id="i")
    sync = sync_of(first)
    node.ask(sync_group, 5, sync)
    again = joined(node, version, group_instance_id="i")
    assert again.error_code == 0
    assert again.member_id != first.member_id
    assert again.skip_assignment == (version >= 9)
    assert again.leader == (again.member_id if version >= 9 else first.member_id)


def sync_of(answer, **fields) -> SyncGroupRequest:
    settled = {
        "group_id": "g",
        "generation_id": answer.generation_id,
        "member_id": answer.member_id,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [
            SyncGroupRequestAssignment(member_id=answer.member_id, assignment=memoryview(b"all"))
        ],
    }
    return SyncGroupRequest(**(settled | fields))


@pytest.mark.parametrize("version", range(sync_group.VERSIONS[0], sync_group.VERSIONS[1] + 1))
def test_everybody_learns_their_part(version: int) -> None:
    node = GroupNode()
    answer = node.ask(sync_group, version, sync_of(joined(node, 5)))
    assert (answer.error_code, bytes(answer.assignment)) == (0, b"all")
    assert answer.protocol_name == ("range" if version >= 5 else None)
    assert answer.protocol_type == ("consumer" if version >= 5 else None)


@pytest.mark.parametrize(
    "fields",
    [
        {"protocol_type": None},
        {"protocol_name": None},
        {"protocol_type": "connect"},
        {"protocol_name": "sticky"},
    ],
)
def test_a_sync_of_version_5_names_its_protocol(fields) -> None:
    node = GroupNode()
    answer = node.ask(sync_group, 5, sync_of(joined(node, 5), **fields))
    assert answer.error_code == KafkaError.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", range(heartbeat.VERSIONS[0], heartbeat.VERSIONS[1] + 1))
def test_a_heartbeat_tells_whether_the_generation_lives(version: int) -> None:
    node = GroupNode()
    member = joined(node, 5).member_id
    for generation, error in ((1, KafkaError.NONE), (2, KafkaError.ILLEGAL_GENERATION)):
        beat = HeartbeatRequest(group_id="g", generation_id=generation, member_id=member)
        assert node.ask(heartbeat, version, beat).error_code == error


@pytest.mark.parametrize("version", range(leave_group.VERSIONS[0], leave_group.VERSIONS[1] + 1))
def test_one_leaves_or_many_do(version: int) -> None:
    node = GroupNode()
    member = joined(node, 5).member_id
    if version < 3:
        answers = [
            node.ask(
                leave_group, version, LeaveGroupRequest(group_id="g", member_id=name)
            ).error_code
            for name in ("nobody", member, member)
        ]
        unknown = KafkaError.UNKNOWN_MEMBER_ID
        assert answers == [unknown, KafkaError.NONE, unknown]
        return
    names = [MemberIdentity(member_id="nobody"), MemberIdentity(member_id=member)]
    answer = node.ask(leave_group, version, LeaveGroupRequest(group_id="g", members=names))
    assert answer.error_code == 0
    assert [(each.member_id, each.error_code) for each in answer.members] == [
        ("nobody", KafkaError.UNKNOWN_MEMBER_ID),
        (member, KafkaError.NONE),
    ]


@pytest.mark.parametrize("version", range(leave_group.VERSIONS[0], leave_group.VERSIONS[1] + 1))
def test_nobody_leaves_a_group_that_does_not_exist(version: int) -> None:
    request = LeaveGroupRequest(group_id="none", member_id="m" if version < 3 else "")
    answer = GroupNode().ask(leave_group, version, request)
    assert answer.error_code == KafkaError.UNKNOWN_MEMBER_ID


def test_a_client_without_a_name_joins_too() -> None:
    answer = GroupNode().ask(join_group, 4, asked(), client_id=None)
    assert answer.error_code == KafkaError.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("-")


def test_the_operator_is_told_why_members_come_and_go() -> None:
    node = GroupNode()
    member = joined(node, 9, reason="the rebalance was so nice " * 100).member_id
    names = [MemberIdentity(member_id=member, reason="closing")]
    node.ask(leave_group, 5, LeaveGroupRequest(group_id="g", members=names))
    whys = [effect.why for effect in node.changes]
    assert any("so nice" in why and len(why) < 400 for why in whys)
    assert any(why.endswith(": closing") for why in whys)
