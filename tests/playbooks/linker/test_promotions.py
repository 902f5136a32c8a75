"""A promotion proves by what it asked for itself, and gives up when its time is over, whatever came between."""

import pytest

from linker.commands import ChangeMirrors
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_stopping import change, started, state


@pytest.mark.parametrize("timeout_ms", [-1, 1 << 31])
@pytest.mark.parametrize("validate_only", [False, True])
def test_a_time_that_no_promotion_has_is_refused(timeout_ms: int, validate_only: bool) -> None:
    """Over gRPC, which has more numbers than the command line."""
    world = started()
    command = ChangeMirrors(
        verb="promote",
        link="west-east",
        topics=("orders",),
        timeout_ms=timeout_ms,
        validate_only=validate_only,
    )
    refusal = world.destination.ask(command)
    assert isinstance(refusal, LinkRefusal) and refusal.code == "INVALID_REQUEST"
    assert str(timeout_ms) in refusal.because
    assert state(world) is MirrorState.ACTIVE


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


def test_a_promotion_that_never_catches_up_is_given_up_and_says_what_to_do() -> None:
    """Producers write more than the link may copy."""
    world = started(io_max_bytes_per_second="100000", replica_fetch_max_bytes="65536")
    for _ in range(20):
        clients.send(world.source, "orders", 0, b"x" * 60_000)
    assert change(world, "promote", timeout_ms=2_000).refusal is None
    world.run_until(lambda: state(world) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == "TIMEOUT_ERROR"
    assert error.because == (
        "promote gave up: partition 0 is behind; if producers go on at the source, pause them"
    )
