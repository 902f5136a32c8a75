"""An operator of the source sees which regions mirror its topics, and ends that it waits for one that is gone."""

from typing import Any

import pytest

from linker.answers import Destination, Destinations
from linker.commands import (
    ChangeMirrors,
    CreateLink,
    CreateMirror,
    DescribeLink,
    ForgetDestination,
    ListDestinations,
    ListOperations,
)
from linker.control.superseding import REPEAT_MS
from linker.errors import LinkRefusal
from tests.playbooks.linker import clients, test_source_initiated
from tests.playbooks.linker.test_fencing import REFUSED, cut_off, fail_over
from tests.playbooks.linker.test_startup_wait import (
    NAME,
    WAIT_MS,
    Producer,
    mirrored,
    record,
    restart,
)
from tests.playbooks.linker.world import Host, World, caught_up

LINK = "west-east"


def destinations(world: World, link: str = "") -> list[Destination]:
    answer = world.source.ask(ListDestinations(link))
    assert isinstance(answer, Destinations), answer
    return list(answer.destinations)


def one(world: World) -> Destination:
    (found,) = destinations(world)
    return found


def forget(world: World, **more: Any) -> Any:
    return world.source.ask(ForgetDestination(link=LINK, **more))


def held(wait_ms: int = WAIT_MS) -> World:
    """The source has just started, and its destination is gone."""
    world = mirrored(wait_ms=wait_ms)
    cut_off(world)
    restart(world.source)
    return world


def also_linked(world: World, name: str, link: str = LINK) -> Host:
    """One more region that mirrors `orders`."""
    host = Host(world, name).start()
    for command in (
        CreateLink(name=link, configs={"bootstrap.servers": "west:9092"}),
        CreateMirror(link=link, mirror_topic="orders"),
    ):
        answer = host.ask(command)
        assert not isinstance(answer, LinkRefusal), answer
    world.run(1_500)
    return host


def test_who_mirrors_which_topics_and_since_when_is_listed() -> None:
    world = mirrored()
    told_at = world.now
    world.run(10_000)
    found = one(world)
    assert (found.record.cluster_id, found.record.link) == ("cluster-east", LINK)
    assert found.topics == ("orders",)
    assert told_at - 3_000 < found.record.told_at <= told_at
    assert (found.is_heard, found.writes_wait_ms, found.is_missed) == (True, None, False)
    also_linked(world, "north", "from-west")
    assert [each.record.link for each in destinations(world)] == [LINK, "from-west"]
    assert [each.record.cluster_id for each in destinations(world, LINK)] == ["cluster-east"]
    assert world.source.ask(ListDestinations("other")).code == "CLUSTER_LINK_NOT_FOUND"


def test_a_topic_that_was_deleted_is_not_named_and_counts() -> None:
    world = mirrored()
    world.destination.ask(CreateMirror(link=LINK, mirror_topic="own"))
    world.run(1_500)
    cut_off(world)
    clients.delete_topic(world.source, "own")
    found = one(world)
    assert found.topics == ("orders",)
    assert len(found.record.topic_ids) == 2


def test_it_is_listed_for_whom_writes_wait_and_who_was_missed() -> None:
    world = held()
    found = one(world)
    assert (found.is_heard, found.writes_wait_ms, found.is_missed) == (False, WAIT_MS, False)
    world.run(2_000)
    assert one(world).writes_wait_ms == WAIT_MS - 2_000
    world.run(WAIT_MS)
    found = one(world)
    assert (found.is_heard, found.writes_wait_ms, found.is_missed) == (False, None, True)
    world.reachable = True
    world.run_until(lambda: one(world).is_heard)
    assert one(world).is_missed, "it came too late"


def test_writes_go_on_at_once_when_the_destination_is_forgotten() -> None:
    world = held()
    producer = Producer(world.source, "orders")
    world.run(1_000)
    answer = forget(world)
    assert isinstance(answer, Destinations), answer
    (forgotten,) = answer.destinations
    assert forgotten.record.name == NAME
    codes, waited = producer.wait()
    assert codes == {"orders": 0}
    assert 1_000 <= waited < 1_100
    assert record(world) is None and destinations(world) == []
    (said,) = [each for each in world.source.changes if each.to == "taken"]
    assert said.why.startswith(f"{NAME} mirrors nothing any more, or is forgotten; ")
    restart(world.source)
    assert Producer(world.source, "orders").wait() == ({"orders": 0}, 0)
    assert [each.to for each in world.source.changes if each.what == "writes"] == [
        "held of 1 topics",
        "taken",
    ], "nothing is held at the second start"


def test_writes_wait_for_those_that_are_not_forgotten() -> None:
    world = mirrored()
    also_linked(world, "north", "from-west")
    cut_off(world)
    restart(world.source)
    producer = Producer(world.source, "orders")
    forget(world)
    world.run(WAIT_MS - 1_000)
    assert not producer.is_answered
    (other,) = destinations(world)
    assert (other.record.link, other.writes_wait_ms) == ("from-west", 1_000)
    assert isinstance(world.source.ask(ForgetDestination(link="from-west")), Destinations)
    codes, waited = producer.wait()
    assert (codes, waited < WAIT_MS) == ({"orders": 0}, True)


