"""A command of several topics: all are stopped by one decision, or none, however many proposals that takes."""

from collections.abc import Callable

import pytest

from linker.answers import Mirrors, TransitionStep
from linker.commands import ChangeMirrors, CreateMirror, DeleteLink, ListMirrors
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.gathering import TOGETHER_MAX
from linker.records.mirror_record import MIRROR_KIND
from linker.records.mirror_state import MirrorState
from linker.records.stop_list import STOP_LIST_KIND, StopList, stop_lists
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_decisions import decisions, record_of
from tests.playbooks.linker.test_races import Slow
from tests.playbooks.linker.world import World, linked

LINK = "west-east"
FEW = tuple(f"topic{index}" for index in range(7))
MANY = tuple(f"topic{index:03}" for index in range(TOGETHER_MAX + 50))
TICKET = 1 << 40
DISK_MS = 3


def several(topics: tuple[str, ...], together: int) -> tuple[World, Slow]:
    """Mirrors of these topics, in a region whose disk takes a while. `together`: changes of one proposal."""
    world = World()
    east = world.destination = Slow(world, "east")
    east.limits = {"together": together}
    world.start()
    for topic in topics:
        clients.create_topic(world.source, topic, 1)
    linked(world, topics[0])
    for topic in topics[1:]:
        created = east.ask(CreateMirror(link=LINK, mirror_topic=topic))
        assert not isinstance(created, LinkRefusal), created
    world.run_until(lambda: all(topic in east.view.image.topics_by_name for topic in topics))
    east.disk_ms = DISK_MS
    return world, east


def command(verb: str, *topics: str) -> ChangeMirrors:
    return ChangeMirrors(verb=verb, link=LINK, topics=topics, why="west is gone", asked_by="ann")


def lists(east: Slow) -> list[StopList]:
    """By the metadata log."""
    return list(stop_lists(east.view.image))


def begun(east: Slow, topics: tuple[str, ...]) -> list[str]:
    """Those that the command has come to."""
    return [topic for topic in topics if record_of(east, topic).asked is not None]


def restart(east: Slow) -> None:
    """After a kill."""
    east.stop()
    east.disk_ms = 0
    east.start()


def crash_in_between(world: World, east: Slow, topics: tuple[str, ...], verb: str) -> None:
    """When some of the topics are being stopped, and the others are not. Nobody asks again."""
    east.feed(AdminAsked(TICKET, command(verb)))
    world.run_until(lambda: 0 < len(begun(east, topics)) < len(topics))
    assert TICKET not in east.answers
    restart(east)


def all_stopped(east: Slow, topics: tuple[str, ...]) -> bool:
    states = {record_of(east, topic).state for topic in topics}
    return states == {MirrorState.STOPPED} and not lists(east)


@pytest.mark.parametrize(
    ("topics", "together", "verb"),
    [(MANY, TOGETHER_MAX, "failover"), (FEW, 2, "failover"), (FEW, 2, "promote")],
    ids=["more-than-a-proposal-has", "failover", "promote"],
)
def test_topics_of_several_proposals_are_one_decision_whatever_crashes(
    topics: tuple[str, ...], together: int, verb: str
) -> None:
    world, east = several(topics, together)
    crash_in_between(world, east, topics, verb)
    world.run_until(lambda: all_stopped(east, topics))
    found = {one.topic: one for one in decisions(east)}
    assert set(found) == set(topics)
    assert len({found[topic].asked for topic in topics}) == 1
    assert found[topics[0]].asked[2:] == ("ann", "west is gone")
    assert {one.generation for one in found.values()} == {2}
