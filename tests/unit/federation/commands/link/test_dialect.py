"""Names that users of Cluster Linking's tools type do the same as ours."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from linker.wire.v1 import admin_pb2 as pb
from tests.unit.federation.commands.region_double import RegionDouble, region_double

SERVERS = ("--source-bootstrap-server", "h:1")
TOPICS = '{"topicFilters":[]}'


@pytest.fixture
def region(tmp_path: Path) -> Iterator[RegionDouble]:
    with region_double(tmp_path) as double:
        yield double


def created(region: RegionDouble, *options: str) -> Any:
    region.replies["CreateLink"] = [pb.LinkReply(link=pb.LinkDescription(link_name="we"))]
    ran = region.run("link", "create", "we", *SERVERS, *options)
    assert ran.exit_code == 0, ran.output
    return region.asked[-1][1]


def test_filters_are_given_as_options_or_files(region: RegionDouble, tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    file.write_text('{"groupFilters":[]}\n')
    request = created(
        region, "--topic-filters-json", TOPICS, "--consumer-group-filters-json-file", str(file),
        "--acl-filters-json", "{}", "--config", "consumer.offset.sync.enable=true",
    )  # fmt: skip
    assert dict(request.configs) == {
        "bootstrap.servers": "h:1",
        "consumer.offset.sync.enable": "true",
        "auto.create.mirror.topics.filters": TOPICS,
        "consumer.offset.group.filters": '{"groupFilters":[]}',
        "acl.filters": "{}",
    }
    twice = ("--acl-filters-json", "{}", "--acl-filters-json-file", str(file))
    assert region.run("link", "create", "we", *SERVERS, *twice).exit_code == 2


@pytest.mark.parametrize("option", ["--no-validate", "--exclude-validate-link"])
def test_a_link_is_created_without_asking_its_source(region: RegionDouble, option: str) -> None:
    assert created(region, option).skip_validation


def test_configurations_are_listed_and_updated(region: RegionDouble) -> None:
    found = pb.ConfigsReply(configs=[pb.Config(name="a", value="b")])
    region.replies["DescribeLinkConfigs"] = region.replies["AlterLinkConfigs"] = [found]
    ran = region.run("link", "configuration", "list", "we", "--json")
    assert json.loads(ran.stdout)["configs"][0]["name"] == "a"
    region.run("link", "configuration", "update", "we", "--config", "a=c")
    assert [method for method, _ in region.asked] == ["DescribeLinkConfigs", "AlterLinkConfigs"]
    assert dict(region.asked[1][1].set) == {"a": "c"}


def test_tasks_are_listed(region: RegionDouble) -> None:
    task = pb.Task(name="ConsumerOffsetSync", state="ACTIVE", error="NO_ERROR")
    reply = pb.LinkReply(link=pb.LinkDescription(link_name="we", tasks=[task]))
    region.replies["DescribeLink"] = [reply]
    assert "ConsumerOffsetSync" in region.run("link", "task", "list", "we").output
    (told,) = json.loads(region.run("link", "task", "list", "we", "--json").stdout)["tasks"]
    assert (told["name"], told["state"]) == ("ConsumerOffsetSync", "ACTIVE")


def test_errors_of_transitions_are_listed(region: RegionDouble) -> None:
    error = pb.TransitionError(at_ms=1, code="TIMEOUT_ERROR", message="promote gave up")
    mirror = pb.MirrorDescription(mirror_topic="orders", state_transition_errors=[error])
    region.replies["DescribeMirror"] = [pb.MirrorReply(mirror=mirror)]
    command = ("mirror", "state-transition-error", "list", "orders", "--link", "we")
    assert "TIMEOUT_ERROR: promote gave up" in region.run(*command).output
    (told,) = json.loads(region.run(*command, "--json").stdout)["state_transition_errors"]
    assert told["code"] == "TIMEOUT_ERROR"


def test_mirrors_that_are_being_stopped_are_listed(region: RegionDouble) -> None:
    region.replies["ListMirrors"] = [pb.MirrorsReply()]
    for option in (("--pending-stopped-only",), ("--mirror-status", "pending_stopped"), ()):
        region.run("mirror", "list", *option)
    assert [request.mirror_status for _, request in region.asked] == ["pending_stopped"] * 2 + [""]
