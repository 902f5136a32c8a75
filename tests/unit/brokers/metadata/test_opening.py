"""Whatever the order of the disk's answers, the same is opened."""

from itertools import permutations

import pytest

from brokers.effects import LoadState
from brokers.events import LogOpened, StateLoaded
from brokers.ids import METADATA_PARTITION
from brokers.metadata import snapshot
from brokers.metadata.checkpoints import POINTER_NAME
from brokers.metadata.image import Image
from brokers.metadata.opening import Opening
from brokers.metadata.quorum import STATE_NAME, QuorumState
from brokers.metadata.records import MetadataLogError
from tests.playbooks.metadata.host import Disk
from tests.unit.brokers.metadata.images import Region

STATE = QuorumState(leader_id=1, leader_epoch=3, voted_id=1)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_answers_may_come_in_any_order(order: tuple[int, ...]) -> None:
    region, disk = Region(), Disk()
    end = disk.start = region.image.next_offset
    name = snapshot.name(end, 2)
    answers = (
        LogOpened(METADATA_PARTITION, disk.open()),
        StateLoaded(STATE_NAME, STATE.encode()),
        StateLoaded(POINTER_NAME, name.encode()),
    )
    opening = Opening(Image("region-one"), wants_snapshot=True)
    asked = [effect for index in order for effect in opening.take(answers[index])]
    assert asked == [LoadState(name)] and not opening.is_complete
    opening.take(StateLoaded(name, snapshot.encode(region.image, 2, 5)))
    assert opening.is_complete and opening.snapshot_name == name
    assert vars(opening.image) == vars(region.image)
    assert opening.log.log_start_offset == end and opening.quorum_state == STATE


def test_an_empty_disk_is_complete_too() -> None:
    opening = Opening(Image("r"), wants_snapshot=True)
    for name in (STATE_NAME, POINTER_NAME):
        opening.take(StateLoaded(name, None))
        assert not opening.is_complete
    opening.take(LogOpened(METADATA_PARTITION, Disk().open()))
    assert opening.is_complete and opening.quorum_state == QuorumState()


def test_a_node_with_an_image_wants_no_snapshot() -> None:
    opening = Opening(Image("r"), wants_snapshot=False)
    assert opening.take(StateLoaded(POINTER_NAME, b"whatever")) == []


def test_a_log_that_does_not_continue_the_image_is_refused() -> None:
    disk = Disk()
    disk.start = 9
    opening = Opening(Image("r"), wants_snapshot=True)
    opening.take(LogOpened(METADATA_PARTITION, disk.open()))
    with pytest.raises(MetadataLogError, match="9 to 9, but offset 0 comes next"):
        assert opening.log
