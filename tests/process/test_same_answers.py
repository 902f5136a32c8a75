"""The command line, gRPC and REST v3 are asked the same questions about one region, and give the same answers."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from federation.cli import main
from federation.commands.link.messages import as_dict
from linker.shell.administrator import Administrator, find_endpoint
from linker.wire.v1 import admin_pb2 as pb
from tests.process.ledger import create_topic
from tests.process.rest_counterparts import check, without_counterpart
from tests.process.scrapes import get
from tests.process.test_rest import LINK, PARTITIONS, TOPIC, Rest, held, linked, produce

# What time changes between two questions, and what says when it was asked.
OF_THE_MOMENT = {"lag_ms", "origin_lag_ms", "time_since_last_fetch_ms", "at_ms"}
MIRRORS = f"/links/{LINK}/mirrors"


class Region:
    """Asked in three ways."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest
        self._address = rest.node.address
        self._endpoint = find_endpoint(self._address)

    def at_command_line(self, *arguments: str) -> Any:
        command = [*arguments, "--json", "--bootstrap-server", self._address]
        return json.loads(CliRunner().invoke(main, command).stdout)

    def over_grpc(self, method: str, request: Any) -> Any:
        with Administrator(self._endpoint) as administrator:
            return administrator.ask(method, request, 60)


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Region]:
    """With a mirror topic that has everything and is paused."""
    directory = tmp_path_factory.mktemp("regions")
    west, east = Rest(directory / "west"), Rest(directory / "east")
    linked(west, east)
    east.wait(lambda: held(east) == dict.fromkeys(range(PARTITIONS), 0))
    east.post(f"{MIRRORS}:pause", {"mirror_topic_names": [TOPIC]})
    east.wait(lambda: east.status() == "PAUSED")
    yield Region(east)
    for one in (west, east):
        one.stop()


def lasting(value: Any) -> Any:
    """Without what is of the moment."""
    if isinstance(value, dict):
        return {key: lasting(one) for key, one in value.items() if key not in OF_THE_MOMENT}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def rows(value: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(one[name] for name in names) for one in value]


def test_each_field_of_a_description_is_in_rest() -> None:
    """Of lags it had records alone, and of a source that is down nothing."""
    assert without_counterpart() == []


def check_link(region: Region) -> Any:
    link = region.over_grpc("DescribeLink", pb.LinkRequest(link_name=LINK)).link
    check(link, region.rest.get(f"/links/{LINK}", include_tasks=True))
    return link


def check_mirror(region: Region) -> Any:
    request = pb.DescribeMirrorRequest(mirror_topic=TOPIC)
    mirror = region.over_grpc("DescribeMirror", request).mirror
    check(mirror, region.rest.get(f"{MIRRORS}/{TOPIC}", include_state_transition_errors=True))
    (listed,) = region.over_grpc("ListMirrors", pb.ListMirrorsRequest(link_name=LINK)).mirrors
    (found,) = region.rest.get(MIRRORS)["data"]
    check(listed, found | {"mirror_state_transition_errors": []})
    return mirror


def check_each(told: Any, found: Any) -> list[Any]:
    """Of a list, which is not empty."""
    assert len(told) == len(found["data"]) > 0
    for one, other in zip(told, found["data"], strict=True):
        check(one, other)
    return list(told)


def test_links(region: Region) -> None:
    check_link(region)
    told = region.at_command_line("link", "describe", LINK)
    reply = region.over_grpc("DescribeLink", pb.LinkRequest(link_name=LINK))
    assert lasting(told) == lasting(as_dict(reply.link))
    assert (told["lag"], told["lag_bytes"]) == (0, 0)
    link = region.rest.get(f"/links/{LINK}", include_tasks=True)
    for name in (
        "link_name",
        "link_id",
        "source_cluster_id",
        "link_state",
        "link_error",
        "topic_names",
    ):
        assert link[name] == told[name], name
    counts = {one["state_category"]: one["count"] for one in link["category_counts"]}
    assert counts == told["category_counts"]
    assert rows(link["tasks"], "task_name", "state") == rows(told["tasks"], "name", "state")
    names = [one["link_name"] for one in region.at_command_line("link", "list")["links"]]
    listed = region.over_grpc("ListLinks", pb.ListLinksRequest()).links
    assert names == [one.link_name for one in listed] == [LINK]
    assert [lasting(as_dict(one)) for one in listed] == [lasting(told)], "with its lag"
    lag = ("lag", "lag_bytes", "lag_is_lower_bound")
    assert rows(region.rest.get("/links")["data"], *lag) == rows([told], *lag) == [(0, 0, False)]
    assert [one["link_name"] for one in region.rest.get("/links")["data"]] == names


