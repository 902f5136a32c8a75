"""What administrators see of groups."""

from collections.abc import Iterable

from brokers.groups.membership import Group, Member
from brokers.groups.requests import CLASSIC, GroupDescription, GroupListing, MemberDescription
from brokers.groups.states import State


def describe(group: Group) -> GroupDescription:
    """Protocol and assignments only where they are settled."""
    is_stable = group.state is State.STABLE
    return GroupDescription(
        group=group.id,
        state=group.state,
        protocol_type=group.protocol_type or "",
        protocol=(group.protocol or "") if is_stable else "",
        members=tuple(_member(group, member, is_stable) for member in group.members.values()),
    )


def _member(group: Group, member: Member, is_stable: bool) -> MemberDescription:
    return MemberDescription(
        member_id=member.id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=member.metadata(group.protocol) if is_stable else b"",
        assignment=member.assignment if is_stable else b"",
    )


def listing(
    groups: Iterable[Group], states: Iterable[str], types: Iterable[str]
) -> tuple[GroupListing, ...]:
    """Filtered by names of states (KIP-518) and types (KIP-848) in any case; no filter lets all through."""
    wanted = {state.lower() for state in states}
    kinds = {kind.lower() for kind in types}
    if kinds and CLASSIC.lower() not in kinds:
        return ()
    return tuple(
        GroupListing(group.id, group.protocol_type or "", group.state)
        for group in groups
        if not wanted or group.state.value.lower() in wanted
    )
