"""A command of several topics: all are stopped by one decision, or none, however many proposals that takes."""

from dataclasses import replace

import pytest

from brokers.metadata.commands.document_commands import PutDocuments
from linker.answers import Mirrors, Transition, TransitionStep
from linker.commands import ChangeMirrors, CreateMirror, DeleteLink, DescribeLink, ListMirrors
from linker.control.cancelling import CANCELLED
from linker.control.failover_phases import FailoverPhase
from linker.control.ledger_retention import CHECK_INTERVAL_MS
from linker.errors import LinkRefusal
from linker.events import AdminAsked
from linker.gathering import TOGETHER_MAX
from linker.records.mirror_record import MIRROR_KIND, Asked, CutKind
from linker.records.mirror_state import MirrorState
from linker.records.stop_list import Stop, StopList, in_parts, put, stop_lists
from tests.playbooks.linker import clients
from tests.playbooks.linker.test_decisions import decisions, record_of
from tests.playbooks.linker.test_races import Slow
from tests.playbooks.linker.world import World, linked, submit

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


def is_retried(east: Slow, topic: str) -> bool:
    """Whether a failover was refused because of another change, and waits for a moment."""
    failover = east.linker.links[LINK]._mirror_topics.failovers[topic]
    return failover._progress.phase is FailoverPhase.HALT_REFUSED


def listed_and_retried() -> tuple[World, Slow]:
    """All are on the list; one was paused just then, so the command has not come to it."""
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, command("failover")))
    world.run(DISK_MS - 1)
    east.feed(AdminAsked(TICKET + 1, command("pause", FEW[3])))
    world.run_until(lambda: is_retried(east, FEW[3]))
    return world, east


def transition_of(east: Slow, topic: str) -> Transition | None:
    found: Mirrors = east.ask(ListMirrors(in_transition=True))
    return next((one.transition for one in found.mirrors if one.record.topic == topic), None)


def tasks(east: Slow) -> list[str]:
    """What `link describe` says is left."""
    described = east.ask(DescribeLink(LINK))
    return [one.because for one in described.tasks if one.name == "StopMirrorTopics"]


def test_what_a_command_has_not_come_to_is_listed_with_how_many_there_are() -> None:
    world, east = listed_and_retried()
    asked = lists(east)[0].stop.asked
    assert transition_of(east, FEW[3]) == Transition(
        verb="failover",
        step=TransitionStep.LISTED,
        since=asked.at,
        waits_for=f"its turn: {asked.decision_id} has 1 topics left",
        can_be_cancelled=True,
        asked_by="ann",
        why="west is gone",
    )
    assert tasks(east) == [f"failover {asked.decision_id}: 1 topics left"]
    assert (
        east.mirror(FEW[3]).reason == f"failover: its turn: {asked.decision_id} has 1 topics left"
    )
    world.run_until(lambda: all_stopped(east, FEW))
    world.run_until(lambda: TICKET in east.answers)
    assert not tasks(east)
    assert all(one.refusal is None for one in east.answers[TICKET].topics)
    assert transition_of(east, FEW[3]) is None


@pytest.mark.parametrize("topics", [(FEW[3],), ()], ids=["named", "all"])
@pytest.mark.parametrize("crashes", [False, True])
def test_a_topic_that_a_command_has_not_come_to_can_be_cancelled(
    crashes: bool, topics: tuple[str, ...]
) -> None:
    """It is what it was, and stays so, whoever goes on."""
    world, east = listed_and_retried()
    checked = east.ask(replace(command("cancel", FEW[3]), validate_only=True))
    assert checked.topics[0].refusal is None
    cancelled = {one.topic: one.refusal for one in east.ask(command("cancel", *topics)).topics}
    assert cancelled[FEW[3]] is None
    if crashes:
        restart(east)
    world.run_until(lambda: not lists(east))
    world.run(5_000)
    record = record_of(east, FEW[3])
    assert (record.state, record.generation) == (MirrorState.PAUSED, 1)
    assert record.transition_errors[-1].code == CANCELLED
    assert record.transition_errors[-1].because == "failover was cancelled by ann: west is gone"
    if not crashes:
        refusals = {one.topic: one.refusal for one in east.answers[TICKET].topics}
        assert refusals[FEW[3]] is not None
    others = {record_of(east, one).state for one in FEW if one not in cancelled}
    assert others == (set() if not topics else {MirrorState.STOPPED})


@pytest.mark.parametrize("later_ms", range(0, 30, 3))
def test_a_cancel_at_any_time_leaves_each_topic_whole(later_ms: int) -> None:
    """And after a crash, what was cancelled is not stopped by whoever goes on."""
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, command("failover")))
    world.run(later_ms)
    answer = east.ask(command("cancel", *FEW[:4]))
    restart(east)
    world.run(5_000)
    is_before = not lists(east) and all(record_of(east, one).asked is None for one in FEW)
    for one in answer.topics:
        wanted = MirrorState.ACTIVE if one.refusal is None else MirrorState.STOPPED
        assert record_of(east, one.topic).state is (MirrorState.ACTIVE if is_before else wanted)
    left = {record_of(east, one).state for one in FEW[4:]}
    assert left == {MirrorState.ACTIVE if is_before else MirrorState.STOPPED}


