"""Appends to `__consumer_offsets` that are in flight, with the callback of each.

After loading, committed offsets change only here: when their records have been committed, in the order of the log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.effects import AppendRecords, GroupEffect
from brokers.groups.group_state import GroupState
from brokers.groups.offset_commits import replay_all
from brokers.groups.records import CoordinatorRecord, OffsetCommitRecord, encode
from brokers.ids import Instant, TopicPartition

# The error that a client gets for a failed append, as in Kafka: it looks up the coordinator again, or gives up.
APPEND_ERRORS: Mapping[KafkaError, KafkaError] = MappingProxyType(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PARTITION: KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_ENOUGH_REPLICAS: KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND: KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.REQUEST_TIMED_OUT: KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_OR_FOLLOWER: KafkaError.NOT_COORDINATOR,
        KafkaError.KAFKA_STORAGE_ERROR: KafkaError.NOT_COORDINATOR,
        KafkaError.MESSAGE_TOO_LARGE: KafkaError.INVALID_COMMIT_OFFSET_SIZE,
        KafkaError.RECORD_LIST_TOO_LARGE: KafkaError.INVALID_COMMIT_OFFSET_SIZE,
    }
)

# A group metadata record is no offset commit.
GROUP_APPEND_ERRORS: Mapping[KafkaError, KafkaError] = MappingProxyType(
    {KafkaError.INVALID_COMMIT_OFFSET_SIZE: KafkaError.UNKNOWN_SERVER_ERROR}
)

AppendCallback: TypeAlias = Callable[[KafkaError, Instant], list[GroupEffect]]


@dataclass(frozen=True, slots=True)
class PendingAppend:
    """One append in flight. `callback` is called with NONE or with the error of the append."""

    group: ClassicGroup
    records: tuple[CoordinatorRecord, ...]
    callback: AppendCallback


def no_callback(error: KafkaError, now: Instant) -> list[GroupEffect]:
    """For records that no request waits for."""
    return []


class PendingAppends:
    """Every append of the coordinator, from its `AppendRecords` until it is committed or has failed."""

    def __init__(self) -> None:
        self._last_token = 0
        self._pending: dict[int, PendingAppend] = {}

    def append(
        self,
        group: ClassicGroup,
        records: Sequence[CoordinatorRecord],
        callback: AppendCallback = no_callback,
    ) -> list[GroupEffect]:
        self._last_token += 1
        self._pending[self._last_token] = PendingAppend(group, tuple(records), callback)
        group.appends_in_flight += 1
        encoded = tuple(encode(record) for record in records)
        return [AppendRecords(self._last_token, group.partition, encoded)]

    def committed(self, token: int, now: Instant) -> tuple[ClassicGroup | None, list[GroupEffect]]:
        """The group of these records; None where its partition has been unloaded since."""
        pending = self._take(token)
        if pending is None:
            return None, []
        changes = []
        for record in pending.records:
            if isinstance(record, OffsetCommitRecord):
                changes.append(record)
            else:
                pending.group.has_record = record.image is not None
        effects = replay_all(pending.group, changes)
        return pending.group, effects + pending.callback(KafkaError.NONE, now)

    def failed(
        self, token: int, error: KafkaError, now: Instant
    ) -> tuple[ClassicGroup | None, list[GroupEffect]]:
        pending = self._take(token)
        if pending is None:
            return None, []
        return pending.group, pending.callback(APPEND_ERRORS.get(error, error), now)

    def offsets_in_flight(self, group: ClassicGroup) -> list[TopicPartition]:
        """Partitions whose offset commit or tombstone is in flight."""
        return [
            record.partition
            for pending in self._pending.values()
            if pending.group is group
            for record in pending.records
            if isinstance(record, OffsetCommitRecord)
        ]

    def abandon(self, partition: int, now: Instant) -> list[GroupEffect]:
        """The partition is unloaded: the callbacks of its appends get NOT_COORDINATOR, whether committed or not."""
        tokens = [
            token
            for token, pending in self._pending.items()
            if pending.group.partition == partition
        ]
        effects: list[GroupEffect] = []
        for token in tokens:
            effects += self.failed(token, KafkaError.NOT_COORDINATOR, now)[1]
        return effects

    def _take(self, token: int) -> PendingAppend | None:
        pending = self._pending.pop(token, None)
        if pending is not None:
            pending.group.appends_in_flight -= 1
            assert pending.group.appends_in_flight >= 0 or pending.group.state is GroupState.DEAD
        return pending
