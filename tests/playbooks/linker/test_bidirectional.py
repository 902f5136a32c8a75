"""Bidirectional links: one name in both regions, mirrors in both directions, dialed from both ends or from one."""

from collections.abc import Mapping
from typing import Any

import pytest

from linker.answers import LinkDescription
from linker.commands import (
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeLink,
    ListLinks,
    SetLinkSecret,
)
from linker.errors import LinkRefusal
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up

LINK = "both"
BOTH_DIAL = {"link.mode": "BIDIRECTIONAL", "availability.check.ms": "1000"}
IS_DIALED = {**BOTH_DIAL, "connection.mode": "INBOUND"}


def create(host: Host, configs: Mapping[str, str], **options: Any) -> Any:
    return host.ask(CreateLink(name=LINK, configs=configs, **options))


def link_both_ways(world: World, **configs: str) -> None:
    """Each region dials the other one."""
    given = {name.replace("_", "."): value for name, value in configs.items()}
    for host, address in ((world.destination, "west:9092"), (world.source, "east:9092")):
        answer = create(host, {**BOTH_DIAL, **given, "bootstrap.servers": address})
        assert isinstance(answer, LinkDescription), answer


def link_from_one_end(world: World) -> None:
    """Nothing is open towards the west: its brokers dial, for mirrors of both directions."""
    secret = create(world.destination, IS_DIALED).secret
    assert secret
    given = {**BOTH_DIAL, "bootstrap.servers": "east:9092"}
    answer = create(world.source, given, secret=secret)
    assert isinstance(answer, LinkDescription), answer


def described(host: Host) -> LinkDescription:
    found = host.ask(DescribeLink(LINK))
    assert isinstance(found, LinkDescription), found
    return found


def mirror(host: Host, topic: str) -> None:
    answer = host.ask(CreateMirror(link=LINK, mirror_topic=topic))
    assert not isinstance(answer, Exception), answer


@pytest.mark.parametrize("link", [link_both_ways, link_from_one_end])
def test_topics_are_mirrored_in_both_directions_across_cuts_and_restarts(link: Any) -> None:
    world = World().start()
    clients.create_topic(world.source, "orders")
    clients.create_topic(world.destination, "returns")
    link(world)
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    mirror(world.destination, "orders")
    mirror(world.source, "returns")
    for trouble in (world.cut, world.source.stop, world.destination.stop):
        trouble()
        for each in ends:
            if not each.up:
                each.start()
        clients.send(world.source, "orders", 0, b"a", b"b")
        clients.send(world.destination, "returns", 0, b"c")
        world.run_until(lambda: caught_up(world, "orders") and caught_up(world, "returns"))
    assert world.destination.log("orders", 0) == world.source.log("orders", 0)
    assert world.source.log("returns", 0) == world.destination.log("returns", 0)
    assert [one.mode for one in world.source.ask(ListLinks()).links] == ["BIDIRECTIONAL"]


def test_an_end_that_is_dialed_accepts_nobody_without_its_secret_and_a_new_one_is_taken() -> None:
    world = World().start()
    link_from_one_end(world)
    world.run_until(lambda: described(world.destination).state == "ACTIVE")
    fresh = world.destination.ask(SetLinkSecret(LINK)).secret
    world.cut()
    world.run_until(lambda: described(world.destination).state != "ACTIVE")
    clients.create_topic(world.destination, "returns")
    mirror(
        world.source, "returns"
    )  # of this direction the west is the destination, which dials without it
    assert isinstance(world.source.ask(SetLinkSecret(LINK, fresh)), LinkDescription)
    world.cut()
    world.run_until(lambda: described(world.destination).state == "ACTIVE")


def with_another_secret() -> tuple[World, str]:
    """Of the end that dials for both directions, than the other one takes; the latter."""
    world = World().start()
    link_from_one_end(world)
    ends = (world.source, world.destination)
    world.run_until(lambda: all(described(each).state == "ACTIVE" for each in ends))
    fresh = world.destination.ask(SetLinkSecret(LINK)).secret
    world.cut()
    world.run_until(lambda: described(world.source).state == "FAILED")
    return world, fresh


def test_the_end_that_dials_for_both_directions_says_that_its_secret_is_another() -> None:
    """Its mirrors are copied all the same, over streams of their own: before, they made the link ACTIVE."""
    world, fresh = with_another_secret()
    found = described(world.source)
    assert found.error == "AUTHENTICATION_ERROR"
    assert found.because == "the secret of link both is another"
    assert "`causeway link secret`" in found.hint
    (listed,) = world.source.ask(ListLinks()).links
    assert (listed.state, listed.because) == (found.state, found.because)
    clients.create_topic(world.destination, "returns")
    mirror(world.source, "returns")
    clients.send(world.destination, "returns", 0, b"a")
    world.run_until(lambda: caught_up(world, "returns"))
    assert described(world.source).category_counts["ACTIVE"] == 1
    world.source.ask(SetLinkSecret(LINK, fresh))
    world.run_until(lambda: described(world.source).state == "ACTIVE")
    assert described(world.destination).state == "ACTIVE"
    found = described(world.source)
    assert (found.error, found.because, found.hint) == ("NO_ERROR", "", "")


def test_a_secret_that_is_given_later_makes_the_end_dial_for_both_directions() -> None:
    world = World().start()
    secret = create(world.destination, IS_DIALED).secret
    create(world.source, {**BOTH_DIAL, "bootstrap.servers": "east:9092"})
    world.run(3_000)
    assert described(world.destination).state != "ACTIVE"
    world.source.ask(SetLinkSecret(LINK, secret))
    world.run_until(lambda: described(world.destination).state == "ACTIVE")


def test_a_bidirectional_link_is_deleted_with_both_of_its_halves() -> None:
    world = World().start()
    link_from_one_end(world)
    world.run_until(lambda: described(world.destination).state == "ACTIVE")
    assert not isinstance(world.source.ask(DeleteLink(name=LINK)), LinkRefusal)
    assert not world.source.linker.links and not world.source.linker.source_links
    world.run_until(lambda: described(world.destination).state != "ACTIVE")
    assert isinstance(world.source.ask(DescribeLink(LINK)), LinkRefusal)


def test_a_secret_that_the_end_which_is_dialed_does_not_take_is_refused_at_once() -> None:
    world = World().start()
    link_from_one_end(world)
    refused = world.source.ask(SetLinkSecret(LINK, "another"))
    assert isinstance(refused, LinkRefusal) and refused.code == "AUTHENTICATION_ERROR"
    renewed = world.destination.ask(SetLinkSecret(LINK)).secret
    assert isinstance(world.source.ask(SetLinkSecret(LINK, renewed)), LinkDescription)
