"""`causeway mirror cancel` and `transitions`: what they ask, what they print, and how they end."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.link.test_mirror import mirror, topics
from tests.unit.federation.commands.region_double import RegionDouble, region_double

TRANSITION = pb.Transition(
    verb="reverse-and-start",
    step="PROVING",
    since_ms=1_800_000_000_000,
    waits_for="partition 0 is behind",
    can_be_cancelled=True,
    gives_up_at_ms=1_800_000_060_000,
    asked_by="10.0.0.7:4321",
    reason="exercise",
)


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def test_cancel_passes_on_its_reason_and_shows_the_state(region: RegionDouble) -> None:
    region.replies["CancelMirrors"] = [topics("ACTIVE")]
    ran = region.run("mirror", "cancel", "--link", "both", "--reason", "not now", "--dry-run")
    assert ran.exit_code == 0 and "ACTIVE" in ran.output
    ((method, request),) = region.asked
    assert method == "CancelMirrors"
    assert (request.link_name, list(request.mirror_topics)) == ("both", [])
    assert (request.reason, request.validate_only) == ("not now", True)


def test_a_cancel_that_comes_too_late_exits_1_and_says_what_to_do(region: RegionDouble) -> None:
    refused = pb.Error(code="INVALID_REQUEST", message="orders was cut", hint="change back")
    region.replies["CancelMirrors"] = [topics("PENDING_STOPPED", refused)]
    ran = region.run("mirror", "cancel", "orders", "--link", "both", "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["topics"][0]["error"]["hint"] == "change back"


def test_a_region_of_an_earlier_release_is_told_from_one_that_does_not_answer(
    region: RegionDouble,
) -> None:
    region.unknown.add("CancelMirrors")
    ran = region.run("mirror", "cancel", "orders", "--link", "both", "--json")
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)
    assert "earlier release, which does not know CancelMirrors" in told["error"]
    assert "upgrade the node" in told["hint"] and "--timeout-ms" in told["hint"]


def test_a_coordinator_of_an_earlier_release_says_only_what_state_a_mirror_is_in(
    region: RegionDouble,
) -> None:
    pending = mirror("PENDING_STOPPED", state_time_ms=1_800_000_000_000).mirror
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[pending, mirror("STOPPED").mirror])]
    (told,) = json.loads(region.run("mirror", "transitions", "--json").stdout)["transitions"]
    assert (told["mirror_status"], told["verb"]) == ("PENDING_STOPPED", "")
    assert (told["since_ms"], told["can_be_cancelled"]) == (1_800_000_000_000, False)
    assert "earlier release" in told["waits_for"]


def test_a_command_that_waits_ends_when_what_it_waits_for_is_cancelled(
    region: RegionDouble,
) -> None:
    region.replies["ReverseAndStartMirrors"] = [topics("PENDING_SYNCHRONIZE")]
    error = pb.TransitionError(at_ms=5, code="CANCELLED", message="was cancelled by ann")
    region.replies["DescribeMirror"] = [
        mirror("PENDING_SYNCHRONIZE"),
        mirror("ACTIVE", state_transition_errors=[error]),
    ]
    ran = region.run("mirror", "reverse-and-start", "orders", "--link", "both", "--json")
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)["topics"][0]["error"]
    assert (told["code"], told["message"]) == ("CANCELLED", "was cancelled by ann")


def test_transitions_are_a_table_for_people_and_rows_for_scripts(region: RegionDouble) -> None:
    pending = mirror("PENDING_SYNCHRONIZE", transition=TRANSITION).mirror
    of_an_older_node = mirror("ACTIVE").mirror
    region.replies["ListMirrors"] = [pb.MirrorsReply(mirrors=[pending, of_an_older_node])]
    shown = " ".join(region.run("mirror", "transitions", "--link", "we").output.split())
    for cell in ("orders", "reverse-and-start", "PROVING", "2027-01-15T08:00:00.000Z", "yes"):
        assert cell in shown
    request = region.asked[-1][1]
    assert (request.link_name, request.in_transition) == ("we", True)
    (told,) = json.loads(region.run("mirror", "transitions", "--json").stdout)["transitions"]
    assert (told["mirror_topic"], told["step"], told["can_be_cancelled"]) == (
        "orders",
        "PROVING",
        True,
    )
    region.replies["ListMirrors"] = [pb.MirrorsReply()]
    assert "in the middle of" in region.run("mirror", "transitions").output


def test_describe_shows_the_step_and_whether_it_can_be_cancelled(region: RegionDouble) -> None:
    region.replies["DescribeMirror"] = [mirror("PENDING_SYNCHRONIZE", transition=TRANSITION)]
    output = " ".join(region.run("mirror", "describe", "orders").output.split())
    assert "PROVING, can be cancelled, gives up at 2027-01-15T08:01:00.000Z" in output
