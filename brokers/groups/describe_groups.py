"""DescribeGroups and ListGroups."""

from collections.abc import Iterable

from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.group_state import GroupState
from brokers.groups.requests import CLASSIC, GroupDescription, GroupListing, MemberDescription


def describe_group(group: ClassicGroup) -> GroupDescription:
    """Protocol and assignments only of a stable group."""
    is_stable = group.state is GroupState.STABLE
    return GroupDescription(
        group=group.id,
        state=group.state,
        protocol_type=group.protocol_type or "",
        protocol=(group.protocol or "") if is_stable else "",
        members=tuple(_member(group, member, is_stable) for member in group.members.values()),
    )


def _member(group: ClassicGroup, member: GroupMember, is_stable: bool) -> MemberDescription:
    return MemberDescription(
        member_id=member.id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=member.metadata(group.protocol) if is_stable else b"",
        assignment=member.assignment if is_stable else b"",
    )


def list_groups(
    groups: Iterable[ClassicGroup], states: Iterable[str], types: Iterable[str]
) -> tuple[GroupListing, ...]:
    """Groups in one of these states (KIP-518) and of one of these types (KIP-848).

    Names match in any case; an empty filter matches all.
    """
    wanted = {state.lower() for state in states}
    kinds = {kind.lower() for kind in types}
    if kinds and CLASSIC.lower() not in kinds:
        return ()
    return tuple(
        GroupListing(group.id, group.protocol_type or "", group.state)
        for group in groups
        if not wanted or group.state.value.lower() in wanted
    )
