"""Controllers in the metadata log: their newest word counts, and a snapshot keeps it."""

from uuid import UUID

from brokers.metadata.commands.broker_commands import RegisterController
from brokers.metadata.image import snapshot
from brokers.metadata.image.replay import replay
from brokers.wire.messages.metadata_records import UnregisterControllerRecord
from tests.unit.brokers.metadata.images import Region

FIRST = RegisterController(
    controller_id=2,
    incarnation=UUID(int=5),
    endpoints=(("CONTROLLER", "here", 93),),
    features=(("metadata.version", 7, 30),),
)
SECOND = RegisterController(
    controller_id=2, incarnation=UUID(int=6), endpoints=(("CONTROLLER", "there", 94),), features=()
)


def test_the_newest_registration_counts() -> None:
    region = Region()
    region.do(FIRST)
    (controller,) = region.image.controllers.values()
    assert (controller.id, controller.incarnation) == (2, UUID(int=5))
    assert [tuple(each) for each in controller.endpoints] == [("CONTROLLER", "here", 93)]
    assert [tuple(each) for each in controller.features] == [("metadata.version", 7, 30)]
    region.do(SECOND)
    assert [each.endpoints[0].port for each in region.image.controllers.values()] == [94]


def test_what_is_said_again_is_not_written_again() -> None:
    region = Region()
    region.do(FIRST)
    end = region.image.next_offset
    region.do(FIRST)
    assert region.image.next_offset == end


def test_a_snapshot_keeps_controllers() -> None:
    region = Region()
    region.do(FIRST)
    data = snapshot.encode(region.image, 1, 9)
    again = snapshot.decode(data, "region-one", region.image.next_offset)
    assert again.controllers == region.image.controllers
    assert region.image.copy().controllers == region.image.controllers


def test_a_controller_that_was_taken_off_is_forgotten() -> None:
    region = Region()
    region.do(FIRST)
    replay(region.image, [UnregisterControllerRecord(controller_id=2)], 99)
    assert region.image.controllers == {}
