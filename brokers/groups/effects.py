"""What the coordinator asks of the broker around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from brokers.effects import Changed
from brokers.groups.requests import (
    CommitAnswer,
    DeleteGroupsAnswer,
    DeleteOffsetsAnswer,
    HeartbeatAnswer,
    JoinAnswer,
    LeaveAnswer,
    LinkCommitAnswer,
    SyncAnswer,
)
from brokers.ids import OffsetAndMetadata, Ticket, TopicPartition

Response: TypeAlias = (
    JoinAnswer | SyncAnswer | HeartbeatAnswer | LeaveAnswer | CommitAnswer | LinkCommitAnswer
    | DeleteGroupsAnswer | DeleteOffsetsAnswer
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a ticket; each ticket gets one, unless its client has gone."""

    ticket: Ticket
    response: Response


@dataclass(frozen=True, slots=True)
class AppendRecords:
    """Append (key, value or None) to one partition of `__consumer_offsets`, as one batch.

    -> `Coordinator.committed(token)` once the batch is below the high watermark, in the order of the appends to that
    partition, or `Coordinator.append_failed(token)`.
    """

    token: int
    offsets_partition: int
    records: tuple[tuple[bytes, bytes | None], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OffsetsCommitted:
    """A group's committed offsets have changed; None is a deleted one."""

    group: str
    offsets: Mapping[TopicPartition, OffsetAndMetadata | None]


GroupEffect: TypeAlias = Answer | AppendRecords | OffsetsCommitted | Changed
