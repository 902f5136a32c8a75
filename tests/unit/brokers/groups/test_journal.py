"""Appends in flight."""

from brokers.errors import KafkaError
from brokers.groups.effects import AppendRecords, OffsetsCommitted
from brokers.groups.journal import Journal
from brokers.groups.membership import Group
from brokers.groups.records import GroupImage, GroupRecord, OffsetRecord
from brokers.ids import OffsetAndMetadata
from tests.unit.brokers.groups.requests import T0, T1

IMAGE = GroupImage(
    protocol_type="consumer", generation=1, protocol=None, leader=None, state_since=1, members=()
)


def token_of(effects: list) -> int:
    (append,) = effects
    assert isinstance(append, AppendRecords)
    return append.token


def test_offsets_change_when_their_records_are_committed_in_the_order_of_the_log() -> None:
    journal, group, heard = Journal(), Group("g", 7), []
    tokens = [
        token_of(
            journal.append(
                group,
                [OffsetRecord("g", T0, OffsetAndMetadata(offset))],
                lambda error, now, offset=offset: heard.append((offset, error, now)) or [],
            )
        )
        for offset in (1, 2)
    ]
    assert group.offsets == {}
    assert group.appends_in_flight == 2
    assert journal.offsets_in_flight(group) == [T0, T0]
    for token, offset in zip(tokens, (1, 2), strict=True):
        found, effects = journal.committed(token, 100 + offset)
        assert found is group
        assert effects == [OffsetsCommitted("g", {T0: OffsetAndMetadata(offset)})]
        assert group.offsets == {T0: OffsetAndMetadata(offset)}
    assert heard == [(1, KafkaError.NONE, 101), (2, KafkaError.NONE, 102)]
    assert group.appends_in_flight == 0


def test_a_failed_append_changes_nothing() -> None:
    journal, group = Journal(), Group("g", 7)
    token = token_of(journal.append(group, [OffsetRecord("g", T0, OffsetAndMetadata(1))]))
    assert journal.failed(token, KafkaError.NOT_ENOUGH_REPLICAS, 1) == (group, [])
    assert (group.offsets, group.appends_in_flight) == ({}, 0)


def test_a_token_ends_once() -> None:
    journal, group = Journal(), Group("g", 7)
    token = token_of(journal.append(group, [OffsetRecord("g", T0, OffsetAndMetadata(1))]))
    journal.committed(token, 1)
    assert journal.committed(token, 1) == (None, [])
    assert journal.failed(token, KafkaError.NONE, 1) == (None, [])
    assert group.appends_in_flight == 0


def test_the_journal_knows_whether_the_log_holds_a_group() -> None:
    journal, group = Journal(), Group("g", 7)
    first = token_of(journal.append(group, [GroupRecord("g", IMAGE)]))
    second = token_of(journal.append(group, [GroupRecord("g", None)]))
    third = token_of(journal.append(group, [GroupRecord("g", IMAGE)]))
    held = []
    journal.committed(first, 1)
    held.append(group.has_record)
    journal.committed(second, 1)
    held.append(group.has_record)
    journal.failed(third, KafkaError.NOT_ENOUGH_REPLICAS, 1)
    held.append(group.has_record)
    assert held == [True, False, False]


def test_appends_of_a_partition_that_moved_away_end_at_once() -> None:
    journal, here, elsewhere, heard = Journal(), Group("g", 7), Group("h", 8), []
    tokens = [
        token_of(
            journal.append(
                group,
                [OffsetRecord(group.id, T1, OffsetAndMetadata(1))],
                lambda error, now, group=group: heard.append((group.id, error)) or [],
            )
        )
        for group in (here, elsewhere)
    ]
    assert journal.abandon(7, 1) == []
    assert heard == [("g", KafkaError.NOT_COORDINATOR)]
    assert journal.committed(tokens[0], 1) == (None, [])
    assert journal.committed(tokens[1], 1)[0] is elsewhere
