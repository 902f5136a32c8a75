"""What the group coordinator asks of the broker."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from brokers.effects import Changed
from brokers.groups.requests import (
    CommitResult,
    DeleteGroupsResult,
    DeleteOffsetsResult,
    HeartbeatResult,
    JoinResult,
    LeaveResult,
    LinkCommitResult,
    SyncResult,
)
from brokers.ids import OffsetAndMetadata, Ticket, TopicPartition

Response: TypeAlias = (
    JoinResult | SyncResult | HeartbeatResult | LeaveResult | CommitResult | LinkCommitResult
    | DeleteGroupsResult | DeleteOffsetsResult
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GroupReply:
    """The reply to a request. Each ticket gets one, unless its client has disconnected."""

    ticket: Ticket
    response: Response


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append (key, value or None) to one partition of `__consumer_offsets`, as one batch.

    -> `GroupCoordinator.committed(token)` once the batch is below the high watermark, in the order of the appends to
    that partition, or `GroupCoordinator.append_failed(token)`.
    """

    token: int
    offsets_partition: int
    records: tuple[tuple[bytes, bytes | None], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OffsetsCommitted:
    """A group's committed offsets have changed; an offset of None has been deleted."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None]


GroupEffect: TypeAlias = GroupReply | AppendRecords | OffsetsCommitted | Changed