def test_a_dry_run_forgets_nothing_and_ends_no_wait() -> None:
    world = held()
    producer = Producer(world.source, "orders")
    before = world.source.view.image.next_offset
    answer = forget(world, validate_only=True)
    assert [each.record.name for each in answer.destinations] == [NAME]
    world.run(1_000)
    assert world.source.view.image.next_offset == before
    assert record(world) is not None and not producer.is_answered


def test_who_forgot_what_is_in_the_operator_log() -> None:
    world = held()
    forget(world)
    (operation,) = world.source.ask(ListOperations(resource=LINK)).operations
    assert (operation.operation, operation.details) == (
        "ForgetDestination",
        "of region cluster-east",
    )


@pytest.mark.parametrize("cluster_id", ["", "cluster-north"])
def test_what_is_not_known_is_refused(cluster_id: str) -> None:
    world = mirrored()
    cut_off(world)
    link = LINK if cluster_id else "other"
    answer = world.source.ask(ForgetDestination(link=link, cluster_id=cluster_id))
    assert isinstance(answer, LinkRefusal)
    assert answer.code == "INVALID_REQUEST"
    assert f"link {link}" in answer.because and cluster_id in answer.because
    assert record(world) is not None


def test_of_two_regions_with_a_link_of_one_name_one_is_named() -> None:
    world = mirrored()
    also_linked(world, "north")
    cut_off(world)
    answer = forget(world)
    assert isinstance(answer, LinkRefusal)
    assert "cluster-east, cluster-north" in answer.because
    assert len(destinations(world)) == 2
    forget(world, cluster_id="cluster-north")
    assert one(world).record.cluster_id == "cluster-east"


def test_a_destination_that_is_alive_says_again_what_it_mirrors() -> None:
    """Else a source that was failed over while it was down would take writes at its return."""
    world = mirrored()
    forget(world)
    assert record(world) is None
    world.run(REPEAT_MS)
    assert one(world).topics == ("orders",)
    world.source.stop()
    fail_over(world)
    world.source.start()
    codes, _ = Producer(world.source, "orders").wait()
    assert codes == {"orders": REFUSED}


def test_what_is_said_again_changes_nothing_where_it_is_known() -> None:
    world = mirrored()
    told_at = one(world).record.told_at
    before = world.source.view.image.next_offset
    world.run(3 * REPEAT_MS)
    assert world.source.view.image.next_offset == before
    assert one(world).record.told_at == told_at


def test_a_destination_that_comes_back_is_waited_for_again() -> None:
    world = held()
    forget(world)
    world.reachable = True
    world.run_until(lambda: record(world) is not None)
    cut_off(world)
    restart(world.source)
    assert one(world).writes_wait_ms == WAIT_MS


def test_who_took_it_all_over_and_says_so_is_not_waited_for() -> None:
    """Nor is it told again what nobody mirrors any more."""
    world = mirrored()
    world.destination.ask(ChangeMirrors(verb="failover", link=LINK, topics=("orders",)))
    world.run(2 * REPEAT_MS)
    assert destinations(world) == []


def test_the_half_of_a_source_that_dials_shows_that_writes_wait() -> None:
    world = World()
    world.source.settings = {"link.source.startup.wait.ms": WAIT_MS}
    world.start()
    clients.create_topic(world.source, "orders")
    test_source_initiated.linked(world)
    world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    world.run_until(lambda: caught_up(world))
    world.run(1_500)
    assert world.source.ask(DescribeLink(LINK)).writes_wait_ms is None
    cut_off(world)
    restart(world.source)
    world.run(1_000)
    found = world.source.ask(DescribeLink(LINK))
    assert (found.mode, found.writes_wait_ms) == ("SOURCE", WAIT_MS - 1_000)
    forget(world)
    assert world.source.ask(DescribeLink(LINK)).writes_wait_ms is None


def test_the_half_of_a_bidirectional_link_shows_that_writes_wait_where_it_is_the_source() -> None:
    world = World()
    world.source.settings = {"link.source.startup.wait.ms": WAIT_MS}
    world.start()
    clients.create_topic(world.source, "orders")
    both = {world.source: "east:9092", world.destination: "west:9092"}
    for host, other in both.items():
        configs = {"bootstrap.servers": other, "link.mode": "BIDIRECTIONAL"}
        answer = host.ask(CreateLink(name=LINK, configs=configs))
        assert not isinstance(answer, LinkRefusal), answer
    world.destination.ask(CreateMirror(link=LINK, mirror_topic="orders"))
    world.run_until(lambda: caught_up(world))
    world.run(1_500)
    cut_off(world)
    restart(world.source)
    assert world.source.ask(DescribeLink(LINK)).writes_wait_ms == WAIT_MS
    assert world.destination.ask(DescribeLink(LINK)).writes_wait_ms is None
    world.run(WAIT_MS + 1)
    assert world.source.ask(DescribeLink(LINK)).writes_wait_ms is None
