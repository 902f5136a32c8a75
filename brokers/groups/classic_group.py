"""One group of the classic protocol: its members, leader, protocol and committed offsets.

Invariants: `leader` is None or a member; `static_members` maps to members; a member has at most one waiting request.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from brokers.groups.committed_offsets import CommittedOffsets
from brokers.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from brokers.groups.group_state import VALID_TRANSITIONS, GroupState
from brokers.groups.records import CoordinatorRecord, OffsetCommitRecord
from brokers.groups.requests import JoinedMember
from brokers.ids import Instant, Ticket, TopicPartition


@dataclass(slots=True, eq=False)
class GroupMember:
    """`awaiting_join` and `awaiting_sync` are the tickets of its waiting JoinGroup and SyncGroup.

    `is_new`: the member has not been in a generation yet. `lacks_member_id`: the client has not received its member id
    yet, so it cannot rejoin as this member after a disconnect.
    """

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    assignment: bytes = b""
    awaiting_join: Ticket | None = None
    awaiting_sync: Ticket | None = None
    is_new: bool = True
    lacks_member_id: bool = False
    session_deadline: Instant = 0
    session_timer: int | None = None
    session_timer_due: Instant = 0  # heartbeats only move `session_deadline`

    def metadata(self, protocol: str | None) -> bytes:
        """The member's metadata for a protocol; empty where it does not support the protocol."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    @property
    def is_awaiting(self) -> bool:
        return self.awaiting_join is not None or self.awaiting_sync is not None


@dataclass(slots=True, eq=False)
class ClassicGroup:
    """Mutable: `rebalance` and `join_group` change membership, only `offset_commits.replay` changes offsets.

    `pending_members`: member ids that were issued and have not joined yet (KIP-394), with their timers.
    `pending_sync_members`: members of this generation that have not sent SyncGroup.
    """

    id: str
    partition: int
    state: GroupState = GroupState.EMPTY
    state_timestamp: Instant | None = None
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, GroupMember] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending_members: dict[str, int] = field(default_factory=dict)
    supported_protocols: dict[str, int] = field(default_factory=dict)  # how many members each
    pending_sync_members: dict[str, None] = field(default_factory=dict)
    rebalance_timer: int | None = None
    in_initial_delay: bool = False  # the first rebalance of an empty group waits for new members
    new_member_added: bool = False  # since the initial delay was last extended
    assignment_in_flight: bool = False  # the leader's assignment is being appended
    offsets: CommittedOffsets = field(default_factory=CommittedOffsets)
    has_record: bool = False  # the log holds a group metadata record
    # By append.
    records_in_flight: list[tuple[CoordinatorRecord, ...]] = field(default_factory=list)

    def transition_to(self, state: GroupState, now: Instant) -> None:
        assert state in VALID_TRANSITIONS[self.state], (self.id, self.state, state)
        self.state = state
        self.state_timestamp = now

    # --- members ---

    def add(self, member: GroupMember, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.id] = member
        self._count(member, 1)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id

    def remove(self, member: GroupMember) -> None:
        del self.members[member.id]
        self._count(member, -1)
        self.pending_sync_members.pop(member.id, None)
        if member.instance_id is not None:
            del self.static_members[member.instance_id]
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)

    def replace_static_member(self, member: GroupMember, member_id: str) -> None:
        """A static member restarts under a new member id; its order, its leadership and its assignment stay."""
        self.members = {
            (member_id if known == member.id else known): each
            for known, each in self.members.items()
        }
        if self.leader == member.id:
            self.leader = member_id
        if member.id in self.pending_sync_members:
            del self.pending_sync_members[member.id]
            self.pending_sync_members[member_id] = None
        member.id = member_id
        assert member.instance_id is not None
        self.static_members[member.instance_id] = member_id

    def elect_joined_leader(self) -> bool:
        """Keeps the leader if it has joined, else elects the first member that has; False if no member has joined."""
        if self.leader is not None and self.members[self.leader].awaiting_join is not None:
            return True
        joined = (member.id for member in self.members.values() if member.awaiting_join is not None)
        self.leader = next(joined, self.leader)
        return self.leader is not None and self.members[self.leader].awaiting_join is not None

    @property
    def has_all_members_joined(self) -> bool:
        return not self.pending_members and all(
            member.awaiting_join is not None for member in self.members.values()
        )

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def joined_members(self) -> tuple[JoinedMember, ...]:
        return tuple(
            JoinedMember(member.id, member.instance_id, member.metadata(self.protocol))
            for member in self.members.values()
        )

    # --- protocols ---

    def supports_protocols(
        self, protocol_type: str, names: Iterable[str], besides: GroupMember | None
    ) -> bool:
        """Whether a member with these protocols shares one with all others; `besides` is the member it replaces."""
        if self.members and protocol_type != self.protocol_type:
            return False
        others = len(self.members) - (besides is not None)
        return bool(protocol_type) and any(
            self.supported_protocols.get(name, 0) - _supports(besides, name) == others
            for name in names
        )

    def update_protocols(
        self, member: GroupMember, protocols: tuple[tuple[str, bytes], ...]
    ) -> None:
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)

    def _count(self, member: GroupMember, by: int) -> None:
        for name in dict(member.protocols):
            self.supported_protocols[name] = self.supported_protocols.get(name, 0) + by
            if not self.supported_protocols[name]:
                del self.supported_protocols[name]

    def select_protocol(self) -> str:
        """The protocol that all members support and most vote for; in a tie the one voted for first."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            vote = next(name for name, _ in member.protocols if self._is_shared(name))
            votes[vote] = votes.get(vote, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def _is_shared(self, protocol: str) -> bool:
        return self.supported_protocols.get(protocol) == len(self.members)

    def is_subscribed_to_topic(self, topic: str) -> bool:
        """Whether a member subscribes to the topic; a subscription that cannot be decoded covers every topic."""
        return self.topic_filter()(topic)

    def topic_filter(self) -> Callable[[str], bool]:
        """`is_subscribed_to_topic` for many topics: decodes the subscriptions once, as that is slow."""
        read: set[str] = set()
        for topics in self._subscriptions() if self.protocol_type == CONSUMER_PROTOCOL_TYPE else ():
            if topics is None:
                return lambda topic: True
            read |= topics
        return read.__contains__

    def _subscriptions(self) -> Iterator[frozenset[str] | None]:
        for member in self.members.values():
            for _, metadata in member.protocols:
                yield subscribed_topics(metadata)

    # --- removal ---

    def offsets_in_flight(self) -> list[TopicPartition]:
        """Partitions whose offset commit or tombstone is in flight."""
        return [
            record.partition
            for records in self.records_in_flight
            for record in records
            if isinstance(record, OffsetCommitRecord)
        ]

    @property
    def is_unused(self) -> bool:
        """Whether the group has no members, no offsets and no appends in flight."""
        return (
            self.state is GroupState.EMPTY
            and not self.members
            and not self.pending_members
            and not self.offsets
            and not self.records_in_flight
        )


def _supports(member: GroupMember | None, protocol: str) -> bool:
    return member is not None and protocol in dict(member.protocols)
