"""DeleteGroups and OffsetDelete: both append tombstones, and take effect when these are committed."""

from collections.abc import Callable, Iterable, Mapping

from brokers.coordinator.effects import AppendCallback, CoordinatorEffect, CoordinatorReply
from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.consumer_protocol import CONSUMER_PROTOCOL_TYPE
from brokers.groups.group_appends import GroupAppends
from brokers.groups.group_state import GroupState
from brokers.groups.offset_commits import tombstones
from brokers.groups.records import CoordinatorRecord, GroupMetadataRecord
from brokers.groups.requests import DeleteGroupsResult, DeleteOffsetsResult
from brokers.ids import Instant, Ticket, TopicPartition


class GroupDeletions:
    """One DeleteGroups request; its reply leaves when every group's deletion is committed or has failed."""

    def __init__(self, ticket: Ticket, appends: GroupAppends) -> None:
        self._ticket = ticket
        self._appends = appends
        self._errors: dict[str, KafkaError] = {}
        self._outstanding = 1  # the request itself, until `release`

    def refuse(self, group: str, error: KafkaError) -> None:
        self._errors[group] = error

    def delete(self, group: ClassicGroup) -> list[CoordinatorEffect]:
        if group.state is not GroupState.EMPTY:
            self._errors[group.id] = KafkaError.NON_EMPTY_GROUP
            return []
        self._errors[group.id] = KafkaError.NONE  # keeps the order of the request
        self._outstanding += 1
        return self._appends.append(group, group_tombstones(group), self._deleted(group.id))

    def _deleted(self, group: str) -> AppendCallback:
        def written(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
            self._errors[group] = error
            return self.release()

        return written

    def release(self) -> list[CoordinatorEffect]:
        self._outstanding -= 1
        return (
            []
            if self._outstanding
            else [CoordinatorReply(self._ticket, DeleteGroupsResult(self._errors))]
        )


def group_tombstones(group: ClassicGroup) -> list[CoordinatorRecord]:
    """Tombstones for every record of a group in the log or in flight."""
    partitions = [*group.offsets, *group.offsets_in_flight()]
    return [*tombstones(group.id, partitions), GroupMetadataRecord(group.id, None)]


def delete_offsets(
    ticket: Ticket,
    group: ClassicGroup,
    partitions: Iterable[TopicPartition],
    appends: GroupAppends,
) -> list[CoordinatorEffect]:
    """OffsetDelete (KIP-496): of a group with members only offsets of topics to which no member subscribes."""
    is_subscribed = (
        group.topic_filter() if group.state is not GroupState.EMPTY else _never_subscribed
    )
    errors = {partition: _subscription_error(partition, is_subscribed) for partition in partitions}
    if group.state is not GroupState.EMPTY and group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        return [CoordinatorReply(ticket, DeleteOffsetsResult(KafkaError.NON_EMPTY_GROUP))]
    known = {*group.offsets, *group.offsets_in_flight()}
    to_delete = [name for name, error in errors.items() if not error and name in known]
    if not to_delete:
        return [CoordinatorReply(ticket, DeleteOffsetsResult(KafkaError.NONE, errors))]
    return appends.append(group, tombstones(group.id, to_delete), _deleted(ticket, errors))


def _never_subscribed(topic: str) -> bool:
    return False


def _subscription_error(
    partition: TopicPartition, is_subscribed: Callable[[str], bool]
) -> KafkaError:
    return (
        KafkaError.GROUP_SUBSCRIBED_TO_TOPIC if is_subscribed(partition.topic) else KafkaError.NONE
    )


def _deleted(ticket: Ticket, errors: Mapping[TopicPartition, KafkaError]) -> AppendCallback:
    def written(error: KafkaError, now: Instant) -> list[CoordinatorEffect]:
        return [CoordinatorReply(ticket, DeleteOffsetsResult(error, {} if error else errors))]

    return written
