"""The steps of a snapshot."""

from brokers.effects import SaveState
from brokers.metadata.checkpoints import POINTER_NAME, Checkpoints
from brokers.metadata.snapshot import name
from tests.unit.brokers.metadata.images import Region


def test_it_is_due_after_enough_bytes_and_not_while_one_is_written() -> None:
    image, checkpoints = Region().image, Checkpoints(100)
    checkpoints.appended(99)
    assert not checkpoints.is_due
    checkpoints.appended(1)
    assert checkpoints.is_due
    assert checkpoints.begin(image, 1, 5)
    checkpoints.appended(500)
    assert not checkpoints.is_due and checkpoints.begin(image, 1, 5) == []


def test_file_then_pointer_then_the_old_one_goes() -> None:
    region, checkpoints = Region(), Checkpoints(100)
    old, new = name(1, 1), name(region.image.next_offset, 2)
    checkpoints.found(old)
    (save,) = checkpoints.begin(region.image, 2, 5)
    assert isinstance(save, SaveState) and save.name == new
    assert checkpoints.saved("something/else") == ([], None)
    assert checkpoints.saved(new) == ([SaveState(POINTER_NAME, new.encode())], None)
    assert checkpoints.saved(POINTER_NAME) == ([SaveState(old, None)], region.image.next_offset)
    assert checkpoints.saved(POINTER_NAME) == ([], None), "reported once"


def test_the_same_image_is_not_written_twice() -> None:
    region, checkpoints = Region(), Checkpoints(100)
    checkpoints.found(name(region.image.next_offset, 2))
    assert checkpoints.begin(region.image, 2, 5) == []


def test_a_snapshot_given_up_is_due_again() -> None:
    region, checkpoints = Region(), Checkpoints(100)
    checkpoints.given_up()
    assert not checkpoints.is_due
    checkpoints.begin(region.image, 2, 5)
    checkpoints.given_up()
    assert checkpoints.is_due and checkpoints.saved(name(region.image.next_offset, 2)) == ([], None)
