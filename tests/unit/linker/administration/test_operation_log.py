"""What the operator log gets of commands on links and mirrors, and how it is listed."""

from random import Random
from typing import Any, get_args

import pytest

from brokers.errors import KafkaError, Refusal
from brokers.metadata.commands.operation_commands import RecordOperation
from brokers.metadata.image.image import Image, Operation
from brokers.region import Proposed
from brokers.security.origin import Origin
from linker.administration.operation_log import operations, recorded
from linker.answers import Destination, Destinations, Links, TopicResult, Topics
from linker.commands import (
    AlterLinkConfigs,
    ChangeMirrors,
    Command,
    CreateLink,
    CreateMirror,
    DeleteLink,
    DescribeDrift,
    DescribeLineage,
    DescribeLink,
    DescribeLinkConfigs,
    DescribeMirror,
    DescribeRegion,
    DescribeReplicas,
    DropRetentionHolds,
    ForecastMirrors,
    ForgetDestination,
    ListDecisions,
    ListDestinations,
    ListHoles,
    ListLinks,
    ListMirrors,
    ListOperations,
    ListRetentionHolds,
    ListTakenOverTopics,
    RecordDiscardedOrphans,
    RestoreMirrors,
    SetLinkSecret,
    UnfenceTopics,
)
from linker.errors import LinkRefusal
from linker.records.destination import DestinationRecord
from linker.region_client import RegionClient

LINKS = Links(())
SOME = Topics(
    (TopicResult("a", "STOPPED"), TopicResult("b", "", LinkRefusal("INVALID_REQUEST", "no")))
)


FORGOTTEN = Destinations(
    (
        Destination(
            record=DestinationRecord(cluster_id="e", link="l", topic_ids=frozenset(), told_at=0),
            topics=(),
            is_heard=False,
            writes_wait_ms=None,
            is_missed=False,
        ),
    )
)


class View:
    def __init__(self, level: int) -> None:
        self.image = Image("region-one")
        self.image.features["causeway.version"] = level


class Asked:
    """A command that is answered; `written` is what is proposed before the answer is given."""

    def __init__(
        self, command: Command, answer: Any, by: str = "10.0.0.7:4321", level: int = 1
    ) -> None:
        self.answers: list[Any] = []
        view: Any = View(level)
        self._region = RegionClient(view, Random(1))
        self._effects = recorded(self._region, command, by, self._respond)(answer, 5)

    @property
    def written(self) -> RecordOperation:
        (proposal,) = self._effects
        assert isinstance(proposal.command, RecordOperation)
        return proposal.command

    def decide(self, result: object) -> None:
        (proposal,) = self._effects
        self._region.answered(Proposed(proposal.ticket, result), 6)

    def _respond(self, answer: Any, now: int) -> list[Any]:
        self.answers.append(answer)
        return []


CHANGES: tuple[Any, ...] = (
    (CreateLink(name="l", configs={"k": "v"}), LINKS, "CreateLink", [("link", "l")], "k=v"),
    (DeleteLink(name="l", force=True), SOME, "DeleteLink", [("link", "l"), ("mirror", "a")], "forced"),
    (
        AlterLinkConfigs(name="l", sets={"k": "v"}, deletes=("m",)), LINKS,
        "AlterLinkConfigs", [("link", "l")], "k=v; delete m",
    ),
    (SetLinkSecret("l", "hidden"), LINKS, "SetLinkSecret", [("link", "l")], ""),
    (ChangeMirrors(verb="failover", link="l", why="gone"), SOME, "FailoverMirrors", [("mirror", "a")], "gone"),
    (ChangeMirrors(verb="reverse-and-start", link="l"), SOME, "ReverseAndStartMirrors", [("mirror", "a")], ""),
    (ChangeMirrors(verb="cancel", link="l", why="not now"), SOME, "CancelMirrors", [("mirror", "a")], "not now"),
    (RestoreMirrors("l", ("a", "b"), why="back"), SOME, "TruncateAndRestoreMirrors", [("mirror", "a")], "back"),
    (DropRetentionHolds(link="l", topics=("a",)), LINKS, "DropRetentionHolds", [("link", "l"), ("topic", "a")], ""),
    (
        ForgetDestination(link="l"), FORGOTTEN,
        "ForgetDestination", [("link", "l")], "of region e",
    ),
    (UnfenceTopics(("a", "b")), SOME, "UnfenceTopics", [("topic", "a")], ""),
    (
        CreateMirror(link="l", mirror_topic="a", configs={"k": "v"}), LINKS,
        "CreateMirror", [("mirror", "a"), ("link", "l")], "k=v",
    ),
    (RecordDiscardedOrphans(("a-0/1-2.e0",)), Topics(()), "DiscardOrphans", [("orphan", "a-0/1-2.e0")], ""),
)  # fmt: skip
READS = {
    ListLinks, DescribeLink, DescribeLinkConfigs, ListMirrors, DescribeMirror, ForecastMirrors, DescribeDrift,
    ListHoles, ListDecisions, DescribeLineage, ListOperations, ListRetentionHolds, DescribeReplicas, DescribeRegion,
    ListDestinations, ListTakenOverTopics,
}  # fmt: skip


