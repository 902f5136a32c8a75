"""Requests of members that wait: a JoinGroup for the next generation, a SyncGroup for the leader's decision.

Each is answered once: by what it waits for, by what overtakes it, or not at all when its client has gone. A member
waits for one answer at a time.
"""

from brokers.errors import KafkaError
from brokers.groups.effects import Answer, GroupEffect
from brokers.groups.membership import Group, Member
from brokers.groups.requests import JoinAnswer, SyncAnswer
from brokers.ids import Ticket


class Parking:
    """Always: a ticket is here if and only if one member's `joining` or `syncing` holds it."""

    def __init__(self) -> None:
        self._waiting: dict[Ticket, tuple[Group, Member]] = {}

    def join(self, group: Group, member: Member, ticket: Ticket) -> list[GroupEffect]:
        """A request that the member repeats takes the place of the one that waits."""
        effects = self.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        member.joining = ticket
        self._waiting[ticket] = (group, member)
        return effects

    def sync(self, group: Group, member: Member, ticket: Ticket) -> list[GroupEffect]:
        """As `join`."""
        effects = self.refuse(member, KafkaError.REBALANCE_IN_PROGRESS)
        member.syncing = ticket
        self._waiting[ticket] = (group, member)
        return effects

    def answer_join(self, group: Group, member: Member) -> list[GroupEffect]:
        """Tell the member of its generation, if it waits to hear of it."""
        ticket = self._take_join(member)
        return [] if ticket is None else [Answer(ticket, joined(group, member))]

    def answer_sync(self, group: Group, member: Member) -> list[GroupEffect]:
        """Tell the member of its assignment, if it waits to hear of it."""
        ticket = self._take_sync(member)
        return [] if ticket is None else [Answer(ticket, synced(group, member))]

    def refuse(self, member: Member, error: KafkaError) -> list[GroupEffect]:
        """Answer whatever the member waits for with an error."""
        effects: list[GroupEffect] = []
        if (ticket := self._take_join(member)) is not None:
            effects.append(Answer(ticket, JoinAnswer(error=error, member_id=member.id)))
        if (ticket := self._take_sync(member)) is not None:
            effects.append(Answer(ticket, SyncAnswer(error=error)))
        return effects

    def gone(self, ticket: Ticket) -> tuple[Group, Member] | None:
        """The client of this ticket has gone; who it was, if the ticket waits here."""
        found = self._waiting.pop(ticket, None)
        if found is not None:
            _, member = found
            member.joining = member.syncing = None
        return found

    def _take_join(self, member: Member) -> Ticket | None:
        ticket, member.joining = member.joining, None
        if ticket is not None:
            del self._waiting[ticket]
        return ticket

    def _take_sync(self, member: Member) -> Ticket | None:
        ticket, member.syncing = member.syncing, None
        if ticket is not None:
            del self._waiting[ticket]
        return ticket


def joined(group: Group, member: Member) -> JoinAnswer:
    """What a member learns of its generation; only the leader learns of the others."""
    return JoinAnswer(
        member_id=member.id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        members=group.joined_members() if group.leader == member.id else (),
    )


def synced(group: Group, member: Member) -> SyncAnswer:
    return SyncAnswer(
        protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment
    )