def test_settings(region: Region) -> None:
    told = region.at_command_line("link", "configs", LINK)["configs"]
    reply = region.over_grpc("DescribeLinkConfigs", pb.LinkRequest(link_name=LINK))
    assert told == [as_dict(one) for one in reply.configs]
    found = region.rest.get(f"/links/{LINK}/configs")["data"]
    names = ("name", "value", "is_default")
    assert sorted(rows(found, *names)) == sorted(rows(told, *names))


def test_mirrors(region: Region) -> None:
    check_mirror(region)
    told = region.at_command_line("mirror", "describe", TOPIC)
    request = pb.DescribeMirrorRequest(mirror_topic=TOPIC)
    assert lasting(told) == lasting(as_dict(region.over_grpc("DescribeMirror", request).mirror))
    mirror = region.rest.get(f"{MIRRORS}/{TOPIC}")
    names = ("link_name", "num_partitions", "mirror_status", "mirror_topic_error", "state_time_ms")
    assert rows([mirror], *names, "mirror_topic_name", "source_topic_name") == rows(
        [told], *names, "mirror_topic", "source_topic"
    )
    lag = ("partition", "lag", "last_source_fetch_offset", "lag_is_lower_bound")
    assert rows(mirror["mirror_lags"], *lag) == rows(told["mirror_lags"], *lag)
    assert rows(told["mirror_lags"], *lag) == [(index, 0, 10, False) for index in range(PARTITIONS)]
    for status, count in (("PAUSED", 1), ("ACTIVE", 0)):
        at_command_line = region.at_command_line("mirror", "list", "--mirror-status", status)
        request = pb.ListMirrorsRequest(mirror_status=status)
        assert len(at_command_line["mirrors"]) == count
        assert len(region.over_grpc("ListMirrors", request).mirrors) == count
        assert len(region.rest.get("/links/-/mirrors", mirror_status=status)["data"]) == count


Asked = tuple[tuple[str, ...], str, Any, Callable[[Rest], Any]]
REFUSED: dict[str, Asked] = {
    "CLUSTER_LINK_NOT_FOUND": (
        ("link", "describe", "none"),
        "DescribeLink",
        pb.LinkRequest(link_name="none"),
        lambda rest: rest.client.get("/links/none"),
    ),
    "CLUSTER_LINK_EXISTS": (
        ("link", "create", LINK, "--source-bootstrap-server", "127.0.0.1:9"),
        "CreateLink",
        pb.CreateLinkRequest(link_name=LINK, configs={"bootstrap.servers": "127.0.0.1:9"}),
        lambda rest: rest.client.post(
            "/links",
            json={"configs": [{"name": "bootstrap.servers", "value": "127.0.0.1:9"}]},
            params={"link_name": LINK},
        ),
    ),
    "CLUSTER_LINK_IN_USE": (
        ("link", "delete", LINK),
        "DeleteLink",
        pb.DeleteLinkRequest(link_name=LINK),
        lambda rest: rest.client.delete(f"/links/{LINK}"),
    ),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        ("mirror", "create", "none", "--link", LINK),
        "CreateMirror",
        pb.CreateMirrorRequest(link_name=LINK, mirror_topic="none", source_topic="none"),
        lambda rest: rest.client.post(MIRRORS, json={"source_topic_name": "none"}),
    ),
    "TOPIC_ALREADY_EXISTS": (
        ("mirror", "create", TOPIC, "--link", LINK),
        "CreateMirror",
        pb.CreateMirrorRequest(link_name=LINK, mirror_topic=TOPIC),
        lambda rest: rest.client.post(MIRRORS, json={"source_topic_name": TOPIC}),
    ),
    "POLICY_VIOLATION": (
        ("mirror", "create", "__consumer_offsets", "--link", LINK),
        "CreateMirror",
        pb.CreateMirrorRequest(link_name=LINK, mirror_topic="__consumer_offsets"),
        lambda rest: rest.client.post(MIRRORS, json={"source_topic_name": "__consumer_offsets"}),
    ),
    "INVALID_CONFIG": (
        ("link", "configs", LINK, "--config", "consumer.offset.sync.ms=1"),
        "AlterLinkConfigs",
        pb.AlterLinkConfigsRequest(link_name=LINK, set={"consumer.offset.sync.ms": "1"}),
        lambda rest: rest.client.put(
            f"/links/{LINK}/configs:alter",
            json={"data": [{"name": "consumer.offset.sync.ms", "value": "1"}]},
        ),
    ),
}


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(region: Region, code: str) -> None:
    arguments, method, request, ask_rest = REFUSED[code]
    error = region.over_grpc(method, request).error
    assert error.code == code
    assert error.message and error.hint
    told = region.at_command_line(*arguments)
    assert told["hint"] == error.hint
    assert told["error"].startswith(f"{error.message} ({code})")
    found = ask_rest(region.rest).json()
    assert (found["error"], found["message"], found["hint"]) == (code, error.message, error.hint)
    assert found["problems"] == list(error.problems)
    assert all(one in told["error"] for one in error.problems)


