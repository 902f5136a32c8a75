"""A mirror's topic is placed as its operator says, by the rules of CreateTopics; a check makes nothing."""

import json
from typing import Any

import pytest

from linker.answers import MirrorDescription
from linker.commands import CreateMirror
from linker.errors import LinkRefusal
from linker.records.mirror_record import MIRROR_KIND
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import World, caught_up, linked

PLACEMENT = "confluent.placement.constraints"


def placement(count: int, rack: str) -> str:
    constraints = {"rack": rack}
    return json.dumps({"version": 2, "replicas": [{"count": count, "constraints": constraints}]})


def world_with_a_link() -> World:
    world = World()
    world.destination.settings = {"broker.rack": "r1"}
    world.start()
    clients.create_topic(world.source, "orders", 2)
    clients.create_topic(world.source, "views", 2)
    clients.send(world.source, "views", 0, b"one")
    linked(world)
    return world


def create(world: World, *, validate_only: bool, **wanted: Any) -> Any:
    command = CreateMirror(
        link="west-east", mirror_topic="views", validate_only=validate_only, **wanted
    )
    return world.destination.ask(command)


@pytest.mark.parametrize("validate_only", [True, False])
@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"configs": {PLACEMENT: "no JSON"}}, "INVALID_CONFIG"),
        ({"configs": {PLACEMENT: placement(2, "r1")}}, "INVALID_REPLICATION_FACTOR"),
        ({"configs": {PLACEMENT: placement(1, "r2")}}, "INVALID_REPLICATION_FACTOR"),
        ({"configs": {"no.such.setting": "1"}}, "INVALID_CONFIG"),
        ({"replication_factor": 3}, "INVALID_REPLICATION_FACTOR"),
    ],
)
def test_what_create_topics_would_refuse_is_refused(
    wanted: dict[str, Any], code: str, validate_only: bool
) -> None:
    world = world_with_a_link()
    refused = create(world, validate_only=validate_only, **wanted)
    assert isinstance(refused, LinkRefusal)
    assert refused.code == code
    assert refused.hint
    image = world.destination.view.image
    assert "views" not in image.topics_by_name
    assert (MIRROR_KIND, "views") not in image.documents


def test_a_placement_that_can_be_is_checked_then_kept() -> None:
    world = world_with_a_link()
    wanted = {"configs": {PLACEMENT: placement(1, "r1")}}
    checked = create(world, validate_only=True, **wanted)
    assert isinstance(checked, MirrorDescription), checked
    assert "views" not in world.destination.view.image.topics_by_name
    assert isinstance(create(world, validate_only=False, **wanted), MirrorDescription)
    assert world.destination.view.topic_configs("views")[PLACEMENT] == placement(1, "r1")
    world.run_until(lambda: caught_up(world, "views"))
    world.run(10_000)
    assert world.destination.view.topic_configs("views")[PLACEMENT] == placement(1, "r1")
