"""A group as one record, and back."""

from collections.abc import Mapping

from brokers.groups.membership import Group, Member
from brokers.groups.records import GroupImage, GroupRecord, MemberImage
from brokers.groups.states import State
from brokers.ids import Instant


def empty_record(group: Group) -> GroupRecord:
    """The group without members; its generation lives on, so that the next one is higher."""
    return _record(group, (), group.state_since or 0)


def group_record(group: Group, assignments: Mapping[str, bytes], now: Instant) -> GroupRecord:
    """The group as assigned; members without an entry get nothing."""
    members = tuple(
        MemberImage(
            id=member.id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            session_timeout_ms=member.session_timeout_ms,
            subscription=member.metadata(group.protocol),
            assignment=assignments.get(member.id, b""),
        )
        for member in group.members.values()
    )
    return _record(group, members, now)


def _record(group: Group, members: tuple[MemberImage, ...], now: Instant) -> GroupRecord:
    image = GroupImage(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        state_since=now,
        members=members,
    )
    return GroupRecord(group.id, image)


def restore(group: Group, image: GroupImage) -> None:
    """Make a group what its record says; its members' sessions begin anew.

    A record that names a member or an instance twice, nobody as a member, or a stranger as leader, is no reason to
    fail later.
    """
    group.has_record = True
    group.protocol_type = image.protocol_type or None
    group.generation = image.generation
    group.protocol = image.protocol
    group.state_since = image.state_since if image.state_since >= 0 else None
    group.members, group.static_members, group.supporters, group.leader = {}, {}, {}, None
    for member in image.members:
        is_new = member.id not in group.members and member.instance_id not in group.static_members
        if member.id and is_new:
            group.add(_member(member, image), image.protocol_type)
    group.state = State.STABLE if group.members else State.EMPTY
    if image.leader in group.members:
        group.leader = image.leader


def _member(image: MemberImage, group: GroupImage) -> Member:
    return Member(
        id=image.id,
        instance_id=image.instance_id,
        client_id=image.client_id,
        client_host=image.client_host,
        rebalance_timeout_ms=image.rebalance_timeout_ms,
        session_timeout_ms=image.session_timeout_ms,
        protocols=((group.protocol or "", image.subscription),),
        assignment=image.assignment,
        is_new=False,
    )
