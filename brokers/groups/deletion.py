"""Deleting groups, and offsets of groups: tombstones first, gone when they are committed."""

from collections.abc import Callable, Iterable, Mapping

from brokers.errors import KafkaError
from brokers.groups.effects import Answer, GroupEffect
from brokers.groups.journal import Journal, Then
from brokers.groups.membership import Group
from brokers.groups.offsets import tombstones
from brokers.groups.records import GroupRecord, StoredRecord
from brokers.groups.requests import DeleteGroupsAnswer, DeleteOffsetsAnswer
from brokers.groups.states import State
from brokers.groups.subscription import CONSUMER
from brokers.ids import Instant, Ticket, TopicPartition


class GroupsDeletion:
    """One DeleteGroups request; answered when the last of its groups is settled."""

    def __init__(self, ticket: Ticket, journal: Journal) -> None:
        self._ticket = ticket
        self._journal = journal
        self._errors: dict[str, KafkaError] = {}
        self._missing = 1  # the request itself, until `release`

    def refuse(self, group: str, error: KafkaError) -> None:
        self._errors[group] = error

    def delete(self, group: Group) -> list[GroupEffect]:
        if group.state is not State.EMPTY:
            self._errors[group.id] = KafkaError.NON_EMPTY_GROUP
            return []
        self._errors[group.id] = KafkaError.NONE  # keeps the order of the request
        self._missing += 1
        return self._journal.append(group, end_of(group, self._journal), self._settled(group.id))

    def _settled(self, group: str) -> Then:
        def written(error: KafkaError, now: Instant) -> list[GroupEffect]:
            self._errors[group] = error
            return self.release()

        return written

    def release(self) -> list[GroupEffect]:
        self._missing -= 1
        return [] if self._missing else [Answer(self._ticket, DeleteGroupsAnswer(self._errors))]


def end_of(group: Group, journal: Journal) -> list[StoredRecord]:
    """Tombstones for all that the log holds of a group, what is still on its way into it included."""
    partitions = [*group.offsets, *journal.offsets_in_flight(group)]
    return [*tombstones(group.id, partitions), GroupRecord(group.id, None)]


def delete_offsets(
    ticket: Ticket, group: Group, partitions: Iterable[TopicPartition], journal: Journal
) -> list[GroupEffect]:
    """OffsetDelete (KIP-496): of a living group only what nobody in it reads."""
    is_read = group.readership() if group.state is not State.EMPTY else _by_nobody
    errors = {partition: _undeletable(partition, is_read) for partition in partitions}
    if group.state is not State.EMPTY and group.protocol_type != CONSUMER:
        return [Answer(ticket, DeleteOffsetsAnswer(KafkaError.NON_EMPTY_GROUP))]
    known = {*group.offsets, *journal.offsets_in_flight(group)}
    doomed = [name for name, error in errors.items() if not error and name in known]
    if not doomed:
        return [Answer(ticket, DeleteOffsetsAnswer(KafkaError.NONE, errors))]
    return journal.append(group, tombstones(group.id, doomed), _deleted(ticket, errors))


def _by_nobody(topic: str) -> bool:
    return False


def _undeletable(partition: TopicPartition, is_read: Callable[[str], bool]) -> KafkaError:
    return KafkaError.GROUP_SUBSCRIBED_TO_TOPIC if is_read(partition.topic) else KafkaError.NONE


def _deleted(ticket: Ticket, errors: Mapping[TopicPartition, KafkaError]) -> Then:
    def written(error: KafkaError, now: Instant) -> list[GroupEffect]:
        return [Answer(ticket, DeleteOffsetsAnswer(error, {} if error else errors))]

    return written
