"""What is asked of the coordinator and what it answers, in its own words; `brokers.api` knows the wire's."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.errors import KafkaError
from brokers.groups.states import State
from brokers.ids import OffsetAndMetadata, TopicPartition

NO_GENERATION = -1
NO_MEMBER = ""
REASON_CHARACTERS_MAX = 255  # KIP-800: what a client says for the operator's eyes, of any length
CLASSIC = "Classic"  # the group type that KIP-848 gave to this protocol


# --- membership ---


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """`protocols` in the member's order of preference: (name, metadata that only members understand).

    `knows_member_ids`: the client understands MEMBER_ID_REQUIRED (v4, KIP-394). `may_skip_assignment`: it
    understands SkipAssignment (v9, KIP-814). A negative rebalance timeout is the session timeout (v0). `reason` is for
    the operator (KIP-800).
    """

    group: str
    member_id: str = NO_MEMBER
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    knows_member_ids: bool
    may_skip_assignment: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """What the leader learns of a member: its metadata for the chosen protocol."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinAnswer:
    """Only the leader's answer has `members`."""

    error: KafkaError = KafkaError.NONE
    member_id: str = NO_MEMBER
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skip_assignment: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """`assignments` is the leader's decision by member id, empty from others. Types are checked where given (v5)."""

    group: str
    generation: int
    member_id: str
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncAnswer:
    error: KafkaError = KafkaError.NONE
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRequest:
    group: str
    generation: int
    member_id: str
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatAnswer:
    error: KafkaError


@dataclass(frozen=True, slots=True)
class MemberName:
    """Names one member; an empty member id with an instance id is how an administrator does it (KIP-345)."""

    member_id: str
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaveRequest:
    """`reason` is for the operator (KIP-800)."""

    group: str
    members: tuple[MemberName, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LeaveAnswer:
    """One error per member asked for, in order; or `error` for the whole request."""

    error: KafkaError
    members: tuple[tuple[MemberName, KafkaError], ...] = ()


# --- offsets ---


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """Without generation, member and instance it comes from a standalone consumer or an administrator.

    `retention_ms` (v2-4) is how long these offsets live from now on; None leaves it to the node's setting.
    """

    group: str
    generation: int = NO_GENERATION
    member_id: str = NO_MEMBER
    instance_id: str | None = None
    offsets: Mapping[TopicPartition, OffsetAndMetadata]
    retention_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CommitAnswer:
    errors: Mapping[TopicPartition, KafkaError]


@dataclass(frozen=True, slots=True)
class LinkCommitAnswer:
    """A link's commit is all or nothing."""

    error: KafkaError


@dataclass(frozen=True, slots=True)
class FetchedOffsets:
    """None where the group has committed nothing."""

    error: KafkaError
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None] = field(default_factory=dict)


# --- administration ---


@dataclass(frozen=True, slots=True)
class DeleteGroupsAnswer:
    errors: Mapping[str, KafkaError]


@dataclass(frozen=True, slots=True)
class DeleteOffsetsAnswer:
    """`error` for the whole request; otherwise one per partition asked for."""

    error: KafkaError
    errors: Mapping[TopicPartition, KafkaError] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDescription:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes = b""
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDescription:
    """An unknown group is Dead with GROUP_ID_NOT_FOUND; older versions of the wire say Dead without error."""

    group: str
    error: KafkaError = KafkaError.NONE
    state: State = State.DEAD
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[MemberDescription, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupListing:
    group: str
    protocol_type: str
    state: State


@dataclass(frozen=True, slots=True)
class Listing:
    """`error` COORDINATOR_LOAD_IN_PROGRESS where some groups are still being read."""

    error: KafkaError
    groups: tuple[GroupListing, ...]