def test_topics_that_are_refused_one_by_one(region: Region) -> None:
    """A paused mirror is not promoted; a dry run changes nothing either way."""
    told = region.at_command_line("mirror", "promote", TOPIC, "--link", LINK)["topics"]
    request = pb.PromoteMirrorsRequest(link_name=LINK, mirror_topics=[TOPIC])
    (result,) = region.over_grpc("PromoteMirrors", request).topics
    assert told == [as_dict(result)]
    body = {"mirror_topic_names": [TOPIC]}
    (one,) = region.rest.post(f"{MIRRORS}:promote", body)["data"]
    check(result, one)
    error = result.error
    assert one["error_message"].startswith(f"{error.code}: {error.message}")
    dry = region.at_command_line("mirror", "failover", TOPIC, "--link", LINK, "--dry-run")
    (result,) = region.over_grpc(
        "FailoverMirrors",
        pb.MirrorsRequest(link_name=LINK, mirror_topics=[TOPIC], validate_only=True),
    ).topics
    (one,) = region.rest.post(f"{MIRRORS}:failover", body, validate_only=True)["data"]
    assert dry["topics"] == [as_dict(result)]
    assert not result.HasField("error") and one["error_code"] is None
    assert region.rest.status() == "PAUSED"


@pytest.fixture
def severed(tmp_path: Path) -> Iterator[tuple[Rest, Rest]]:
    """East mirrors west's topic from its end on; then both were stopped, and west alone was started again."""
    west = Rest(tmp_path / "west", link_source_startup_wait_ms=600_000)
    east = Rest(tmp_path / "east", metrics_listener="127.0.0.1:0")
    create_topic(west.node.address, TOPIC, PARTITIONS)
    produce(west, 10)
    configs = {
        "bootstrap.servers": west.node.address,
        "mirror.start.offset.spec": "latest",
        # The link is not UNAVAILABLE yet, however long the answers take to be compared.
        "availability.check.consecutive.failure.threshold": "1000",
    }
    body = {"configs": [{"name": name, "value": value} for name, value in configs.items()]}
    east.post("/links", body, 201, link_name=LINK)
    east.post(MIRRORS, {"source_topic_name": TOPIC}, 201)
    east.wait(lambda: held(east) == dict.fromkeys(range(PARTITIONS), 0))
    west.wait(lambda: west.get("/links/-/destinations")["data"] != [])
    east.stop()
    west.stop()
    west.start()
    yield west, east
    for one in (west, east):
        if one.node.is_running():
            one.stop()


def test_a_source_that_has_started_and_a_destination_that_does_not_reach_it(
    severed: tuple[Rest, Rest],
) -> None:
    west, rest = severed
    told = Region(west).over_grpc("ListDestinations", pb.ListDestinationsRequest()).destinations
    (destination,) = check_each(told, west.get("/links/-/destinations", link_name=LINK))
    assert destination.writes_wait_ms > 0
    west.stop()
    rest.start()
    east = Region(rest)
    rest.wait(lambda: bool(rest.get(f"{MIRRORS}/{TOPIC}")["reason"]))
    mirror, link = check_mirror(east), check_link(east)
    assert (mirror.mirror_status, mirror.lag, link.lag) == ("ACTIVE", -1, -1)
    assert link.link_error == "BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR" and link.hint
    partition, *_ = mirror.mirror_lags
    assert partition.partition_state.startswith("SOURCE_UNAVAILABLE") and partition.lag_ms >= 0
    assert lasting(east.at_command_line("mirror", "describe", TOPIC)) == lasting(as_dict(mirror))
    assert "clusterlinkfetchermanager_maxlag{" not in get(rest.node.told["metrics"], "/metrics")[1]
    check_records(east)


def check_records(east: Region) -> None:
    """After a failover: its decision and cut, and what was skipped."""
    body = {"mirror_topic_names": [TOPIC], "reason": "west is gone"}
    (one,) = east.rest.post(f"{MIRRORS}:failover", body)["data"]
    assert one["error_code"] is None
    mirror = check_mirror(east)
    assert len(mirror.cut.partitions) == len(mirror.holes) == PARTITIONS
    decisions = east.over_grpc("ListDecisions", pb.ListDecisionsRequest(topic=TOPIC)).decisions
    named = {"mirror_topic_name": TOPIC}
    (decision,) = check_each(decisions, east.rest.get("/links/-/decisions", **named))
    assert decision.reason == "west is gone"
    holes = east.over_grpc("ListHoles", pb.ListHolesRequest(mirror_topic=TOPIC)).holes
    assert len(check_each(holes, east.rest.get("/links/-/holes", **named))) == PARTITIONS
