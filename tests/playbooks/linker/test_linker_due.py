"""What a link makes of a log's growth waits for replies, and for nothing else."""

from typing import Any

from brokers.effects import Reply
from brokers.events import Request
from federation.node import LinkerDue
from linker.events import ChunkSent, Send
from linker.frames import Chunk
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked


def copying() -> World:
    """A link that has copied a record."""
    world = World().start()
    clients.create_topic(world.source, "orders", 1)
    clients.send(world.source, "orders", 0, b"the first one")
    linked(world)
    world.run_until(lambda: caught_up(world) and bool(world.destination.log("orders", 0)))
    return world


def watched(host: Host) -> tuple[list[Any], list[list[Any]]]:
    """The events that this host steps from now on, and the effects of each."""
    events: list[Any] = []
    effects: list[list[Any]] = []
    step = host.node.step

    def note(event: Any, now: int) -> list[Any]:
        done = step(event, now)
        events.append(event)
        effects.append(done)
        return done

    host.node.step = note  # type: ignore[method-assign]
    return events, effects


def kinds(effects: list[Any]) -> list[type]:
    return [type(each.frame if isinstance(each, Send) else each) for each in effects]


def test_a_producer_hears_of_its_record_before_the_links_source_reads_it() -> None:
    world = copying()
    events, effects = watched(world.source)
    clients.send(world.source, "orders", 0, b"a record")
    (asked,) = [at for at, each in enumerate(events) if isinstance(each, Request)]
    (replied,) = [at for at, each in enumerate(effects) if Reply in kinds(each)]
    (sent,) = [at for at, each in enumerate(effects) if Chunk in kinds(each)]
    assert asked <= replied < sent
    assert kinds(effects[replied])[-1] is LinkerDue and LinkerDue() in events[replied:sent]


def test_a_mirror_that_grows_answers_its_readers_before_its_link_goes_on() -> None:
    world = copying()
    events, effects = watched(world.destination)
    clients.send(world.source, "orders", 0, b"a record")
    world.run_until(lambda: caught_up(world))
    due = [at for at, each in enumerate(effects) if LinkerDue in kinds(each)]
    assert due and all(each[-1] == LinkerDue() for each in effects if LinkerDue() in each)
    assert len(due) == events.count(LinkerDue())


def test_what_the_link_is_told_itself_comes_after_all_that_waits() -> None:
    """A frame, or a chunk that was sent, may come before the host feeds `LinkerDue` back."""
    world = copying()
    node, waiting = world.source.node, []
    step = node.step

    def put_off(event: Any, now: int) -> list[Any]:
        if isinstance(event, LinkerDue):
            waiting.append(event)
            return []
        return step(event, now)

    node.step = put_off  # type: ignore[method-assign]
    clients.send(world.source, "orders", 0, b"one")
    clients.send(world.source, "orders", 0, b"two")
    assert len(waiting) == 1, "it is asked for once, until the linker was stepped"
    node.step = step  # type: ignore[method-assign]
    (stream,) = world.source.linker._source_streams
    world.source.feed(ChunkSent(stream))
    world.run_until(lambda: caught_up(world))
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)
    assert step(LinkerDue(), world.now) == [], "it had been taken with the frame's event"
