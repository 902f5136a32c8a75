"""The broker that hears of a takeover takes no write from then on, also before its region can write that down."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.mirror_commands import SetTopicWriter
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_fencing import REFUSED, fail_over, is_fenced
from tests.playbooks.linker.test_startup_wait import HELD, Producer, mirrored
from tests.playbooks.linker.world import World

ANSWER_MS = 1_000  # until a broker gives up asking the controller
AWAY = Refusal(KafkaError.NOT_CONTROLLER, "no controller answers")


class Leaderless(World):
    """While it has no quorum, the source's controller writes down nobody as the writer of a topic."""

    def __init__(self) -> None:
        super().__init__()
        self.has_quorum = True
        self.source.on_start = self._listen

    def _listen(self) -> None:
        together, timers = self.source.linker._region._together, self.source.linker._region.timers
        asked: Callable[..., None] = together.set_writer

        def ask(command: SetTopicWriter, then: Any) -> None:
            if self.has_quorum:
                asked(command, then)
            else:
                timers.set(self.source.now + ANSWER_MS, partial(then, AWAY))

        together.set_writer = ask  # type: ignore[method-assign]


@pytest.fixture
def world() -> Leaderless:
    """`orders` was failed over, and the source has heard of it, without a quorum."""
    world = mirrored(Leaderless())
    world.has_quorum = False
    fail_over(world)
    world.run(100)
    assert not is_fenced(world)
    return world


@pytest.mark.parametrize("acks", [1, -1])
def test_no_write_is_acknowledged_by_who_has_heard(world: Leaderless, acks: int) -> None:
    log = world.source.log("orders", 0)
    producer = Producer(world.source, "orders", acks=acks, timeout_ms=4_000)
    assert producer.wait() == ({"orders": HELD}, 4_000)
    assert world.source.log("orders", 0) == log
    assert clients.send(world.source, "own", 0, b"of no mirror")[0] == 0


def test_who_waits_is_refused_for_good_once_it_is_written_down(world: Leaderless) -> None:
    producer = Producer(world.source, "orders")
    world.has_quorum = True
    codes, took = producer.wait()
    assert codes == {"orders": REFUSED} and took < 3 * ANSWER_MS
    assert is_fenced(world)


def test_a_topic_that_is_made_anew_is_not_held(world: Leaderless) -> None:
    clients.delete_topic(world.source, "orders")
    world.run(100)
    clients.create_topic(world.source, "orders")
    assert clients.send(world.source, "orders", 0, b"another topic")[0] == 0
