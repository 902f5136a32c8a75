"""`causeway link`: what it asks, what it prints, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from federation.cli import main
from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double

LINK = pb.LinkDescription(
    link_name="west-east",
    link_id="i",
    source_cluster_id="west",
    link_state="UNAVAILABLE",
    link_error="TIMEOUT_ERROR",
    link_error_message="no answer",
    topic_names=["orders"],
    category_counts={"ACTIVE": 1},
    created_at_ms=1_800_000_000_000,
    hint="look at its log",
)
REFUSED = pb.Error(code="INVALID_CONFIG", message="it has problems", hint="read", problems=["a: b"])


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def test_create_sends_settings_from_the_file_and_the_command_line(
    region: RegionDouble, tmp_path: Path
) -> None:
    region.replies["CreateLink"] = [pb.LinkReply(link=LINK)]
    (tmp_path / "link.properties").write_text("# comment\n\na=1\nb = 2\n")
    ran = region.run(
        "link", "create", "west-east", "--source-bootstrap-server", "w:9092", "--config", "b=3",
        "--config-file", str(tmp_path / "link.properties"), "--source-cluster", "west",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.output
    ((_, request),) = region.asked
    assert dict(request.configs) == {"a": "1", "b": "3", "bootstrap.servers": "w:9092"}
    assert request.source_cluster_id == "west"
    assert "west-east created: UNAVAILABLE" in ran.output


def test_a_dry_run_tells_of_no_state_as_nothing_was_made(region: RegionDouble) -> None:
    region.replies["CreateLink"] = [pb.LinkReply(link=LINK)]
    create = ("link", "create", "west-east", "--source-bootstrap-server", "w:9092")
    ran = region.run(*create, "--dry-run")
    assert ran.output == "Link west-east could be created, source west\n"
    assert region.asked[-1][1].validate_only


def test_a_source_that_dials_is_given_its_destination_and_the_secret(region: RegionDouble) -> None:
    there = pb.LinkDescription(
        link_mode="SOURCE", destination_cluster_id="east", link_state="UNKNOWN"
    )
    region.replies["CreateLink"] = [pb.LinkReply(link=there)]
    ran = region.run(
        "link", "create", "west-east", "--destination-bootstrap-server", "e:9092", "--secret", "s",
        "--destination-cluster", "east",
    )  # fmt: skip
    assert ran.exit_code == 0 and "destination east" in ran.output, ran.output
    ((_, request),) = region.asked
    assert dict(request.configs) == {"bootstrap.servers": "e:9092", "link.mode": "SOURCE"}
    assert (request.secret, request.source_cluster_id) == ("s", "east")


def test_a_bidirectional_link_names_the_other_region(region: RegionDouble) -> None:
    made = pb.LinkDescription(
        link_mode="BIDIRECTIONAL", source_cluster_id="east", link_state="ACTIVE"
    )
    region.replies["CreateLink"] = [pb.LinkReply(link=made)]
    ran = region.run(
        "link", "create", "both", "--remote-bootstrap-server", "e:9092", "--remote-cluster", "east"
    )
    assert ran.exit_code == 0 and "other region east" in ran.output, ran.output
    ((_, request),) = region.asked
    assert dict(request.configs) == {"bootstrap.servers": "e:9092", "link.mode": "BIDIRECTIONAL"}
    assert request.source_cluster_id == "east"


def test_the_secret_of_a_new_link_is_shown(region: RegionDouble) -> None:
    made = pb.LinkDescription(link_mode="DESTINATION", link_state="UNKNOWN", secret="abc")
    region.replies["CreateLink"] = region.replies["SetLinkSecret"] = [pb.LinkReply(link=made)]
    for arguments in (
        ("link", "create", "west-east", "--config", "connection.mode=INBOUND"),
        ("link", "secret", "west-east"),
    ):
        ran = region.run(*arguments)
        assert "Secret, shown this once: abc" in ran.output, ran.output
        assert json.loads(region.run(*arguments, "--json").stdout)["secret"] == "abc"


@pytest.mark.parametrize(
    "options",
    [
        ("--source-bootstrap-server", "w:1", "--destination-bootstrap-server", "e:1"),
        ("--source-bootstrap-server", "w:1", "--destination-cluster", "east"),
        ("--source-bootstrap-server", "w:1", "--remote-bootstrap-server", "e:1"),
        ("--source-bootstrap-server", "w:1", "--remote-cluster", "west"),
    ],
)
def test_one_end_dials(region: RegionDouble, options: tuple[str, ...]) -> None:
    ran = region.run("link", "create", "west-east", *options)
    assert (ran.exit_code, region.asked) == (2, [])


def test_a_file_of_settings_that_is_no_text_was_asked_wrongly(
    region: RegionDouble, tmp_path: Path
) -> None:
    path = tmp_path / "link.properties"
    path.write_bytes(b"a=caf\xe9\n")
    ran = region.run("link", "create", "west-east", "--config-file", str(path))
    assert (ran.exit_code, region.asked) == (2, [])
    assert f"{path} is not a file of KEY=VALUE lines: not UTF-8." in ran.output


def test_a_link_without_addresses_is_told_the_options(region: RegionDouble) -> None:
    ran = region.run("link", "create", "west-east")
    assert ran.exit_code == 2
    assert "give --source-bootstrap-server" in ran.output
    assert not region.asked


def test_a_refusal_says_why_and_what_next_and_exits_1(region: RegionDouble) -> None:
    region.replies["CreateLink"] = [pb.LinkReply(error=REFUSED)]
    create = ("link", "create", "west-east", "--source-bootstrap-server", "w:9092")
    ran = region.run(*create)
    assert ran.exit_code == 1
    assert "it has problems (INVALID_CONFIG)" in ran.output
    assert "a: b" in ran.output
    assert "Next: read" in ran.output
    ran = region.run(*create, "--json")
    assert ran.exit_code == 1
    assert "INVALID_CONFIG" in json.loads(ran.stdout)["error"]


def test_list_and_describe_for_people_and_for_scripts(region: RegionDouble) -> None:
    region.replies["ListLinks"] = [pb.LinksReply(links=[LINK])]
    region.replies["DescribeLink"] = [pb.LinkReply(link=LINK)]
    assert "UNAVAILABLE" in region.run("link", "list").output
    described = region.run("link", "describe", "west-east")
    assert described.exit_code == 3, "the source is not reached"
    assert "Next: look at its log" in described.output
    assert "1 ACTIVE" in described.output
    found = json.loads(region.run("link", "describe", "west-east", "--json").stdout)
    assert found["link_state"] == "UNAVAILABLE"
    assert found["created_at_ms"] == 1_800_000_000_000
    assert json.loads(region.run("link", "list", "--json").stdout)["links"] == [found]


def test_a_link_that_is_well_is_described_with_0(region: RegionDouble) -> None:
    well = pb.LinkDescription(link_name="west-east", link_state="ACTIVE", link_error="NO_ERROR")
    region.replies["DescribeLink"] = [pb.LinkReply(link=well)]
    described = region.run("link", "describe", "west-east")
    assert described.exit_code == 0, described.output
    assert "NO_ERROR" not in described.output


def test_a_link_whose_secret_is_another_is_described_with_what_to_do(region: RegionDouble) -> None:
    refused = pb.LinkDescription(
        link_name="both",
        link_mode="BIDIRECTIONAL",
        link_state="FAILED",
        link_error="AUTHENTICATION_ERROR",
        link_error_message="the secret of link both is another",
        hint="give the source the secret",
        category_counts={"ACTIVE": 1},
    )
    region.replies["DescribeLink"] = [pb.LinkReply(link=refused)]
    described = region.run("link", "describe", "both")
    assert described.exit_code == 3, described.output
    assert "FAILED" in described.output and "1 ACTIVE" in described.output
    assert "AUTHENTICATION_ERROR: the secret of link both is another" in described.output
    assert "Next: give the source the secret" in described.output


def test_names_that_look_like_numbers_stay_names(region: RegionDouble) -> None:
    reply = pb.LinkReply(link=pb.LinkDescription(link_name="42", created_at_ms=7))
    region.replies["DescribeLink"] = [reply]
    found = json.loads(region.run("link", "describe", "42", "--json").stdout)
    assert (found["link_name"], found["created_at_ms"]) == ("42", 7)


def test_no_links_at_all(region: RegionDouble) -> None:
    region.replies["ListLinks"] = [pb.LinksReply()]
    assert "No links" in region.run("link", "list").output


def test_delete_tells_what_was_failed_over(region: RegionDouble) -> None:
    topics = [pb.TopicResult(mirror_topic="orders", mirror_status="STOPPED")]
    region.replies["DeleteLink"] = [pb.TopicsReply(topics=topics)]
    ran = region.run("link", "delete", "west-east", "--force")
    assert "failed over: orders" in ran.output
    assert region.asked[0][1].force


def test_configs_are_shown_and_changed(region: RegionDouble) -> None:
    reply = pb.ConfigsReply(configs=[pb.Config(name="a", value="b", is_default=True)])
    region.replies["DescribeLinkConfigs"] = region.replies["AlterLinkConfigs"] = [reply]
    assert "default" in region.run("link", "configs", "west-east").output
    region.run("link", "configs", "west-east", "--config", "a=b=c", "--delete", "d")
    method, request = region.asked[-1]
    assert method == "AlterLinkConfigs"
    assert (dict(request.set), list(request.delete)) == ({"a": "b=c"}, ["d"])


def test_a_dry_run_of_a_change_says_that_nothing_was_changed(region: RegionDouble) -> None:
    reply = pb.ConfigsReply(configs=[pb.Config(name="a", value="b")])
    region.replies["DescribeLinkConfigs"] = region.replies["AlterLinkConfigs"] = [reply]
    change = ("link", "configs", "west-east", "--config", "a=b")
    assert region.run(*change, "--dry-run").output.startswith("Nothing was changed")
    assert "Nothing was changed" not in region.run(*change).output


@pytest.mark.parametrize(
    ("option", "config"),
    [
        ("--source-bootstrap-server", "bootstrap.servers=other:9092"),
        ("--remote-bootstrap-server", "link.mode=DESTINATION"),
        ("--destination-bootstrap-server", "link.mode=BIDIRECTIONAL"),
    ],
)
def test_a_setting_that_contradicts_an_option_is_not_passed_over(
    region: RegionDouble, option: str, config: str
) -> None:
    region.replies["CreateLink"] = [pb.LinkReply(link=LINK)]
    create = ("link", "create", "west-east", option, "w:9092", "--config")
    ran = region.run(*create, config)
    assert (ran.exit_code, region.asked) == (2, [])
    assert config in ran.output
    assert region.run(*create, "bootstrap.servers=w:9092").exit_code == 0


def test_a_setting_without_a_value_is_asked_wrongly(region: RegionDouble) -> None:
    assert region.run("link", "create", "west-east", "--config", "oops").exit_code == 2
    assert region.asked == []


@pytest.mark.parametrize(
    "where",
    [
        [],
        ["--region", "east"],
        ["--dir", "."],
        ["--bootstrap-server", "h:1", "--dir", ".", "--region", "east"],
    ],
)
def test_a_region_is_named_one_way(where: list[str]) -> None:
    assert CliRunner().invoke(main, ["link", "list", *where]).exit_code == 2


def test_a_region_that_does_not_answer_exits_4() -> None:
    ran = CliRunner().invoke(main, ["link", "list", "--bootstrap-server", "127.0.0.1:1"])
    assert ran.exit_code == 4
    assert "Next: " in ran.output


def test_a_region_that_the_directory_does_not_know_is_refused(tmp_path: Path) -> None:
    where = ["--dir", str(tmp_path), "--region", "east"]
    ran = CliRunner().invoke(main, ["link", "list", *where])
    assert ran.exit_code == 1
    assert "no region east" in ran.output


def test_holds_are_dropped_by_topic_and_region(region: RegionDouble) -> None:
    hold = pb.RetentionHold(link_name="west-east", topic="orders", destination_cluster_id="east-id")
    region.replies["DropRetentionHolds"] = [pb.RetentionHoldsReply(holds=[hold])]
    arguments = ("--topic", "orders", "--destination-cluster", "east-id")
    ran = region.run("link", "drop-holds", "west-east", *arguments, "--dry-run")
    assert ran.exit_code == 0 and "would be dropped" in ran.output, ran.output
    ran = region.run("link", "drop-holds", "west-east", *arguments, "--json")
    assert json.loads(ran.output)["dropped"] is True
    (_, checked), (_, asked) = region.asked
    assert (checked.validate_only, asked.validate_only) == (True, False)
    assert asked.destination_cluster_id == "east-id"
    assert list(asked.topics) == ["orders"]
