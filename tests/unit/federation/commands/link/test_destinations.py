"""`causeway link destinations`, `forget-destination` and `describe` of a source, against a region on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double

NAMES = [f"t{index}" for index in range(7)]
TOLD_AT = 1_800_000_000_000
WAITED_FOR = pb.Destination(
    link_name="west-east",
    destination_cluster_id="east-id",
    topics=NAMES,
    topic_count=9,
    told_at_ms=TOLD_AT,
    writes_wait_ms=4200,
)
HEARD = pb.Destination(
    link_name="west-north",
    destination_cluster_id="north-id",
    topics=["orders"],
    topic_count=1,
    told_at_ms=TOLD_AT,
    is_heard=True,
    is_missed=True,
)
REFUSED = pb.Error(code="INVALID_REQUEST", message="no link x", hint="`causeway link destinations`")


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def test_the_table_has_who_waits_for_whom(region: RegionDouble) -> None:
    region.replies["ListDestinations"] = [pb.DestinationsReply(destinations=[HEARD, WAITED_FOR])]
    ran = region.run("link", "destinations")
    assert ran.exit_code == 0, ran.output
    header, first, second = (
        [cell.strip() for cell in line.strip("│┃ ").replace("┃", "│").split("│")]
        for line in ran.output.splitlines()
        if "west-" in line or "HeardBy" in line
    )
    assert header == [
        "Link", "Destination", "Topics", "Told", "HeardBy", "WritesWait", "MissedBy",
    ]  # fmt: skip
    told = "2027-01-15T08:00:00.000Z"
    assert first == [
        "west-east", "east-id", "9: t0, t1, t2, t3, t4, ..., 2 deleted", told, "-", "2: 4200 ms", "-",
    ]  # fmt: skip
    assert second == ["west-north", "north-id", "1: orders", told, "2", "-", "2"]


def test_json_has_every_topic_and_what_each_broker_knows(region: RegionDouble) -> None:
    region.replies["ListDestinations"] = [pb.DestinationsReply(destinations=[WAITED_FOR])]
    ran = region.run("link", "destinations", "west-east", "--json")
    told = json.loads(ran.output)
    assert told["brokers_without_answer"] == {}
    (one,) = told["destinations"]
    assert one == {
        "link_name": "west-east",
        "destination_cluster_id": "east-id",
        "topics": NAMES,
        "topic_count": 9,
        "told_at_ms": TOLD_AT,
        "brokers": [
            {"broker": 2, "is_heard": False, "is_missed": False, "writes_wait_ms": 4200},
        ],
    }
    ((method, asked),) = region.asked
    assert (method, asked.link_name) == ("ListDestinations", "west-east")


def test_a_region_that_nobody_mirrors_says_so(region: RegionDouble) -> None:
    region.replies["ListDestinations"] = [pb.DestinationsReply()]
    ran = region.run("link", "destinations")
    assert (ran.exit_code, "No destinations" in ran.output) == (0, True)


def test_a_broker_that_does_not_answer_is_named(region: RegionDouble) -> None:
    region.unknown.add("ListDestinations")
    ran = region.run("link", "destinations")
    assert ran.exit_code == 3
    assert "broker 2 does not answer" in ran.output and "UNSUPPORTED_VERSION" in ran.output


@pytest.mark.parametrize(
    ("command", "method", "reply"),
    [
        ("destinations", "ListDestinations", pb.DestinationsReply),
        ("holds", "ListRetentionHolds", pb.RetentionHoldsReply),
    ],
)
def test_a_link_that_no_broker_knows_is_refused(
    region: RegionDouble, command: str, method: str, reply: Any
) -> None:
    error = pb.Error(code="CLUSTER_LINK_NOT_FOUND", message="no link typo", hint="look")
    region.replies[method] = [reply(error=error)]
    region.add_silent_broker(9)
    ran = region.run("link", command, "typo")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr == "Error: no link typo (CLUSTER_LINK_NOT_FOUND)\nNext: look\n"
    ran = region.run("link", command, "typo", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["hint"]) == (1, "look")


def test_a_destination_is_forgotten_by_link_and_region(region: RegionDouble) -> None:
    region.replies["ForgetDestination"] = [pb.DestinationsReply(destinations=[WAITED_FOR])]
    arguments = ("link", "forget-destination", "west-east", "--destination-cluster", "east-id")
    ran = region.run(*arguments, "--dry-run")
    assert ran.exit_code == 0, ran.output
    assert ran.output.strip() == (
        "link west-east of region east-id, mirrored topics 9: would be forgotten"
    )
    ran = region.run(*arguments)
    assert ran.output.strip().endswith("mirrored topics 9: is forgotten")
    ran = region.run(*arguments, "--json")
    told = json.loads(ran.output)
    assert told["forgotten"] is True
    assert told["destinations"][0]["destination_cluster_id"] == "east-id"
    requests = [request for _, request in region.asked]
    assert [one.validate_only for one in requests] == [True, False, False]
    assert {(one.link_name, one.destination_cluster_id) for one in requests} == {
        ("west-east", "east-id")
    }


def test_a_destination_that_is_not_known_exits_1_with_a_hint(region: RegionDouble) -> None:
    region.replies["ForgetDestination"] = [pb.DestinationsReply(error=REFUSED)]
    ran = region.run("link", "forget-destination", "x")
    assert ran.exit_code == 1
    assert "no link x (INVALID_REQUEST)" in ran.output
    assert "Next: `causeway link destinations`" in ran.output


@pytest.mark.parametrize("waits", [None, 0, 4200])
def test_describe_says_that_writes_wait_for_the_other_region(
    region: RegionDouble, waits: int | None
) -> None:
    link = pb.LinkDescription(
        link_name="west-east",
        link_mode="SOURCE",
        destination_cluster_id="east-id",
        link_state="ACTIVE",
        link_error="NO_ERROR",
        writes_wait_ms=waits,
    )
    region.replies["DescribeLink"] = [pb.LinkReply(link=link)]
    ran = region.run("link", "describe", "west-east")
    assert ran.exit_code == 0, ran.output
    says = f"writes wait for the other region, {waits} ms more at most"
    assert (says in ran.output) is (waits is not None)
    told = json.loads(region.run("link", "describe", "west-east", "--json").output)
    assert told.get("writes_wait_ms") == waits
