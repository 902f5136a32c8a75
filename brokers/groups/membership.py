"""One group: its members, who leads them, which protocol they share, and what it has committed.

Always: `leader` is None or a member; `static_members` names members; a member waits for at most one answer.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from brokers.groups.requests import JoinedMember
from brokers.groups.states import NEXT, State
from brokers.groups.subscription import CONSUMER, subscribed_topics
from brokers.ids import Instant, OffsetAndMetadata, Ticket, TopicPartition


@dataclass(slots=True, eq=False)
class Member:
    """`joining` and `syncing` are its parked requests.

    `is_new`: it has not been in a generation yet. `is_anonymous`: its client doesn't know its member id yet, so if the
    connection breaks nobody will ever come back for it.
    """

    id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    assignment: bytes = b""
    joining: Ticket | None = None
    syncing: Ticket | None = None
    is_new: bool = True
    is_anonymous: bool = False
    session_ends: Instant = 0
    session_timer: int | None = None
    session_checked_at: Instant = 0  # when the timer fires; heartbeats move `session_ends` only

    def metadata(self, protocol: str | None) -> bytes:
        """Its metadata for a protocol, empty where it has none."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    @property
    def is_parked(self) -> bool:
        return self.joining is not None or self.syncing is not None


@dataclass(slots=True, eq=False)
class Group:
    """Mutable; `rebalance` and `joining` change membership, `offsets.replay` alone changes offsets.

    `pending` holds member ids that were handed out and have not come back (KIP-394), with their timers. `unsynced`
    holds the members of this generation that have not asked for their assignment. `expiries` is for offsets whose
    commit said how long they live.
    """

    id: str
    partition: int
    state: State = State.EMPTY
    state_since: Instant | None = None
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    pending: dict[str, int] = field(default_factory=dict)
    supporters: dict[str, int] = field(default_factory=dict)  # protocol -> members that know it
    unsynced: dict[str, None] = field(default_factory=dict)
    rebalance_timer: int | None = None
    is_gathering: bool = False  # the first rebalance of an empty group waits for newcomers
    has_newcomer: bool = False  # one came since the wait was last extended
    is_assigning: bool = False  # the leader's decision is on its way into the log
    offsets: dict[TopicPartition, OffsetAndMetadata] = field(default_factory=dict)
    expiries: dict[TopicPartition, Instant] = field(default_factory=dict)
    has_record: bool = False  # the log holds a record of the group itself
    appends_in_flight: int = 0

    def move(self, state: State, now: Instant) -> None:
        assert state in NEXT[self.state], (self.id, self.state, state)
        self.state = state
        self.state_since = now

    # --- members ---

    def add(self, member: Member, protocol_type: str) -> None:
        if not self.members:
            self.protocol_type = protocol_type
        self.members[member.id] = member
        self._count(member, 1)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.id
        if self.leader is None:
            self.leader = member.id

    def remove(self, member: Member) -> None:
        del self.members[member.id]
        self._count(member, -1)
        self.unsynced.pop(member.id, None)
        if member.instance_id is not None:
            del self.static_members[member.instance_id]
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)

    def rename(self, member: Member, member_id: str) -> None:
        """A static member starts again under a new id; it keeps its place, its lead and its assignment."""
        self.members = {
            (member_id if known == member.id else known): each
            for known, each in self.members.items()
        }
        if self.leader == member.id:
            self.leader = member_id
        if member.id in self.unsynced:
            del self.unsynced[member.id]
            self.unsynced[member_id] = None
        member.id = member_id
        assert member.instance_id is not None
        self.static_members[member.instance_id] = member_id

    def elect_joined_leader(self) -> bool:
        """Keep the leader if it has joined, else the first that has; False where nobody has."""
        if self.leader is not None and self.members[self.leader].joining is not None:
            return True
        joined = (member.id for member in self.members.values() if member.joining is not None)
        self.leader = next(joined, self.leader)
        return self.leader is not None and self.members[self.leader].joining is not None

    @property
    def all_joined(self) -> bool:
        return not self.pending and all(
            member.joining is not None for member in self.members.values()
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

    def accepts(self, protocol_type: str, names: Iterable[str], besides: Member | None) -> bool:
        """Whether someone with these protocols can be a member, `besides` being its former self."""
        if self.members and protocol_type != self.protocol_type:
            return False
        others = len(self.members) - (besides is not None)
        return bool(protocol_type) and any(
            self.supporters.get(name, 0) - _knows(besides, name) == others for name in names
        )

    def change_protocols(self, member: Member, protocols: tuple[tuple[str, bytes], ...]) -> None:
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)

    def _count(self, member: Member, by: int) -> None:
        for name in dict(member.protocols):
            self.supporters[name] = self.supporters.get(name, 0) + by
            if not self.supporters[name]:
                del self.supporters[name]

    def choose_protocol(self) -> str:
        """The protocol that all know and most prefer; among equals the one voted for first."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            vote = next(name for name, _ in member.protocols if self._is_shared(name))
            votes[vote] = votes.get(vote, 0) + 1
        return max(votes, key=lambda name: votes[name])

    def _is_shared(self, protocol: str) -> bool:
        return self.supporters.get(protocol) == len(self.members)

    def may_read(self, topic: str) -> bool:
        """Whether members subscribe to the topic; a subscription that cannot be read covers everything."""
        return self.readership()(topic)

    def readership(self) -> Callable[[str], bool]:
        """`may_read` for many topics: in a group of hundreds, reading what all of them subscribe to takes a while."""
        read: set[str] = set()
        for topics in self._subscriptions() if self.protocol_type == CONSUMER else ():
            if topics is None:
                return lambda topic: True
            read |= topics
        return read.__contains__

    def _subscriptions(self) -> Iterator[frozenset[str] | None]:
        for member in self.members.values():
            for _, metadata in member.protocols:
                yield subscribed_topics(metadata)

    # --- the end ---

    @property
    def is_blank(self) -> bool:
        """Nothing in memory or on its way needs the group."""
        return (
            self.state is State.EMPTY
            and not self.members
            and not self.pending
            and not self.offsets
            and not self.appends_in_flight
        )


def _knows(member: Member | None, protocol: str) -> bool:
    return member is not None and protocol in dict(member.protocols)
