"""The steps of a snapshot."""

from brokers.effects import SaveState
from brokers.metadata.image import snapshot
from brokers.metadata.image.image import Image
from brokers.metadata.log.snapshot_pointer import (
    NOTHING,
    POINTER_NAME,
    SavedSnapshot,
    SnapshotPointer,
)
from brokers.quorum.ids import SnapshotId
from tests.unit.brokers.metadata.images import Region


def taken(image: Image, leader_epoch: int = 2) -> SnapshotId:
    return SnapshotId(image.next_offset, leader_epoch)


def test_it_is_due_after_enough_bytes_and_not_while_one_is_written() -> None:
    image, checkpoints = Region().image, SnapshotPointer(100)
    checkpoints.appended(99)
    assert not checkpoints.is_due
    checkpoints.appended(1)
    assert checkpoints.is_due
    assert checkpoints.begin(image, taken(image), None, 5)
    checkpoints.appended(500)
    assert not checkpoints.is_due and checkpoints.begin(image, taken(image), None, 5) == []


def test_file_then_pointer_then_the_old_one_goes() -> None:
    region, checkpoints = Region(), SnapshotPointer(100)
    old, new = SnapshotId(1, 1), taken(region.image)
    checkpoints.found(old)
    (save,) = checkpoints.begin(region.image, new, None, 5)
    assert isinstance(save, SaveState) and save.name == new.file_name
    assert checkpoints.saved("something/else") == ([], None)
    name = new.file_name
    assert checkpoints.saved(name) == ([SaveState(POINTER_NAME, name.encode())], None)
    assert checkpoints.saved(POINTER_NAME) == (
        [SaveState(old.file_name, None)],
        SavedSnapshot(new, old, None),
    )
    assert checkpoints.current == new
    assert checkpoints.saved(POINTER_NAME) == ([], None), "reported once"


def test_one_from_the_leader_goes_the_same_way_and_comes_back_to_be_installed() -> None:
    region, checkpoints = Region(), SnapshotPointer(100)
    arrived, data = taken(region.image), snapshot.encode(region.image, 2, 5)
    assert checkpoints.keep(arrived, data) == [SaveState(arrived.file_name, data)]
    assert checkpoints.is_saving and checkpoints.begin(region.image, arrived, None, 5) == []
    checkpoints.saved(arrived.file_name)
    assert checkpoints.saved(POINTER_NAME) == ([], SavedSnapshot(arrived, NOTHING, data))
    assert not checkpoints.is_saving


def test_the_same_image_is_not_written_twice() -> None:
    region, checkpoints = Region(), SnapshotPointer(100)
    checkpoints.found(taken(region.image))
    assert checkpoints.begin(region.image, taken(region.image), None, 5) == []


def test_a_snapshot_given_up_is_due_again() -> None:
    region, checkpoints = Region(), SnapshotPointer(100)
    checkpoints.on_disk_failed()
    assert not checkpoints.is_due
    checkpoints.begin(region.image, taken(region.image), None, 5)
    checkpoints.on_disk_failed()
    assert checkpoints.is_due
    assert checkpoints.saved(taken(region.image).file_name) == ([], None)
