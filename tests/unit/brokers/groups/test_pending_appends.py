"""Appends in flight."""

from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.effects import AppendRecords, OffsetsCommitted
from brokers.groups.pending_appends import PendingAppends
from brokers.groups.records import GroupImage, GroupMetadataRecord, OffsetCommitRecord
from brokers.ids import OffsetAndMetadata
from tests.unit.brokers.groups.requests import T0, T1

IMAGE = GroupImage(
    protocol_type="consumer",
    generation=1,
    protocol=None,
    leader=None,
    state_timestamp=1,
    members=(),
)


def token_of(effects: list) -> int:
    (append,) = effects
    assert isinstance(append, AppendRecords)
    return append.token


def test_offsets_change_when_their_records_are_committed_in_the_order_of_the_log() -> None:
    appends, group, heard = PendingAppends(), ClassicGroup("g", 7), []
    tokens = [
        token_of(
            appends.append(
                group,
                [OffsetCommitRecord("g", T0, OffsetAndMetadata(offset))],
                lambda error, now, offset=offset: heard.append((offset, error, now)) or [],
            )
        )
        for offset in (1, 2)
    ]
    assert group.offsets == {}
    assert group.appends_in_flight == 2
    assert appends.offsets_in_flight(group) == [T0, T0]
    for token, offset in zip(tokens, (1, 2), strict=True):
        found, effects = appends.committed(token, 100 + offset)
        assert found is group
        assert effects == [OffsetsCommitted("g", {T0: OffsetAndMetadata(offset)})]
        assert group.offsets == {T0: OffsetAndMetadata(offset)}
    assert heard == [(1, KafkaError.NONE, 101), (2, KafkaError.NONE, 102)]
    assert group.appends_in_flight == 0


def test_a_failed_append_changes_nothing() -> None:
    appends, group = PendingAppends(), ClassicGroup("g", 7)
    token = token_of(appends.append(group, [OffsetCommitRecord("g", T0, OffsetAndMetadata(1))]))
    assert appends.failed(token, KafkaError.NOT_ENOUGH_REPLICAS, 1) == (group, [])
    assert (group.offsets, group.appends_in_flight) == ({}, 0)


def test_a_token_ends_once() -> None:
    appends, group = PendingAppends(), ClassicGroup("g", 7)
    token = token_of(appends.append(group, [OffsetCommitRecord("g", T0, OffsetAndMetadata(1))]))
    appends.committed(token, 1)
    assert appends.committed(token, 1) == (None, [])
    assert appends.failed(token, KafkaError.NONE, 1) == (None, [])
    assert group.appends_in_flight == 0


def test_the_journal_knows_whether_the_log_holds_a_group() -> None:
    appends, group = PendingAppends(), ClassicGroup("g", 7)
    first = token_of(appends.append(group, [GroupMetadataRecord("g", IMAGE)]))
    second = token_of(appends.append(group, [GroupMetadataRecord("g", None)]))
    third = token_of(appends.append(group, [GroupMetadataRecord("g", IMAGE)]))
    held = []
    appends.committed(first, 1)
    held.append(group.has_record)
    appends.committed(second, 1)
    held.append(group.has_record)
    appends.failed(third, KafkaError.NOT_ENOUGH_REPLICAS, 1)
    held.append(group.has_record)
    assert held == [True, False, False]


def test_appends_of_a_partition_that_moved_away_end_at_once() -> None:
    appends, here, elsewhere, heard = (
        PendingAppends(),
        ClassicGroup("g", 7),
        ClassicGroup("h", 8),
        [],
    )
    tokens = [
        token_of(
            appends.append(
                group,
                [OffsetCommitRecord(group.id, T1, OffsetAndMetadata(1))],
                lambda error, now, group=group: heard.append((group.id, error)) or [],
            )
        )
        for group in (here, elsewhere)
    ]
    assert appends.abandon(7, 1) == []
    assert heard == [("g", KafkaError.NOT_COORDINATOR)]
    assert appends.committed(tokens[0], 1) == (None, [])
    assert appends.committed(tokens[1], 1)[0] is elsewhere
