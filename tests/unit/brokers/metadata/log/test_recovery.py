"""Whatever the order of the disk's answers, the same is opened."""

from itertools import permutations
from uuid import UUID

import pytest

from brokers.effects import LoadState, ReadRange
from brokers.events import LogOpened, RangeRead, StateLoaded
from brokers.ids import METADATA_PARTITION
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.image.record_batches import data_batch
from brokers.metadata.image.record_serde import MetadataLogError
from brokers.metadata.log.recovery import SCAN_TICKET, MetadataRecovery
from brokers.metadata.log.snapshot_pointer import NOTHING, POINTER_NAME
from brokers.quorum.control_records import control_batch
from brokers.quorum.election_state import STATE_NAME, VOTER_NAME, ElectionState
from brokers.quorum.ids import SnapshotId
from brokers.quorum.voters import Voter, VoterSet
from brokers.wire.messages.metadata_records import NoOpRecord
from tests.playbooks.metadata.host import Disk
from tests.unit.brokers.metadata.images import Region

STATE = ElectionState(leader_id=1, leader_epoch=3, voted_id=1)
CONFIGURED = VoterSet([Voter(1)])
RECORDED = VoterSet([Voter(1, UUID(int=7)), Voter(2, UUID(int=8))])


def opening(*, wants_image: bool = True) -> MetadataRecovery:
    return MetadataRecovery(Image("region-one"), CONFIGURED, wants_image=wants_image)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_answers_may_come_in_any_order(order: tuple[int, ...]) -> None:
    region, disk, opened = Region(), Disk(), opening()
    end = disk.start = region.image.next_offset
    found = SnapshotId(end, 2)
    answers = (
        LogOpened(METADATA_PARTITION, disk.open()),
        StateLoaded(STATE_NAME, STATE.encode()),
        StateLoaded(VOTER_NAME, b""),
        StateLoaded(POINTER_NAME, found.file_name.encode()),
    )
    asked = [effect for index in order for effect in opened.on_event(answers[index])]
    assert asked == [LoadState(found.file_name)] and not opened.is_complete
    data = snapshot.encode(region.image, 2, 5, voters=RECORDED)
    assert opened.on_event(StateLoaded(found.file_name, data)) == []
    assert opened.is_complete and opened.snapshot == found and opened.was_voter
    assert vars(opened.image) == vars(region.image)
    assert opened.voters.latest == RECORDED and opened.voters.kraft_version == 1
    assert opened.log.log_start_offset == end and opened.quorum_state == STATE


def test_an_empty_disk_is_complete_too() -> None:
    opened = opening()
    for name in (STATE_NAME, VOTER_NAME, POINTER_NAME):
        opened.on_event(StateLoaded(name, None))
        assert not opened.is_complete
    opened.on_event(LogOpened(METADATA_PARTITION, Disk().open()))
    assert opened.is_complete and opened.quorum_state == ElectionState()
    assert opened.snapshot == NOTHING and opened.voters.latest == CONFIGURED


def with_log(*batches: bytearray) -> tuple[MetadataRecovery, list]:
    disk, opened = Disk(), opening()
    disk.batches = [bytes(batch) for batch in batches]
    effects = [
        effect
        for event in (
            StateLoaded(STATE_NAME, None),
            StateLoaded(VOTER_NAME, None),
            StateLoaded(POINTER_NAME, None),
            LogOpened(METADATA_PARTITION, disk.open()),
        )
        for effect in opened.on_event(event)
    ]
    return opened, effects


def test_the_log_is_looked_through_for_who_votes() -> None:
    said = control_batch([RECORDED.record()], base_offset=1, leader_epoch=1, now=5)
    other = data_batch([NoOpRecord()], base_offset=0, leader_epoch=1, now=5)
    opened, (look,) = with_log(other, said)
    assert isinstance(look, ReadRange) and (look.offset, look.bound) == (0, 2)
    (rest,) = opened.on_event(RangeRead(SCAN_TICKET, METADATA_PARTITION, bytes(other), 1))
    assert not opened.is_complete and rest.offset == 1
    assert opened.on_event(RangeRead(SCAN_TICKET, METADATA_PARTITION, bytes(said), 2)) == []
    assert opened.is_complete
    assert opened.voters.latest == RECORDED and opened.voters.latest_offset == 1


def test_a_log_that_reads_as_empty_is_refused() -> None:
    opened, _ = with_log(data_batch([NoOpRecord()], base_offset=0, leader_epoch=1, now=5))
    with pytest.raises(MetadataLogError, match="nothing at 0"):
        opened.on_event(RangeRead(SCAN_TICKET, METADATA_PARTITION, b"", 0))


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_node_with_an_image_takes_only_a_newer_one(ahead: int) -> None:
    """Its disk may have refused just when a snapshot from the leader was to take the image's place."""
    region = Region()
    found = SnapshotId(region.image.next_offset, 2)
    image = Image("region-one")
    image.next_offset = found.end_offset - ahead
    opened = MetadataRecovery(image, CONFIGURED, wants_image=False)
    assert opened.on_event(StateLoaded(POINTER_NAME, found.file_name.encode()))
    opened.on_event(
        StateLoaded(found.file_name, snapshot.encode(region.image, 2, 5, voters=RECORDED))
    )
    assert (opened.image is image) is (ahead == 0) and opened.voters.latest == RECORDED


def test_a_log_that_does_not_continue_the_snapshot_is_refused() -> None:
    disk, opened = Disk(), opening()
    disk.start = 9
    opened.on_event(StateLoaded(STATE_NAME, None))
    opened.on_event(StateLoaded(VOTER_NAME, None))
    opened.on_event(StateLoaded(POINTER_NAME, None))
    with pytest.raises(MetadataLogError, match="9 to 9, but offset 0 comes next"):
        opened.on_event(LogOpened(METADATA_PARTITION, disk.open()))
