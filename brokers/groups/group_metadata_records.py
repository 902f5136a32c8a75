"""Group metadata records: a group as one record, and back."""

from collections.abc import Mapping

from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.group_state import GroupState
from brokers.groups.records import GroupImage, GroupMetadataRecord, MemberImage
from brokers.ids import Instant


def new_empty_group_metadata_record(group: ClassicGroup) -> GroupMetadataRecord:
    """The group without members. The record keeps the generation, so that the next one is higher."""
    return _record(group, (), group.state_timestamp or 0)


def new_group_metadata_record(
    group: ClassicGroup, assignments: Mapping[str, bytes], now: Instant
) -> GroupMetadataRecord:
    """The group with its assignments; a member without an entry has an empty assignment."""
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


def _record(
    group: ClassicGroup, members: tuple[MemberImage, ...], now: Instant
) -> GroupMetadataRecord:
    image = GroupImage(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        state_timestamp=now,
        members=members,
    )
    return GroupMetadataRecord(group.id, image)


def restore(group: ClassicGroup, image: GroupImage) -> None:
    """Sets a group to the state of its record.

    Tolerates a record with a duplicate member or instance id, an empty member id, or a leader that is no member.
    """
    group.has_record = True
    group.protocol_type = image.protocol_type or None
    group.generation = image.generation
    group.protocol = image.protocol
    group.state_timestamp = image.state_timestamp if image.state_timestamp >= 0 else None
    group.members, group.static_members, group.supported_protocols, group.leader = {}, {}, {}, None
    for member in image.members:
        is_new = member.id not in group.members and member.instance_id not in group.static_members
        if member.id and is_new:
            group.add(_member(member, image), image.protocol_type)
    group.state = GroupState.STABLE if group.members else GroupState.EMPTY
    if image.leader in group.members:
        group.leader = image.leader


def _member(image: MemberImage, group: GroupImage) -> GroupMember:
    return GroupMember(
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
