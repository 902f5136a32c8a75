"""The digests of a log that moves to another directory."""

import pytest

from brokers.events import Event, LogMoved, SegmentSealed
from tests.unit.brokers.storage.driver import TP
from tests.unit.brokers.storage.test_moving import BIG, A, B, Story


@pytest.mark.parametrize("size", [10, BIG])
@pytest.mark.parametrize("when", ["before", "within", "across", "after"])
def test_digests_move_along_or_are_written_there(size: int, when: str) -> None:
    story, sealed = Story(), list[Event]()
    for _ in range(6):
        story.write(size)
        story.roll()
    if when == "before":
        sealed = story.digest()
    if when == "within":
        assert (story.copy() and size == BIG) or story.home == A
        sealed = story.digest()
    if when == "across":
        writing = story.storage.begin_digest(TP)
        steps = writing.steps()
        next(steps)
    assert story.move() == [LogMoved(TP, B)]
    if when == "across":
        assert list(steps) == [] and story.storage.end_digest(TP, writing) == []
    sealed += story.digest()
    bases = [event.base_offset for event in sealed if isinstance(event, SegmentSealed)]
    assert bases == [*range(6)]
    assert story.digests(B) == [f"{base:020}.digest" for base in range(6)]
    assert not story.disks[A].exists(str(TP))
    story.start()
    # Recovery looks at the one that ends where the log was last synced.
    assert all(segment.is_sealed for segment in story.log.segments[:-2])
    assert story.home == B and story.digests(B)[:5] == [f"{base:020}.digest" for base in range(5)]
