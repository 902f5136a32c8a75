"""`validate_only` of every command that changes something: it is checked as it would be done, nothing is changed."""

from dataclasses import fields, is_dataclass
from typing import Any, get_args

import pytest

from linker.answers import Topics
from linker.commands import (
    ANSWERED_BY_ANY,
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeDrift,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    DropRetentionHolds,
    ForecastMirrors,
    ForgetDestination,
    ListLinks,
    ListMirrors,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.errors import LinkRefusal
from linker.records.mirror_state import MirrorState
from tests.playbooks.linker import clients
from tests.playbooks.linker.world import Host, World, caught_up, linked

READING = (
    *ANSWERED_BY_ANY, ListLinks, DescribeLink, DescribeLinkConfigs, ListMirrors, DescribeMirror,
    ForecastMirrors, DescribeDrift,
)  # fmt: skip
LINK = "west-east"


def change(verb: str, topic: str) -> ChangeMirrors:
    return ChangeMirrors(verb=verb, link=LINK, topics=(topic,), validate_only=True)


AT_DESTINATION: list[Any] = [
    CreateLink(name="another", configs={"bootstrap.servers": "west:9092"}, validate_only=True),
    AlterLinkConfigs(name=LINK, sets={"cluster.link.paused": "true"}, validate_only=True),
    DeleteLink(name=LINK, force=True, validate_only=True),
    SetLinkSecret("dialed", validate_only=True),
    CreateMirror(link=LINK, mirror_topic="new", validate_only=True),
    change("pause", "running"),
    change("resume", "paused"),
    change("promote", "running"),
    change("failover", "running"),
]
AT_SOURCE: list[Any] = [
    UnfenceTopics(("stopped",), validate_only=True),
    DropRetentionHolds(link=LINK, validate_only=True),
    ForgetDestination(link=LINK, validate_only=True),
    RestoreMirrors("back", ("stopped",), validate_only=True),
    RestoreMirrors("back", validate_only=True),
]


@pytest.fixture(scope="module")
def world() -> World:
    made = World().start()
    for topic in ("running", "paused", "stopped", "new"):
        clients.create_topic(made.source, topic)
    linked(made, "running", retention_hold_enable="true")
    for topic in ("paused", "stopped"):
        made.destination.ask(CreateMirror(link=LINK, mirror_topic=topic))
    configs = {"connection.mode": "INBOUND"}
    made.destination.ask(CreateLink(name="dialed", configs=configs))
    made.run_until(lambda: caught_up(made, "stopped"))
    for verb, topic in (("pause", "paused"), ("failover", "stopped")):
        made.destination.ask(ChangeMirrors(verb=verb, link=LINK, topics=(topic,)))
    made.run_until(lambda: made.destination.mirror("stopped").shown is MirrorState.STOPPED)
    back = CreateLink(name="back", configs={"bootstrap.servers": "east:9092"})
    assert not isinstance(made.source.ask(back), LinkRefusal)
    made.run(3_000)
    return made


def asked(world: World, host: Host, command: Any) -> Any:
    """The answer; nothing must have changed."""
    before = [one.view.image.next_offset for one in (world.source, world.destination)]
    found = host.ask(command)
    world.run(3_000)
    after = [one.view.image.next_offset for one in (world.source, world.destination)]
    assert after == before, command
    return found


def refusals(found: Any) -> list[LinkRefusal]:
    if isinstance(found, Topics):
        return [one.refusal for one in found.topics if one.refusal is not None]
    return [found] if isinstance(found, LinkRefusal) else []


@pytest.mark.parametrize("command", AT_DESTINATION, ids=lambda one: type(one).__name__)
def test_a_dry_run_at_the_destination_changes_nothing(world: World, command: Any) -> None:
    assert refusals(asked(world, world.destination, command)) == []


@pytest.mark.parametrize("command", AT_SOURCE, ids=lambda one: type(one).__name__)
def test_a_dry_run_at_the_source_changes_nothing(world: World, command: Any) -> None:
    assert refusals(asked(world, world.source, command)) == []


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (DeleteLink(name=LINK, validate_only=True), "CLUSTER_LINK_IN_USE"),
        (change("promote", "paused"), "INVALID_REQUEST"),
        (change("failover", "stopped"), "INVALID_REQUEST"),
        (change("cancel", "running"), "INVALID_REQUEST"),
        (change("reverse-and-start", "running"), "INVALID_REQUEST"),
        (RestoreMirrors(LINK, ("stopped",), validate_only=True), "REMOTE_MIRROR_NOT_FOUND_ERROR"),
        (RestoreMirrors(LINK, validate_only=True), "INVALID_REQUEST"),
        (SetLinkSecret(LINK, validate_only=True), "INVALID_REQUEST"),
        (
            CreateMirror(link=LINK, mirror_topic="running", validate_only=True),
            "TOPIC_ALREADY_EXISTS",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_a_dry_run_refuses_what_would_be_refused(world: World, command: Any, code: str) -> None:
    (refusal,) = refusals(asked(world, world.destination, command))
    assert refusal.code == code, refusal
    assert refusal.because


def test_every_command_that_changes_something_has_one() -> None:
    for command in get_args(Command):
        assert is_dataclass(command)
        has_one = "validate_only" in {field.name for field in fields(command)}
        assert has_one is (command not in READING), command
