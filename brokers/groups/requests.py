"""The coordinator's requests and results, independent of Kafka's wire versions; `brokers.api` translates both ways."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from brokers.errors import KafkaError
from brokers.groups.group_state import GroupState
from brokers.ids import OffsetAndMetadata, TopicPartition

NO_GENERATION = -1
NO_MEMBER = ""
REASON_CHARACTERS_MAX = 255  # KIP-800: a client's reason may have any length
CLASSIC = "Classic"  # the name of this group type since KIP-848


# --- membership ---


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinRequest:
    """`protocols` in the member's order of preference: (name, metadata that only members decode).

    `requires_member_id`: the client understands MEMBER_ID_REQUIRED (v4, KIP-394). `supports_skipping_assignment`: the
    client understands SkipAssignment (v9, KIP-814). A negative rebalance timeout means the session timeout (v0).
    `reason` is for the operator (KIP-800).
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
    requires_member_id: bool
    supports_skipping_assignment: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JoinedMember:
    """A member as the leader gets it: its metadata for the chosen protocol."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinResult:
    """Only the leader's result has `members`."""

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
    """`assignments` by member id, empty except from the leader. The protocol type and name are checked if set (v5)."""

    group: str
    generation: int
    member_id: str
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    assignments: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
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
class HeartbeatResult:
    error: KafkaError


@dataclass(frozen=True, slots=True)
class MemberName:
    """Names one member; an administrator sends an empty member id with an instance id (KIP-345)."""

    member_id: str
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaveRequest:
    """`reason` is for the operator (KIP-800)."""

    group: str
    members: tuple[MemberName, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LeaveResult:
    """One error per member of the request, in order; or `error` for the whole request."""

    error: KafkaError
    members: tuple[tuple[MemberName, KafkaError], ...] = ()


# --- offsets ---


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRequest:
    """Without generation, member and instance it comes from a standalone consumer or an administrator.

    `retention_ms` (v2-4): after how many milliseconds from now these offsets expire; None: as the broker is configured.
    """

    group: str
    generation: int = NO_GENERATION
    member_id: str = NO_MEMBER
    instance_id: str | None = None
    offsets: Mapping[TopicPartition, OffsetAndMetadata]
    retention_ms: int | None = None


@dataclass(frozen=True, slots=True)
class CommitResult:
    errors: Mapping[TopicPartition, KafkaError]


@dataclass(frozen=True, slots=True)
class LinkCommitResult:
    """The result of a link's commit: one error for all its offsets."""

    error: KafkaError


@dataclass(frozen=True, slots=True)
class OffsetFetchResult:
    """An offset of None: the group has committed no offset for the partition."""

    error: KafkaError
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None] = field(default_factory=dict)


# --- administration ---


@dataclass(frozen=True, slots=True)
class DeleteGroupsResult:
    errors: Mapping[str, KafkaError]


@dataclass(frozen=True, slots=True)
class DeleteOffsetsResult:
    """`error` for the whole request; otherwise one error per partition of the request."""

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
    """An unknown group is DEAD with GROUP_ID_NOT_FOUND; older versions of DescribeGroups return Dead without error."""

    group: str
    error: KafkaError = KafkaError.NONE
    state: GroupState = GroupState.DEAD
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[MemberDescription, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupListing:
    group: str
    protocol_type: str
    state: GroupState


@dataclass(frozen=True, slots=True)
class ListGroupsResult:
    """`error` is COORDINATOR_LOAD_IN_PROGRESS while some partition is being loaded."""

    error: KafkaError
    groups: tuple[GroupListing, ...]