@pytest.mark.parametrize("step", range(0, 60, 2))
def test_a_crash_at_any_step_stops_all_or_none(step: int) -> None:
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, command("failover")))
    for _ in range(step):
        act = world.due(world.now + 1_000)
        if act is not None:
            act()
    restart(east)
    world.run(5_000)
    states = {record_of(east, topic).state for topic in FEW}
    assert states in ({MirrorState.ACTIVE}, {MirrorState.STOPPED})
    assert not lists(east)
    assert len({one.asked.decision_id for one in decisions(east)}) == (
        states == {MirrorState.STOPPED}
    )


def test_what_becomes_of_listed_topics_meanwhile_is_respected() -> None:
    """Before anybody goes on, three were stopped by other commands; one is deleted, one is a mirror again."""
    world, east = several(FEW, 2)
    east.disk_ms = 0
    gone, stopped, made_anew = FEW[:3]
    records = [record_of(east, topic) for topic in FEW]
    for topic in (gone, stopped, made_anew):
        east.ask(command("failover", topic))
    other = record_of(east, stopped)
    for topic in (gone, made_anew):
        assert clients.delete_topic(east, topic) == 0
    world.run(1_000)
    east.ask(CreateMirror(link=LINK, mirror_topic=made_anew))
    east.ask(command("pause", FEW[3]))
    asked = Asked("west-east@1", world.now, "ann", "west is gone")
    stop = Stop(CutKind.FAILOVER, 0, asked)
    parts = list(in_parts(LINK, stop, records, topics_max=4))
    assert [len(one.topics) for one in parts] == [4, 3]
    submit(east, PutDocuments(tuple(map(put, parts))))
    world.run_until(lambda: not lists(east))
    world.run_until(lambda: transition_of(east, FEW[3]) is None)
    assert (MIRROR_KIND, gone) not in east.view.image.documents
    assert record_of(east, stopped) == other
    assert record_of(east, made_anew).state is MirrorState.ACTIVE
    for topic in FEW[3:]:
        record = record_of(east, topic)
        assert (record.state, record.asked) == (MirrorState.STOPPED, asked)


def test_what_a_promotion_cannot_stop_is_said_and_not_done_later() -> None:
    world, east = several(FEW, 2)
    east.ask(command("pause", FEW[0]))
    refused, *others = east.ask(command("promote", *FEW)).topics
    assert refused.refusal.code == "INVALID_REQUEST"
    assert all(one.refusal is None for one in others)
    east.ask(command("resume", FEW[0]))
    restart(east)
    world.run(5_000)
    assert record_of(east, FEW[0]).state is MirrorState.ACTIVE
    assert {record_of(east, one).state for one in FEW[1:]} == {MirrorState.STOPPED}


def test_who_asked_hears_of_a_refusal_once_nobody_can_do_it_later() -> None:
    """One was paused between the list and its promotion."""
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, command("promote")))
    world.run(DISK_MS - 1)
    east.feed(AdminAsked(TICKET + 1, command("pause", FEW[3])))
    world.run_until(lambda: lists(east) != [])
    world.run_until(lambda: TICKET in east.answers)
    assert not lists(east)
    refused = [one for one in east.answers[TICKET].topics if one.refusal is not None]
    assert [one.topic for one in refused] == [FEW[3]]


@pytest.mark.parametrize(
    "later",
    [command("failover", *FEW[2:]), DeleteLink(name=LINK, force=True)],
    ids=["verb", "delete"],
)
def test_a_command_of_the_same_millisecond_is_refused(later: ChangeMirrors | DeleteLink) -> None:
    """The id of a decision is one command's."""
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, command("failover", *FEW[:4])))
    refused = east.ask(later)
    assert isinstance(refused, LinkRefusal) and "same millisecond" in refused.because
    world.run_until(lambda: TICKET in east.answers)
    assert [one.state for one in east.answers[TICKET].topics] == ["STOPPED"] * 4
    assert {record_of(east, topic).state for topic in FEW[4:]} == {MirrorState.ACTIVE}
    answer = east.ask(later)
    assert not isinstance(answer, LinkRefusal)


def test_a_link_that_is_deleted_by_force_stops_all_its_topics_whatever_crashes() -> None:
    """Nobody deletes it after the crash; whoever asks again does."""
    world, east = several(FEW, 2)
    east.feed(AdminAsked(TICKET, DeleteLink(name=LINK, force=True)))
    world.run_until(lambda: 0 < len(begun(east, FEW)) < len(FEW))
    restart(east)
    refused = east.ask(DeleteLink(name=LINK))
    assert isinstance(refused, LinkRefusal) and "is stopping" in refused.because
    world.run_until(lambda: all_stopped(east, FEW))
    assert len({one.asked.decision_id for one in decisions(east)}) == 1
    east.ask(DeleteLink(name=LINK))
    assert not east.linker.links


def test_a_list_whose_link_is_gone_is_removed() -> None:
    """A link coordinator of a release that has no lists has deleted it."""
    world, east = several(FEW, 2)
    east.disk_ms = 0
    asked = Asked("other@1", world.now, "", "")
    records = [record_of(east, topic) for topic in FEW]
    (part,) = in_parts("other", Stop(CutKind.FAILOVER, 0, asked), records)
    submit(east, PutDocuments((put(part),)))
    assert lists(east) == [part]
    world.run(2 * CHECK_INTERVAL_MS)
    assert not lists(east)
    assert {record_of(east, topic).state for topic in FEW} == {MirrorState.ACTIVE}
