"""Decision records: what was promoted or failed over is on record, with who asked and why, whatever crashes."""

from collections.abc import Callable

import pytest

from linker.commands import ChangeMirrors, DeleteLink, ListDecisions
from linker.events import AdminAsked
from linker.records.decision import Decision
from linker.records.mirror_record import MIRROR_KIND, CutKind, MirrorRecord, decode_mirror
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_bidirectional import LINK, link_both_ways, mirror
from tests.playbooks.linker.world import Host, World, caught_up, linked

HOUR_MS = 3_600_000


def mirrored(retention_ms: int = 24 * HOUR_MS) -> World:
    world = World(hole_retention_ms=retention_ms).start()
    clients.create_topic(world.source, "orders", 2)
    linked(world)
    clients.send(world.source, "orders", 0, b"a", b"b")
    world.run_until(lambda: caught_up(world))
    return world


def change(verb: str) -> ChangeMirrors:
    return ChangeMirrors(
        verb=verb, link="west-east", topics=("orders",), why="a drill", asked_by="1.2.3.4"
    )


def decisions(host: Host, topic: str = "") -> tuple[Decision, ...]:
    found: tuple[Decision, ...] = host.ask(ListDecisions(topic)).decisions
    return found


def is_stopped(world: World) -> bool:
    return world.destination.mirror("orders").record.state is MirrorState.STOPPED


@pytest.mark.parametrize("kind", [CutKind.PROMOTE, CutKind.FAILOVER])
def test_a_stop_is_on_record_with_who_asked_and_why(kind: CutKind) -> None:
    world = mirrored()
    asked_at = world.now
    world.destination.ask(change(kind.value.lower()))
    world.run_until(lambda: is_stopped(world))
    (decision,) = decisions(world.destination)
    record = world.destination.mirror("orders").record
    assert record.cut is not None
    assert (decision.kind, decision.generation, decision.partitions) == (
        kind,
        record.generation,
        record.cut.partitions,
    )
    assert decision.asked[1:] == (asked_at, "1.2.3.4", "a drill")
    assert asked_at <= decision.cut_at <= decision.done_at <= record.since
    clients.create_topic(world.destination, "others", 1)
    assert decisions(world.destination, "others") == ()


@pytest.mark.parametrize("step", range(12))
def test_a_crash_at_any_step_leaves_one_record(step: int) -> None:
    world = mirrored()
    world.destination.feed(AdminAsked(1 << 40, change("failover")))
    for _ in range(step):
        act = world.due(world.now + 1_000)
        if act is not None:
            act()
    world.destination.stop()
    world.destination.start()
    if world.destination.mirror("orders").record.state is MirrorState.ACTIVE:
        world.destination.ask(change("failover"))
    world.run_until(lambda: is_stopped(world))
    (decision,) = decisions(world.destination)
    assert decision.asked.why == "a drill"


def test_a_link_that_is_deleted_by_force_says_so() -> None:
    world = mirrored()
    world.destination.ask(DeleteLink(name="west-east", force=True, asked_by="1.2.3.4"))
    (decision,) = decisions(world.destination)
    assert decision.asked.why == "link west-east is deleted with --force"


def test_a_record_stays_with_its_topic_and_goes_with_it_after_the_retention() -> None:
    world = mirrored(HOUR_MS)
    world.destination.ask(change("failover"))
    world.run(3 * HOUR_MS)
    assert len(decisions(world.destination)) == 1
    clients.delete_topic(world.destination, "orders")
    world.run(3 * HOUR_MS)
    assert decisions(world.destination) == ()


TOPICS = ("bills", "orders", "stock")
FAILOVER = ChangeMirrors(verb="failover", link=LINK, topics=TOPICS, why="west is gone")
REACHED: dict[str, Callable[[Host, str], bool]] = {
    "halted": lambda host, topic: record_of(host, topic).halted,
    "cut": lambda host, topic: record_of(host, topic).cut is not None,
    "writable": lambda host, topic: host.view.image.topics_by_name[topic].writer is None,
}


def several() -> World:
    """Three mirrors in different generations: reversals of some were cancelled before."""
    world = World().start()
    link_both_ways(world)
    for topic in TOPICS:
        clients.create_topic(world.source, topic, 2)
        mirror(world.destination, topic)
        clients.send(world.source, topic, 0, b"a", b"b")
        world.run_until(lambda topic=topic: caught_up(world, topic))  # type: ignore[misc]
    for topic in ("bills", "stock", "bills"):
        for verb in ("reverse-and-start", "cancel"):
            command = ChangeMirrors(verb=verb, link=LINK, topics=(topic,), timeout_ms=600_000)
            assert world.destination.ask(command).topics[0].refusal is None
        world.run(3_000)
    return world


def record_of(host: Host, topic: str) -> MirrorRecord:
    """By the metadata log."""
    return decode_mirror(topic, host.view.image.documents[MIRROR_KIND, topic].body)


@pytest.mark.parametrize("at", REACHED)
def test_topics_that_are_stopped_together_are_one_decision_whatever_crashes(at: str) -> None:
    """The coordinator dies in the middle, and nobody asks again. Each topic's generation goes up by one."""
    world = several()
    east = world.destination
    before = {topic: record_of(east, topic).generation for topic in TOPICS}
    assert before == {"bills": 5, "orders": 1, "stock": 3}
    world.source.stop()
    east.feed(AdminAsked(1 << 40, FAILOVER))
    world.run_until(lambda: any(REACHED[at](east, topic) for topic in TOPICS))
    assert 1 << 40 not in east.answers
    east.stop()
    east.start()
    world.run_until(
        lambda: all(record_of(east, topic).state is MirrorState.STOPPED for topic in TOPICS)
    )
    newest = {one.topic: one for one in decisions(east)}
    assert {newest[topic].asked.decision_id for topic in TOPICS} == {
        record_of(east, "orders").asked.decision_id
    }
    assert {newest[topic].asked.why for topic in TOPICS} == {"west is gone"}
    assert {topic: newest[topic].generation for topic in TOPICS} == {
        topic: generation + 1 for topic, generation in before.items()
    }
    for topic in TOPICS:
        assert len([one for one in decisions(east, topic) if one.asked.why]) == 1
        assert clients.send(east, topic, 0, b"goes on") == (0, 2)
