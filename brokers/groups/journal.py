"""Records on their way into `__consumer_offsets`, and what waits for them.

The only place where committed offsets change while running: when the records that say so have been committed, in the
order of the log.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from brokers.errors import KafkaError
from brokers.groups import offsets
from brokers.groups.effects import AppendRecords, GroupEffect
from brokers.groups.membership import Group
from brokers.groups.records import OffsetRecord, StoredRecord, encode
from brokers.groups.states import State
from brokers.ids import Instant, TopicPartition

# What a member is told of a failed append, after Kafka: find the coordinator again, or give up.
TOLD: Mapping[KafkaError, KafkaError] = MappingProxyType(
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

# A group's own record is no commit.
TOLD_OF_GROUP: Mapping[KafkaError, KafkaError] = MappingProxyType(
    {KafkaError.INVALID_COMMIT_OFFSET_SIZE: KafkaError.UNKNOWN_SERVER_ERROR}
)

Then: TypeAlias = Callable[[KafkaError, Instant], list[GroupEffect]]


@dataclass(frozen=True, slots=True)
class Pending:
    """One append in flight. `then` hears NONE, or why it failed."""

    group: Group
    records: tuple[StoredRecord, ...]
    then: Then


def nothing(error: KafkaError, now: Instant) -> list[GroupEffect]:
    """For records that nobody waits for."""
    return []


class Journal:
    """Every append of the coordinator, from the effect that asks for it to its end."""

    def __init__(self) -> None:
        self._last_token = 0
        self._pending: dict[int, Pending] = {}

    def append(
        self, group: Group, records: Sequence[StoredRecord], then: Then = nothing
    ) -> list[GroupEffect]:
        self._last_token += 1
        self._pending[self._last_token] = Pending(group, tuple(records), then)
        group.appends_in_flight += 1
        encoded = tuple(encode(record) for record in records)
        return [AppendRecords(self._last_token, group.partition, encoded)]

    def committed(self, token: int, now: Instant) -> tuple[Group | None, list[GroupEffect]]:
        """The group whose records these were, None where its partition has moved away since."""
        pending = self._take(token)
        if pending is None:
            return None, []
        changes = []
        for record in pending.records:
            if isinstance(record, OffsetRecord):
                changes.append(record)
            else:
                pending.group.has_record = record.image is not None
        effects = offsets.replay_all(pending.group, changes)
        return pending.group, effects + pending.then(KafkaError.NONE, now)

    def failed(
        self, token: int, error: KafkaError, now: Instant
    ) -> tuple[Group | None, list[GroupEffect]]:
        pending = self._take(token)
        if pending is None:
            return None, []
        return pending.group, pending.then(TOLD.get(error, error), now)

    def offsets_in_flight(self, group: Group) -> list[TopicPartition]:
        """Partitions for which a commit, or a deletion, is on its way."""
        return [
            record.partition
            for pending in self._pending.values()
            if pending.group is group
            for record in pending.records
            if isinstance(record, OffsetRecord)
        ]

    def abandon(self, partition: int, now: Instant) -> list[GroupEffect]:
        """The partition has moved away: whatever becomes of these records, they are told NOT_COORDINATOR."""
        tokens = [
            token
            for token, pending in self._pending.items()
            if pending.group.partition == partition
        ]
        effects: list[GroupEffect] = []
        for token in tokens:
            effects += self.failed(token, KafkaError.NOT_COORDINATOR, now)[1]
        return effects

    def _take(self, token: int) -> Pending | None:
        pending = self._pending.pop(token, None)
        if pending is not None:
            pending.group.appends_in_flight -= 1
            assert pending.group.appends_in_flight >= 0 or pending.group.state is State.DEAD
        return pending
