"""`--dry-run` of a reversal: both regions say what they would refuse, and nothing is changed."""

from typing import Any

import pytest

from linker.answers import LinkDescription, Topics
from linker.commands import ChangeMirrors, CreateMirror, DeleteLink
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.records.mirror_state import MirrorState
from linker.reversal_frames import CheckReversals, ReversalsChecked
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import (
    BOTH_DIAL,
    LINK,
    create,
    described,
    link_both_ways,
    link_from_one_end,
    mirror,
)
from tests.playbooks.linker.test_loops import link as link_from
from tests.playbooks.linker.test_reversals import can_write, reverse, reversible, state
from tests.playbooks.linker.world import Host, World

TICKET = 1 << 40
VERBS = ("reverse-and-start", "reverse-and-pause")


class Counting(World):
    """How many frames of these it sends; `is_cut_off`: none of them arrives."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[type] = []
        self.is_cut_off = False

    def send(self, host: Host, stream: int, frame: Any) -> None:
        if isinstance(frame, CheckReversals | ReversalsChecked):
            self.sent.append(type(frame))
            if self.is_cut_off:
                return
        super().send(host, stream, frame)


def prefixed_at_the_source(world: World) -> None:
    """What the source mirrors has a prefix: its mirror of the reversed topic would have another name."""
    for host, address, more in (
        (world.destination, "west:9092", {}),
        (world.source, "east:9092", {"cluster.link.prefix": "e."}),
    ):
        answer = create(host, {**BOTH_DIAL, **more, "bootstrap.servers": address})
        assert isinstance(answer, LinkDescription), answer


def dry_run(world: World, verb: str = VERBS[0]) -> LinkRefusal | None:
    """Neither region's metadata may change."""
    world.run(3_000)  # what the source keeps of its destinations
    ends = (world.source, world.destination)
    before = [one.view.image.next_offset for one in ends]
    refusal = reverse(world.destination, verb, validate_only=True).refusal
    world.run(3_000)
    assert [one.view.image.next_offset for one in ends] == before
    assert can_write(world.source) and not can_write(world.destination)
    return refusal


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("link", [None, link_from_one_end])
def test_what_neither_region_would_refuse(link: Any, verb: str) -> None:
    world = Counting()
    _ = reversible(world=world) if link is None else reversible(link, world=world)
    assert dry_run(world, verb) is None
    assert world.sent == [CheckReversals, ReversalsChecked]
    assert reverse(world.destination, verb).refusal is None
    world.run_until(lambda: state(world.destination) is MirrorState.STOPPED)
    assert can_write(world.destination) and not can_write(world.source)


@pytest.mark.parametrize("verb", VERBS)
def test_what_the_source_would_refuse_is_refused_as_it_would_be(verb: str) -> None:
    world = reversible(prefixed_at_the_source)
    refusal = dry_run(world, verb)
    assert refusal is not None
    assert refusal.code == "INVALID_REQUEST"
    assert refusal.because == "link both has a prefix at the source"
    assert "source region" in refusal.hint
    assert reverse(world.destination, verb).refusal is None
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == refusal.code and refusal.because in error.because


def mirror_of_a_mirror() -> World:
    """North's topic goes to west, and from there to east."""
    world = World().start()
    north = Host(world, "north").start()
    clients.create_topic(north, "orders")
    link_from(world.source, "north-west", "north")
    world.source.ask(CreateMirror(link="north-west", mirror_topic="orders"))
    link_both_ways(world)
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    mirror(world.destination, "orders")
    clients.send(north, "orders", 0, b"one")
    world.run_until(lambda: north.log("orders", 0) == world.destination.log("orders", 0) != b"")
    return world


@pytest.mark.parametrize("verb", VERBS)
def test_a_source_that_mirrors_the_topic_of_a_third_region_refuses_as_it_would(verb: str) -> None:
    world = mirror_of_a_mirror()
    refusal = reverse(world.destination, verb, validate_only=True).refusal
    assert refusal is not None
    assert refusal.code == "INVALID_REQUEST"
    assert refusal.because == "orders is read-only at the source: mirror topic of link north-west"
    assert reverse(world.destination, verb).refusal is None
    world.run_until(lambda: state(world.destination) is MirrorState.ACTIVE)
    (error,) = world.destination.mirror("orders").record.transition_errors
    assert error.code == refusal.code and refusal.because in error.because
    assert state(world.source) is MirrorState.ACTIVE


def test_a_source_that_does_not_answer_is_refused_in_time() -> None:
    world = Counting()
    reversible(world=world)
    world.is_cut_off = True
    began = world.now
    refusal = reverse(world.destination, validate_only=True).refusal
    assert refusal is not None
    assert refusal.code == "CLUSTER_LINK_UNAVAILABLE"
    assert "does not answer" in refusal.because
    assert world.now - began < 6_000
    world.is_cut_off = False
    assert dry_run(world) is None


def test_an_answer_that_comes_late_is_no_answer_to_the_next() -> None:
    world = Counting()
    reversible(world=world)
    world.delay_ms = 4_000
    refusal = reverse(world.destination, validate_only=True).refusal
    assert refusal is not None and refusal.code == "CLUSTER_LINK_UNAVAILABLE"
    world.delay_ms = 5
    world.run(10_000)
    assert dry_run(world) is None


def test_a_link_that_is_deleted_while_its_source_is_asked() -> None:
    world = Counting()
    reversible(world=world)
    world.is_cut_off = True
    asked = ChangeMirrors(verb=VERBS[0], link=LINK, topics=("orders",), validate_only=True)
    world.destination.feed(AdminAsked(TICKET, asked))
    world.destination.ask(DeleteLink(name=LINK, force=True))
    world.run(6_000)
    answer = world.destination.answers[TICKET]
    assert isinstance(answer, Topics)
    refusal = answer.topics[0].refusal
    assert refusal is not None and refusal.code == "CLUSTER_LINK_UNAVAILABLE"
