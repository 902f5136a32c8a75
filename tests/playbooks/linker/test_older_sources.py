"""A source of a release without reversals, without fencing, or that hides what its topics were."""

from dataclasses import replace
from typing import Any

import pytest

from linker.errors import LinkRefusal
from linker.frames import (
    MirroredTopics,
    Superseded,
    TopicState,
    Welcome,
)
from linker.protocol_versions import (
    CHECKS_REVERSALS_FROM,
    LISTS_MIRRORS_FROM,
    REVERSES_FROM,
    SUPERSEDES_FROM,
)
from linker.records.mirror_state import MirrorState
from linker.reversal_frames import CheckReversals, Reverse, WithdrawReversals
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_fencing import fail_over
from tests.playbooks.linker.test_restore import failed_over, link_back, restore
from tests.playbooks.linker.test_reversals import can_write, change, reverse, reversible, state
from tests.playbooks.linker.world import Host, World, caught_up, linked

BROUGHT = {
    Superseded: SUPERSEDES_FROM,
    Reverse: REVERSES_FROM,
    WithdrawReversals: REVERSES_FROM,
    MirroredTopics: LISTS_MIRRORS_FROM,
    CheckReversals: CHECKS_REVERSALS_FROM,
}


class Older(World):
    """Every source speaks this version of the link protocol at most."""

    def __init__(self, version: int) -> None:
        super().__init__()
        self.version = version

    def send(self, host: Host, stream: int, frame: Any) -> None:
        assert BROUGHT.get(type(frame), 0) <= self.version, frame
        if isinstance(frame, Welcome):
            frame = replace(frame, version=self.version)
        if isinstance(frame, TopicState) and self.version < SUPERSEDES_FROM:
            frame = replace(frame, former=None)
        super().send(host, stream, frame)


@pytest.mark.parametrize("verb", ["reverse-and-start", "reverse-and-pause"])
@pytest.mark.parametrize("validate_only", [False, True])
def test_a_reversal_is_refused_and_the_topic_stays_where_it_is(
    verb: str, validate_only: bool
) -> None:
    world = reversible(world=Older(REVERSES_FROM - 1))
    refusal = change(world.destination, verb, validate_only=validate_only)
    assert isinstance(refusal, LinkRefusal)
    assert refusal.code == "UNSUPPORTED_VERSION"
    assert "upgrade the source region" in refusal.hint
    world.run(2_000)
    assert state(world.destination) is MirrorState.ACTIVE
    assert can_write(world.source) and not can_write(world.destination)
    world.run_until(lambda: caught_up(world))


def test_a_dry_run_of_a_reversal_asks_no_source_that_would_do_it() -> None:
    world = reversible(world=Older(CHECKS_REVERSALS_FROM - 1))
    assert reverse(world.destination, validate_only=True).refusal is None
    world.run(2_000)
    assert state(world.destination) is MirrorState.ACTIVE
    assert can_write(world.source) and not can_write(world.destination)


def test_a_source_that_was_upgraded_is_reversed() -> None:
    world = Older(REVERSES_FROM - 1)
    reversible(world=world)
    world.version = REVERSES_FROM
    world.cut()
    world.run(5_000)
    assert reverse(world.destination).refusal is None
    world.run_until(lambda: state(world.destination) is MirrorState.STOPPED)
    assert not can_write(world.source) and can_write(world.destination)


def test_a_source_that_knows_no_fencing_stays_writable_and_the_link_says_so() -> None:
    world = Older(SUPERSEDES_FROM - 1)
    world.start()
    clients.create_topic(world.source, "orders")
    linked(world)
    (said,) = [one for one in world.destination.changes if one.to.startswith("without")]
    assert said.to == "without source.fencing.enable"
    assert "upgrade it" in said.why
    fail_over(world)
    world.run(2_000)
    assert can_write(world.source) and can_write(world.destination)


def test_a_link_that_does_not_fence_says_nothing() -> None:
    world = Older(SUPERSEDES_FROM - 1)
    world.start()
    clients.create_topic(world.source, "orders")
    linked(world, source_fencing_enable="false")
    assert not [one for one in world.destination.changes if one.to.startswith("without")]


def test_a_restore_is_refused_and_no_record_is_touched() -> None:
    world = failed_over(world=Older(SUPERSEDES_FROM - 1))
    link_back(world)
    before = world.source.log("orders", 0)
    refusal = restore(world).refusal
    assert refusal is not None
    assert refusal.code == "UNSUPPORTED_VERSION"
    assert "upgrade the source region" in refusal.hint
    world.run(2_000)
    assert world.source.log("orders", 0) == before
    assert can_write(world.source)


def test_a_source_that_was_upgraded_is_restored_from() -> None:
    world = Older(SUPERSEDES_FROM - 1)
    failed_over(world=world)
    link_back(world)
    world.version = SUPERSEDES_FROM
    world.cut()
    world.run(5_000)
    assert restore(world).refusal is None
    world.run_until(lambda: caught_up(world))
    assert world.source.log("orders", 0) == world.destination.log("orders", 0)
    assert isinstance(restore(world).refusal, LinkRefusal), "it is a mirror now"
