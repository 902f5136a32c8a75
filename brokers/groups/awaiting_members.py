"""Members' waiting requests: a JoinGroup waits for the next generation, a SyncGroup for the leader's assignment.

Each waiting request gets one reply, with the result or with an error, or none if its client has disconnected. A member
has at most one waiting request. Kafka: a member's awaitingJoinFuture and awaitingSyncFuture.
"""

from brokers.coordinator.effects import CoordinatorEffect, CoordinatorReply
from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup, GroupMember
from brokers.groups.requests import JoinResult, SyncResult
from brokers.ids import Ticket


class AwaitingMembers:
    """Invariant: a ticket is here if and only if it is one member's `awaiting_join` or `awaiting_sync`."""

    def __init__(self) -> None:
        self._waiting: dict[Ticket, tuple[ClassicGroup, GroupMember]] = {}

    def await_join(
        self, group: ClassicGroup, member: GroupMember, ticket: Ticket
    ) -> list[CoordinatorEffect]:
        """The member's JoinGroup waits; an earlier waiting request of the member gets REBALANCE_IN_PROGRESS."""
        effects = self.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        member.awaiting_join = ticket
        self._waiting[ticket] = (group, member)
        return effects

    def await_sync(
        self, group: ClassicGroup, member: GroupMember, ticket: Ticket
    ) -> list[CoordinatorEffect]:
        """The member's SyncGroup waits, as `await_join`."""
        effects = self.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        member.awaiting_sync = ticket
        self._waiting[ticket] = (group, member)
        return effects

    def complete_join(self, group: ClassicGroup, member: GroupMember) -> list[CoordinatorEffect]:
        """The reply to the member's waiting JoinGroup, if there is one."""
        ticket = self._take_join(member)
        return [] if ticket is None else [CoordinatorReply(ticket, join_result(group, member))]

    def complete_sync(self, group: ClassicGroup, member: GroupMember) -> list[CoordinatorEffect]:
        """The reply to the member's waiting SyncGroup, if there is one."""
        ticket = self._take_sync(member)
        return [] if ticket is None else [CoordinatorReply(ticket, sync_result(group, member))]

    def refuse(self, member: GroupMember, error: KafkaError) -> list[CoordinatorEffect]:
        """An error reply to the member's waiting request, if there is one."""
        effects: list[CoordinatorEffect] = []
        if (ticket := self._take_join(member)) is not None:
            effects.append(CoordinatorReply(ticket, JoinResult(error=error, member_id=member.id)))
        if (ticket := self._take_sync(member)) is not None:
            effects.append(CoordinatorReply(ticket, SyncResult(error=error)))
        return effects

    def disconnected(self, ticket: Ticket) -> tuple[ClassicGroup, GroupMember] | None:
        """The client of this ticket has disconnected: its group and member; None if no request waits."""
        found = self._waiting.pop(ticket, None)
        if found is not None:
            _, member = found
            member.awaiting_join = member.awaiting_sync = None
        return found

    def _take_join(self, member: GroupMember) -> Ticket | None:
        ticket, member.awaiting_join = member.awaiting_join, None
        if ticket is not None:
            del self._waiting[ticket]
        return ticket

    def _take_sync(self, member: GroupMember) -> Ticket | None:
        ticket, member.awaiting_sync = member.awaiting_sync, None
        if ticket is not None:
            del self._waiting[ticket]
        return ticket


def join_result(group: ClassicGroup, member: GroupMember) -> JoinResult:
    """The current generation; only the leader gets the list of members."""
    return JoinResult(
        member_id=member.id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        members=group.joined_members() if group.leader == member.id else (),
    )


def sync_result(group: ClassicGroup, member: GroupMember) -> SyncResult:
    return SyncResult(
        protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment
    )
