"""A wrong name is refused where an empty answer would look like a good one: no holes, no difference, no decisions."""

from typing import Any

import pytest

from linker.administration.known_names import require_mirror
from linker.commands import (
    ChangeMirrors,
    Command,
    DeleteLink,
    DescribeDrift,
    ForecastMirrors,
    ListDecisions,
    ListDestinations,
    ListHoles,
    ListRetentionHolds,
)
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked

TOPIC, LINK = "UNKNOWN_TOPIC_OR_PARTITION", "CLUSTER_LINK_NOT_FOUND"


def mirrored(**settings: Any) -> World:
    world = World(**settings).start()
    clients.create_topic(world.source, "orders", 1)
    linked(world)
    world.run_until(lambda: caught_up(world))
    world.run(3_000)  # each has told the other what it has
    return world


def change(world: World, verb: str) -> None:
    command = ChangeMirrors(verb=verb, link="west-east", topics=("orders",))
    assert world.destination.ask(command).topics[0].refusal is None


def refusal(answer: Any) -> str:
    assert isinstance(answer, LinkRefusal), answer
    assert "typo" in answer.because and answer.hint
    return answer.code


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (ForecastMirrors(topics=("typo",)), TOPIC),
        (DescribeDrift("west-east", ("orders", "typo")), TOPIC),
        (DescribeDrift("typo"), LINK),
        (ListHoles("typo"), TOPIC),
        (ListDecisions("typo"), TOPIC),
        (ListRetentionHolds("typo"), LINK),
        (ListDestinations("typo"), LINK),
    ],
    ids=repr,
)
def test_a_name_that_no_region_knows_is_refused_in_both(command: Command, code: str) -> None:
    world = mirrored()
    assert refusal(world.destination.ask(command)) == code
    if not isinstance(command, DescribeDrift):  # it names a link of the destination
        assert refusal(world.source.ask(command)) == code


@pytest.mark.parametrize(
    "command",
    [
        DescribeDrift("west-east", ("orders",)),
        ListHoles("orders"),
        ListDecisions("orders"),
        ListRetentionHolds("west-east"),
        ListDestinations("west-east"),
    ],
    ids=repr,
)
def test_a_known_name_with_nothing_to_tell_has_an_empty_answer(command: Command) -> None:
    world = mirrored()
    answer = world.destination.ask(command)
    assert not isinstance(answer, LinkRefusal), answer
    found = {name: getattr(answer, name) for name in answer.__slots__}
    assert not any(found.values()), found


@pytest.mark.parametrize("is_link_there", [True, False])
def test_a_mirror_that_is_stopped_is_refused_as_such_and_not_as_unknown(
    is_link_there: bool,
) -> None:
    """`mirror list` has it, so that the advice to look there led nowhere."""
    world = mirrored()
    change(world, "failover")
    world.run_until(lambda: world.destination.mirror("orders").shown is MirrorState.STOPPED)
    commands: list[Command] = [ForecastMirrors(topics=("orders",))]
    if is_link_there:
        commands += [
            ForecastMirrors("west-east", ("orders",)),
            DescribeDrift("west-east", ("orders",)),
        ]
    else:
        assert not isinstance(world.destination.ask(DeleteLink(name="west-east")), LinkRefusal)
    for command in commands:
        answer = world.destination.ask(command)
        assert isinstance(answer, LinkRefusal) and answer.code == "INVALID_REQUEST"
        assert "STOPPED" in answer.because and "nothing to fail over" in answer.because
        assert "causeway mirror describe" in answer.hint
    typo = world.destination.ask(ForecastMirrors(topics=("orders", "typo")))
    assert isinstance(typo, LinkRefusal) and typo.because.endswith(": orders")


def test_a_source_knows_the_links_that_mirror_its_topics() -> None:
    """A link that holds no retention is known by what it mirrors, and the other way round."""
    world = mirrored()
    assert world.source.ask(ListRetentionHolds("west-east")).holds == ()
    assert len(world.source.ask(ListDestinations("west-east")).destinations) == 1


def test_the_source_of_a_mirror_has_no_holes_to_tell_of() -> None:
    """It is asked by mistake: that no mirror lacks anything is not known there."""
    world = mirrored()
    answer = world.source.ask(ListHoles("orders"))
    assert isinstance(answer, LinkRefusal) and answer.code == TOPIC
    assert world.source.ask(ListDecisions("orders")).decisions == (), "nothing was decided there"


def test_a_deleted_topic_is_known_by_its_entries() -> None:
    world = mirrored(hole_retention_ms=3_600_000)
    change(world, "pause")
    for value in (b"a", b"b"):
        clients.send(world.source, "orders", 0, value)
    assert clients.delete_records(world.source, "orders", 0, 1) == 0
    change(world, "resume")
    world.run_until(lambda: caught_up(world))
    change(world, "failover")
    world.run(1_000)
    clients.delete_topic(world.destination, "orders")
    world.run(10_000)
    image = world.destination.view.image
    assert "orders" not in image.topics_by_name
    with pytest.raises(LinkRefusal):
        require_mirror(image, "orders", ())  # it is known by nothing else
    assert len(world.destination.ask(ListHoles("orders")).holes) == 1
    assert len(world.destination.ask(ListDecisions("orders")).decisions) == 1
    world.run(3 * 3_600_000)
    for gone in (ListHoles("orders"), ListDecisions("orders")):
        answer = world.destination.ask(gone)
        assert isinstance(answer, LinkRefusal) and answer.code == TOPIC
