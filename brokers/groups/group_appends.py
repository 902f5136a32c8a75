"""Appends a group's records to `__consumer_offsets`, and replays them once they are committed.

After loading, committed offsets change only here, in the order of the log.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from brokers.coordinator.effects import AppendCallback, AppendRecords, CoordinatorEffect
from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.offset_commits import replay_all
from brokers.groups.records import CoordinatorRecord, OffsetCommitRecord, encode
from brokers.ids import Instant

# The error that a client gets for a refused append, as in Kafka.
APPEND_ERRORS: Mapping[KafkaError, KafkaError] = MappingProxyType(
    {
        KafkaError.MESSAGE_TOO_LARGE: KafkaError.INVALID_COMMIT_OFFSET_SIZE,
        KafkaError.RECORD_LIST_TOO_LARGE: KafkaError.INVALID_COMMIT_OFFSET_SIZE,
    }
)

# A group metadata record is no offset commit.
GROUP_APPEND_ERRORS: Mapping[KafkaError, KafkaError] = MappingProxyType(
    {KafkaError.INVALID_COMMIT_OFFSET_SIZE: KafkaError.UNKNOWN_SERVER_ERROR}
)


def no_callback(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
    """For records that no request waits for."""
    return []


class GroupAppends:
    """`records_in_flight` of a group has what was appended and is not committed yet."""

    def __init__(self, manager: GroupMetadataManager) -> None:
        self._manager = manager

    def append(
        self,
        group: ClassicGroup,
        records: Sequence[CoordinatorRecord],
        callback: AppendCallback = no_callback,
    ) -> list[CoordinatorEffect]:
        """`callback` is called when the records are replayed, or with the error of the append."""
        in_flight = tuple(records)
        group.records_in_flight.append(in_flight)

        def ended(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
            group.records_in_flight.remove(in_flight)
            effects = [] if error else _replay(group, in_flight)
            effects += callback(APPEND_ERRORS.get(error, error), now)
            self._manager.remove_if_unused(group)
            return effects

        encoded = tuple(encode(record) for record in in_flight)
        return [AppendRecords(group.partition, encoded, ended)]


def _replay(group: ClassicGroup, records: Sequence[CoordinatorRecord]) -> list[CoordinatorEffect]:
    offsets = []
    for record in records:
        if isinstance(record, OffsetCommitRecord):
            offsets.append(record)
        else:
            group.has_record = record.image is not None
    return replay_all(group, offsets)
