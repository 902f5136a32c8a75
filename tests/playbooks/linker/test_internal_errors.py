"""What raises in a source on behalf of one stream ends that stream, and what raises for a question its answer."""

import pytest

from linker.answers import LinkDescription
from linker.commands import (
    Command,
    CreateMirror,
    DescribeDrift,
    DescribeLineage,
    DescribeLink,
    DescribeMirror,
    DescribeRegion,
    DescribeReplicas,
    ForecastMirrors,
    ListDecisions,
    ListHoles,
    ListLinks,
    ListMirrors,
    ListOperations,
)
from linker.errors import LinkRefusal
from tests.playbooks.linker import clients, test_source_initiated
from tests.playbooks.linker.world import Host, World, caught_up, linked

LINK = "west-east"
GROUPS = {"consumer.offset.sync.enable": "true"}


def mirrored(dialing: str = "destination") -> World:
    """With a group whose offsets are copied."""
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.send(world.source, "orders", 0, b"a", b"b")
    clients.commit(world.source, "readers", "orders", 0, 1)
    if dialing == "destination":
        linked(world, **{name.replace(".", "_"): value for name, value in GROUPS.items()})
    else:
        test_source_initiated.linked(world, GROUPS)
        answer = world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
        assert not isinstance(answer, Exception), answer
    world.run_until(lambda: caught_up(world) and copied(world) == 1)
    return world


def copied(world: World) -> int | None:
    return clients.committed(world.destination, "readers", "orders")


def told(host: Host) -> list[str]:
    """The stack traces of this link's streams."""
    return [
        one.why
        for one in host.changes
        if (one.what, one.to) == (f"stream of link {LINK}", "failed")
    ]


# What raises, by what a stream is asked for: a list of topics (in slices, by a timer), a subscription, the offsets of
# groups (the same), and whether they have members (by a timer).
FAULTS = {
    "topic_config": "topic_state",
    "records_were_deleted": "subscribe",
    "groups_with_offsets": "topics_watched",
    "group_is_active": "flush",
}


@pytest.mark.parametrize("dialing", ["destination", "source"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_source_outlives_what_raises_for_one_stream_and_serves_the_next(
    fault: str, dialing: str
) -> None:
    world = mirrored(dialing)
    source = world.source
    source.faults.raising = (fault,)
    world.cut()
    world.run(2_000)
    assert clients.send(source, "orders", 0, b"c") == (0, 2)
    clients.commit(source, "readers", "orders", 0, 2)
    world.run(2_000)
    assert len(told(source)) >= 2, "each attempt of the destination"
    for trace in told(source):
        assert f"planted in {fault}" in trace and f"in {FAULTS[fault]}" in trace
    source.faults.raising = ()
    world.run_until(lambda: caught_up(world) and copied(world) == 2)
    assert world.destination.log("orders", 0) == source.log("orders", 0)
    link = world.destination.ask(DescribeLink(LINK))
    assert isinstance(link, LinkDescription) and link.state == "ACTIVE"
    nothing_is_left_of_streams_that_failed(world)


def nothing_is_left_of_streams_that_failed(world: World) -> None:
    linker = world.source.linker
    assert len(linker._source_streams) == len(world.streams_of(world.source)) > 0
    assert linker._region.watching.subscriptions == 1
    assert linker._send_budget.held_bytes == 0
    assert not linker._region._waiting


@pytest.mark.parametrize("dialing", ["destination", "source"])
def test_a_change_that_raises_for_one_stream_ends_that_stream(dialing: str) -> None:
    world = mirrored(dialing)
    world.source.faults.raising = ("partition_state",)
    assert clients.send(world.source, "orders", 0, b"c") == (0, 2)
    world.source.faults.raising = ()
    (trace,) = told(world.source)
    assert "planted in partition_state" in trace and "in advanced" in trace
    world.run_until(lambda: caught_up(world))
    nothing_is_left_of_streams_that_failed(world)


def test_a_source_that_dials_says_why_it_dials_again() -> None:
    world = mirrored("source")

    def because() -> str:
        return str(world.source.ask(DescribeLink(LINK)).because)

    world.source.faults.raising = ("topic_config",)
    clients.set_config(world.source, "orders", "retention.ms", "9000000")
    world.run_until(lambda: bool(because()))
    assert because() == "an internal error of the source: KeyError('planted in topic_config')"


# What raises, by the question.
QUESTIONS: dict[Command, str] = {
    DescribeLink(LINK): "partition_state",
    ListLinks(): "partition_state",
    ListMirrors(): "partition_state",
    DescribeMirror("orders"): "partition_state",
    ForecastMirrors(): "partition_state",
    DescribeDrift(LINK): "image",
    DescribeLineage("orders"): "partition_state",
    ListHoles("orders"): "image",
    ListDecisions(): "image",
    ListOperations(): "image",
    DescribeReplicas(): "replica_statuses",
    DescribeRegion(): "topic_configs",
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: type(one).__name__)
def test_a_question_that_raises_is_answered_and_the_next_one_too(question: Command) -> None:
    world = mirrored()
    region = world.destination
    answer = region.ask_with(QUESTIONS[question], question)
    assert isinstance(answer, LinkRefusal) and answer.code == "UNKNOWN_SERVER_ERROR"
    name = type(question).__name__
    assert answer.because.startswith(f"{name} raised KeyError('planted in ")
    (trace,) = [
        one.why for one in region.changes if (one.what, one.to) == (f"command {name}", "failed")
    ]
    assert "Traceback" in trace
    assert not isinstance(region.ask(question), Exception)
    assert clients.send(world.source, "orders", 0, b"c") == (0, 2)
    world.run_until(lambda: caught_up(world))
