"""A group's records in flight."""

from brokers.coordinator.effects import AppendRecords
from brokers.errors import KafkaError
from brokers.groups.classic_group import ClassicGroup
from brokers.groups.group_appends import GroupAppends
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.records import GroupImage, GroupMetadataRecord, OffsetCommitRecord
from brokers.ids import OffsetAndMetadata
from brokers.region import GroupOffsetsChanged
from tests.unit.brokers.groups.requests import T0

IMAGE = GroupImage(
    protocol_type="consumer",
    generation=1,
    protocol=None,
    leader=None,
    state_timestamp=1,
    members=(),
)
MANAGER = GroupMetadataManager(3)


def the_append(effects: list) -> AppendRecords:
    (append,) = effects
    assert isinstance(append, AppendRecords)
    return append


def test_offsets_change_when_their_records_are_committed_in_the_order_of_the_log() -> None:
    appends, group, heard = GroupAppends(MANAGER), ClassicGroup("g", 7), []
    in_flight = [
        the_append(
            appends.append(
                group,
                [OffsetCommitRecord("g", T0, OffsetAndMetadata(offset))],
                lambda error, now, offset=offset: heard.append((offset, error, now)) or [],
            )
        )
        for offset in (1, 2)
    ]
    assert group.offsets == {}
    assert [append.partition for append in in_flight] == [7, 7]
    assert group.offsets_in_flight() == [T0, T0]
    for append, offset in zip(in_flight, (1, 2), strict=True):
        effects = append.callback(KafkaError.NONE, 100 + offset)
        assert effects == [GroupOffsetsChanged("g", {T0: OffsetAndMetadata(offset)})]
        assert group.offsets == {T0: OffsetAndMetadata(offset)}
    assert heard == [(1, KafkaError.NONE, 101), (2, KafkaError.NONE, 102)]
    assert group.records_in_flight == []


def test_a_failed_append_changes_nothing() -> None:
    group = ClassicGroup("g", 7)
    records = [OffsetCommitRecord("g", T0, OffsetAndMetadata(1))]
    append = the_append(GroupAppends(MANAGER).append(group, records))
    assert append.callback(KafkaError.COORDINATOR_NOT_AVAILABLE, 1) == []
    assert (group.offsets, group.records_in_flight) == ({}, [])


def test_a_group_has_a_record_when_its_last_committed_one_is_no_tombstone() -> None:
    appends, group = GroupAppends(MANAGER), ClassicGroup("g", 7)
    errors = [KafkaError.NONE, KafkaError.NONE, KafkaError.NOT_COORDINATOR]
    in_flight = [
        the_append(appends.append(group, [GroupMetadataRecord("g", image)]))
        for image in (IMAGE, None, IMAGE)
    ]
    held = []
    for append, error in zip(in_flight, errors, strict=True):
        append.callback(error, 1)
        held.append(group.has_record)
    assert held == [True, False, False]


def test_a_group_for_which_nothing_could_be_committed_is_removed() -> None:
    manager = GroupMetadataManager(3)
    group = manager.create("g")
    records = [OffsetCommitRecord("g", T0, OffsetAndMetadata(1))]
    append = the_append(GroupAppends(manager).append(group, records))
    manager.remove_if_unused(group)
    assert manager.groups == {"g": group}
    append.callback(KafkaError.MESSAGE_TOO_LARGE, 1)
    assert manager.groups == {}