def test_every_command_changes_nothing_or_is_recorded() -> None:
    assert {type(command) for command, *_ in CHANGES} | READS == set(get_args(Command))


@pytest.mark.parametrize(("command", "answer", "operation", "resources", "details"), CHANGES)
def test_a_change_is_written_before_its_answer(
    command: Command, answer: Any, operation: str, resources: list[tuple[str, str]], details: str
) -> None:
    asked = Asked(command, answer)
    written = asked.written
    assert written.origin == Origin("User:ANONYMOUS", None, "10.0.0.7")
    assert (written.operation, list(written.resources), written.details) == (
        operation,
        resources,
        details,
    )
    assert asked.answers == []
    asked.decide(None)
    assert asked.answers == [answer]


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (ListLinks(), LINKS),
        (CreateLink(name="l", configs={}, validate_only=True), LINKS),
        (CreateLink(name="l", configs={}), LinkRefusal("INVALID_REQUEST", "no")),
        (ChangeMirrors(verb="pause", link="l"), Topics(())),
    ],
)
def test_what_changes_nothing_is_answered_at_once(command: Command, answer: Any) -> None:
    assert Asked(command, answer).answers == [answer]


def test_a_region_of_an_older_level_answers_at_once_and_a_failure_to_write_is_no_refusal() -> None:
    command = SetLinkSecret("l")
    assert Asked(command, LINKS, level=0).answers == [LINKS]
    asked = Asked(command, LINKS)
    asked.decide(Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody decides"))
    assert asked.answers == [LINKS]


def test_orphans_are_not_discarded_unless_that_is_written() -> None:
    """The tail is removed after it: so what is not written is not done."""
    asked = Asked(RecordDiscardedOrphans(("orders-0/2-5.e0",)), Topics(()))
    asked.decide(Refusal(KafkaError.REQUEST_TIMED_OUT, "nobody decides"))
    (answer,) = asked.answers
    assert isinstance(answer, LinkRefusal)
    assert "nothing is discarded" in answer.because


@pytest.mark.parametrize(
    ("by", "host"),
    [
        ("10.0.0.7:1", "10.0.0.7"),
        ("[::1]:1", "::1"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_the_host_is_that_of_the_asker(by: str, host: str) -> None:
    assert (
        Asked(SetLinkSecret("l"), LINKS, by).written.origin.host == host.rstrip(":")
        or host == "unix:"
    )


def entry(number: int, *resources: tuple[str, str]) -> Operation:
    origin = Origin("User:ANONYMOUS", None, "10.0.0.7")
    return Operation(
        number=number,
        time=number * 100,
        origin=origin,
        operation="Change",
        resources=resources,
        details="",
    )


def test_entries_are_listed_by_time_and_resource() -> None:
    image = Image("region-one")
    image.operations = (entry(0, ("topic", "a")), entry(1, ("link", "a"), ("topic", "b")), entry(2))

    def listed(**wanted: Any) -> list[int]:
        return [each.number for each in operations(image, ListOperations(**wanted)).operations]

    assert listed() == [0, 1, 2]
    assert listed(since=100) == [1, 2]
    assert listed(resource="a") == [0, 1]
    assert listed(resource_type="link", resource="a") == [1]
    assert listed(resource_type="topic", resource="b", since=150) == []
    assert not operations(image, ListOperations()).is_recorded
