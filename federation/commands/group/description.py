"""Groups with their members, offsets and lag, as tables and as JSON. As in Kafka's tool, `-` is none."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from rich.table import Table

from brokers.ids import Offset, TopicPartition
from federation.commands.answers import screen, show_table
from federation.commands.group.members import DEAD, Group, Member

_NONE: Final = "-"


class PartitionAssignmentState(NamedTuple):
    """`committed` is None where the group has no offset, `end` where the partition does not tell its own."""

    name: TopicPartition
    committed: Offset | None
    end: Offset | None
    member: Member | None

    @property
    def lag(self) -> int | None:
        return (
            None
            if self.committed is None or self.end is None
            else max(0, self.end - self.committed)
        )


def readers(group: Group) -> dict[TopicPartition, Member]:
    """The member that reads each partition."""
    return {name: member for member in group.members for name in member.partitions or ()}


def lags(
    group: Group, committed: Mapping[TopicPartition, Offset], ends: Mapping[TopicPartition, Offset]
) -> list[PartitionAssignmentState]:
    """Of the partitions that have an offset or a member."""
    reading = readers(group)
    return [
        PartitionAssignmentState(name, committed.get(name), ends.get(name), reading.get(name))
        for name in sorted(committed.keys() | reading.keys())
    ]


# --- JSON ---


def offsets_document(group: Group, found: Iterable[PartitionAssignmentState]) -> dict[str, Any]:
    return {
        **state_document(group),
        "offsets": [
            {
                "topic": each.name.topic,
                "partition": each.name.partition,
                "current_offset": each.committed,
                "log_end_offset": each.end,
                "lag": each.lag,
                "member_id": each.member and each.member.member_id,
                "host": each.member and each.member.host,
                "client_id": each.member and each.member.client_id,
            }
            for each in found
        ],
    }


def members_document(group: Group) -> dict[str, Any]:
    return {
        **state_document(group),
        "members_described": [
            {
                **each._asdict(),
                "partitions": None
                if each.partitions is None
                else [str(name) for name in each.partitions],
            }
            for each in group.members
        ],
    }


def state_document(group: Group) -> dict[str, Any]:
    return {
        "group": group.name,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "assignment_strategy": group.protocol,
        "coordinator": group.coordinator,
        "members": len(group.members),
    }


# --- text ---


def show_offsets(group: Group, found: list[PartitionAssignmentState]) -> None:
    if not group.members:
        screen().print(f"{group.name} has no active members.", highlight=False, soft_wrap=True)
    if not found:
        screen().print(f"{group.name} has no offsets.", highlight=False, soft_wrap=True)
        return
    table = Table(
        "Group", "Topic", "Partition", "CurrentOffset", "LogEndOffset", "Lag", "MemberId", "Host", "ClientId"
    )  # fmt: skip
    for each in found:
        member = each.member
        table.add_row(
            group.name,
            each.name.topic,
            str(each.name.partition),
            _or_none(each.committed),
            _or_none(each.end),
            _or_none(each.lag),
            _NONE if member is None else member.member_id,
            _NONE if member is None else member.host,
            _NONE if member is None else member.client_id,
        )
    show_table(table)


def show_members(group: Group) -> None:
    if not group.members:
        screen().print(f"{group.name} has no active members.", highlight=False, soft_wrap=True)
        return
    table = Table("Group", "MemberId", "InstanceId", "Host", "ClientId", "Partitions", "Assignment")
    for each in group.members:
        partitions = each.partitions
        table.add_row(
            group.name,
            each.member_id,
            each.instance_id or _NONE,
            each.host,
            each.client_id,
            _NONE if partitions is None else str(len(partitions)),
            _assignment(partitions),
        )
    show_table(table)


def show_states(groups: Iterable[Group]) -> None:
    table = Table("Group", "Coordinator", "AssignmentStrategy", "State", "Members")
    for each in groups:
        state = f"[red]{each.state}[/]" if each.state == DEAD else each.state
        table.add_row(
            each.name,
            str(each.coordinator),
            each.protocol or _NONE,
            state,
            str(len(each.members)),
        )
    show_table(table)


def _assignment(partitions: list[TopicPartition] | None) -> str:
    """`orders(0,1), bills(2)`, as Kafka's tool writes it."""
    topics: dict[str, list[str]] = {}
    for name in partitions or ():
        topics.setdefault(name.topic, []).append(str(name.partition))
    return ", ".join(f"{topic}({','.join(each)})" for topic, each in topics.items()) or _NONE


def _or_none(number: int | None) -> str:
    return _NONE if number is None else str(number)
