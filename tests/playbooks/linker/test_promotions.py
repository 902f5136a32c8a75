"""A promotion proves by what it asked for itself, and gives up when its time is over, whatever came between."""

from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_stopping import change, started, state


def test_a_promotion_takes_no_answer_to_an_earlier_one_for_its_proof() -> None:
    """The first one gave up before the source answered; that answer came, and then the source took another record."""
    world = started()
    world.delay_ms = 100
    assert change(world, "promote", timeout_ms=60).refusal is None
    world.run(500)
    assert state(world) is MirrorState.ACTIVE
    assert clients.send(world.source, "orders", 0, b"c") == (0, 2)
    assert change(world, "promote").refusal is None
    world.run_until(lambda: state(world) is MirrorState.STOPPED)
    cut = world.destination.mirror("orders").record.cut
    assert cut is not None
    assert cut.partitions[0].offset == 3
