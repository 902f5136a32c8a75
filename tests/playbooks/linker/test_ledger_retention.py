"""The hole ledger outlives its topic for as long as configured, and no other topic inherits it."""

import pytest

from linker.administration.region_facts import region_facts
from linker.commands import ChangeMirrors, CreateMirror, DeleteLink
from linker.control.ledger_retention import CHECK_INTERVAL_MS
from linker.records.hole_ledger import HOLE_KIND, Hole, decode_hole
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_holes import holes, produce
from tests.playbooks.linker.world import World, caught_up, linked

RETENTION_MS = 2 * CHECK_INTERVAL_MS


def ledger(world: World) -> list[Hole]:
    documents = world.destination.view.image.documents.items()
    return [decode_hole(found.body) for (kind, _), found in documents if kind == HOLE_KIND]


def with_a_hole(retention_ms: int = RETENTION_MS) -> World:
    """A mirror that lacks offsets 0 to 3."""
    world = World(hole_retention_ms=retention_ms).start()
    clients.create_topic(world.source, "orders")
    produce(world, 10)
    clients.delete_records(world.source, "orders", 0, 4)
    linked(world)
    world.run_until(lambda: caught_up(world))
    return world


def failed_over_and_deleted(world: World) -> None:
    """Only a topic that is a mirror no more can be deleted."""
    if world.destination.linker.links:
        command = ChangeMirrors(verb="failover", link="west-east", topics=("orders",))
        answer = world.destination.ask(command)
        assert not isinstance(answer, Exception), answer
    world.run_until(lambda: clients.delete_topic(world.destination, "orders") == 0)


def deleted(world: World) -> Hole:
    """The topic is deleted at the destination; its only entry."""
    topic_id = world.destination.view.image.topics_by_name["orders"].id
    failed_over_and_deleted(world)
    world.run_until(lambda: all(one.deleted_at is not None for one in ledger(world)))
    (hole,) = ledger(world)
    assert (hole.topic_id, hole.base_offset, hole.next_offset) == (topic_id, 0, 4)
    return hole


def test_the_entries_of_a_deleted_topic_stay_and_say_when_it_was_deleted() -> None:
    world = with_a_hole()
    before = world.destination.now
    hole = deleted(world)
    assert hole.deleted_at is not None
    assert before <= hole.deleted_at <= world.destination.now
    facts = region_facts(world.destination.view.image, lambda topic: {}, world.destination.now)
    assert facts.holes == (hole,)


def test_a_topic_that_is_made_anew_has_a_ledger_of_its_own() -> None:
    world = with_a_hole()
    failed_over_and_deleted(world)
    world.run_until(lambda: "orders" not in world.destination.view.image.topics_by_name)
    clients.delete_records(world.source, "orders", 0, 7)
    answer = world.destination.ask(CreateMirror(link="west-east", mirror_topic="orders"))
    assert not isinstance(answer, Exception), answer
    world.run_until(lambda: caught_up(world))
    assert [(low, high) for low, high, _ in holes(world)] == [(0, 7)]
    found = {(one.deleted_at is None, one.base_offset, one.next_offset) for one in ledger(world)}
    assert found == {(False, 0, 4), (True, 0, 7)}


@pytest.mark.parametrize("is_linked", [True, False])
@pytest.mark.parametrize(("retention_ms", "left"), [(RETENTION_MS, 0), (-1, 1)])
def test_entries_are_removed_when_they_are_old_enough(
    is_linked: bool, retention_ms: int, left: int
) -> None:
    world = with_a_hole(retention_ms)
    if not is_linked:
        answer = world.destination.ask(DeleteLink(name="west-east", force=True))
        assert not isinstance(answer, Exception), answer
    deleted(world)
    world.source.stop()
    world.run(RETENTION_MS - CHECK_INTERVAL_MS)
    assert len(ledger(world)) == 1
    world.run(2 * CHECK_INTERVAL_MS)
    assert len(ledger(world)) == left
